import { readFile, rename, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../config/load.js';
import type { GoodFile } from '../check-files.js';
import { fileContent } from '../files.js';
import type { Io } from '../io.js';
import { isInFolder, ownFolder } from '../paths.js';
import type { PushStep } from '../push-plan.js';
import type { Written } from '../../validate/written.js';
import { withoutClearSecrets } from './file-content.js';

/** In the folder of the project; it belongs to this copy of the project and is not for version control. */
export const syncedFile = '.tws-synced.json';

const entrySchema = z.object({ file: z.string(), content: z.record(z.string(), z.unknown()) });
const recordSchema = z.record(z.string(), z.record(z.string(), entrySchema));

/** A definition as file and database had it when they last agreed; secrets in clear are left out. */
export type SyncedEntry = { readonly file: string; readonly content: Written };

/** By the ids of documents. */
export type Synced = ReadonlyMap<string, SyncedEntry>;

type Place = Pick<Config, 'root' | 'url' | 'database'>;

/** What the files of this project and the database last had in common; empty when nobody knows any more. */
export async function readSynced(place: Place): Promise<Synced> {
  return new Map(Object.entries((await readRecord(place.root))[keyOf(place)] ?? {}));
}

/** Stores what changed of it; `undefined` drops an entry. */
export async function writeSynced(
  place: Place,
  changed: ReadonlyMap<string, SyncedEntry | undefined>,
): Promise<void> {
  const record = await readRecord(place.root);
  const before = record[keyOf(place)] ?? {};
  const entries = [...Object.entries(before).filter(([id]) => !changed.has(id)), ...changed];
  const after = Object.fromEntries(
    entries
      .flatMap(([id, entry]) =>
        entry === undefined
          ? []
          : [[id, { ...entry, content: withoutClearSecrets(entry.content) }] as const],
      )
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  if (JSON.stringify(after) === JSON.stringify(before)) return;
  const path = join(place.root, syncedFile);
  const made = `${path}.${process.pid}`;
  await writeFile(made, `${JSON.stringify({ ...record, [keyOf(place)]: after }, null, 1)}\n`);
  await rename(made, path);
}

/** Remembers what a push has stored, or found stored, from the folder of the project. */
export async function noteSynced(
  config: Config,
  steps: readonly PushStep[],
  io: Io,
): Promise<void> {
  const own = ownFolder(config.root);
  const entries = steps.flatMap((step) => {
    const { file, doc }: GoodFile = step.file;
    const id = step.kind === 'skip' ? step.id : step.doc._id;
    if (id === undefined || doc['type'] === 'job' || !isInFolder(own, file.path)) return [];
    const shown = relative(config.root, file.path);
    return [[id, { file: shown, content: fileContent(doc) }] as const];
  });
  if (entries.length === 0) return;
  try {
    await writeSynced(config, new Map(entries));
  } catch (error) {
    io.warn(
      `${syncedFile} cannot be written, so \`tws pull\` will not know of this push: ${String(error)}`,
    );
  }
}

async function readRecord(root: string): Promise<z.infer<typeof recordSchema>> {
  try {
    const text = await readFile(join(root, syncedFile), 'utf8');
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

function keyOf({ url, database }: Place): string {
  return `${url}/${database}`;
}
