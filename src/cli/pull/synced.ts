import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { connectionOf, makeDatabaseId, readDatabaseIds, type Client } from '../../client.js';
import type { Config } from '../../config/load.js';
import { TwsError } from '../../errors.js';
import type { Written } from '../../validate/written.js';
import { withoutClearSecrets } from './file-content.js';

/** In the folder of the project; it belongs to this copy of the project and is not for version control. */
export const syncedFile = '.tws-synced.json';

const entrySchema = z.object({ file: z.string(), content: z.record(z.string(), z.unknown()) });
const recordSchema = z.record(z.string(), z.record(z.string(), entrySchema));

/** By the ids of databases, then by those of documents. */
type Databases = z.infer<typeof recordSchema>;

/** A definition as file and database had it when they last agreed; secrets in clear are left out. */
export type SyncedEntry = { readonly file: string; readonly content: Written };

/** By the ids of documents. */
export type Synced = ReadonlyMap<string, SyncedEntry>;

/** What the files of this project and one database last had in common. */
export type SyncedBook = {
  /** Empty when nobody knows any more. */
  readonly agreed: Synced;
  /** Stores what changed of it; `undefined` drops an entry. */
  readonly note: (changed: ReadonlyMap<string, SyncedEntry | undefined>) => Promise<void>;
};

type Place = Pick<Config, 'root' | 'url' | 'database'>;

/**
 * So many databases are remembered, those that were used last: each that is made anew, as for an experiment, is
 * another one.
 */
const mostDatabases = 20;

/**
 * Opens what is known of the database. Its entries are kept under its id, whatever its address is; those of the database
 * that was moved there, and those that earlier versions kept under the address, are taken over.
 */
export async function openSynced(config: Config, client: Client): Promise<SyncedBook> {
  const connection = connectionOf(config);
  const record = await readRecord(config.root);
  const ids = await readDatabaseIds(connection);
  const from =
    ids.find((id) => record[id] !== undefined) ??
    ((await isSameAsBefore(record, config, client)) ? addressOf(config) : undefined);
  const agreed = new Map(Object.entries(from === undefined ? {} : (record[from] ?? {})));
  const all = new Map<string, SyncedEntry>(agreed);
  let key: string | undefined;
  return {
    agreed,
    note: async (changed) => {
      key ??= await keyOf(config);
      for (const [id, entry] of changed) {
        if (entry === undefined) all.delete(id);
        else all.set(id, { ...entry, content: withoutClearSecrets(entry.content) });
      }
      await writeRecord(config, key, all);
    },
  };
}

/** A database that has none of the documents is another one, at the address of one that is gone. */
async function isSameAsBefore(record: Databases, place: Place, client: Client): Promise<boolean> {
  for (const id of Object.keys(record[addressOf(place)] ?? {})) {
    if ((await client.get(id)) !== undefined) return true;
  }
  return false;
}

/** The id of the database; its address where we may not give it one. */
async function keyOf(config: Config): Promise<string> {
  try {
    return await makeDatabaseId(connectionOf(config));
  } catch (error) {
    if (error instanceof TwsError && error.code === 'couch_forbidden') return addressOf(config);
    throw error;
  }
}

async function writeRecord(
  place: Place,
  key: string,
  entries: ReadonlyMap<string, SyncedEntry>,
): Promise<void> {
  const { [key]: before, ...record } = await readRecord(place.root);
  const after = Object.fromEntries([...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  if (JSON.stringify(after) === JSON.stringify(before)) return;
  const others = Object.entries(record).filter(([other]) => other !== addressOf(place));
  const kept = Object.fromEntries([...others.slice(1 - mostDatabases), [key, after]]);
  const path = join(place.root, syncedFile);
  const made = `${path}.${process.pid}`;
  await writeFile(made, `${JSON.stringify(kept, null, 1)}\n`);
  await rename(made, path);
}

async function readRecord(root: string): Promise<Databases> {
  try {
    const text = await readFile(join(root, syncedFile), 'utf8');
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

function addressOf({ url, database }: Place): string {
  return `${url}/${database}`;
}
