import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { connectionOf, makeDatabaseId, readDatabaseIds, type Client } from '../../client.js';
import type { Config } from '../../config/load.js';
import { TwsError } from '../../errors.js';
import { realDisk, writeWhole, type FileDisk } from '../disk.js';
import type { Written } from '../../validate/written.js';
import { withoutClearSecrets } from './file-content.js';

/** In the folder of the project; it belongs to this copy of the project and is not for version control. */
export const syncedFile = '.tws-synced.json';

const agreedSchema = z.object({ file: z.string(), content: z.record(z.string(), z.unknown()) });
/** `pending`: as long as the file `until` is there, what is beside it is not agreed yet, but `before` is. */
const entrySchema = agreedSchema.extend({
  pending: z.object({ until: z.string(), before: agreedSchema.optional() }).optional(),
});
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
  readonly note: (changed: Changes) => Promise<void>;
  /**
   * The same for what is agreed when a file has been put in its place: `until` is where its text waits for that,
   * below the folder of the project. What the process does not live to see counts as it was before.
   */
  readonly noteUntil: (changed: Changes, until: ReadonlyMap<string, string>) => Promise<void>;
};

type Changes = ReadonlyMap<string, SyncedEntry | undefined>;

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
  return openBook(config.root, record, {
    from,
    keyOf: () => keyOf(config),
    isOld: (key) => key === addressOf(config),
  });
}

/** Where entries are found, and under which key they are stored; what is `isOld` is dropped then. */
type BookKeys = {
  readonly from: string | undefined;
  readonly keyOf: () => Promise<string>;
  readonly isOld: (key: string) => boolean;
};

/** Opens the entries of one database. */
export function openBook(
  root: string,
  record: Databases,
  keys: BookKeys,
  disk = realDisk,
): SyncedBook {
  const entries = Object.entries(keys.from === undefined ? {} : (record[keys.from] ?? {}));
  const agreed = new Map(
    entries.flatMap(([id, { pending, ...entry }]): [string, SyncedEntry][] => {
      const isAgreed = pending === undefined || !existsSync(join(root, pending.until));
      const known = isAgreed ? entry : pending.before;
      return known === undefined ? [] : [[id, known]];
    }),
  );
  const all = new Map(agreed);
  const noteUntil: SyncedBook['noteUntil'] = async (changed, until) => {
    const before = new Map(all);
    for (const [id, entry] of changed) {
      if (entry === undefined) all.delete(id);
      else all.set(id, { ...entry, content: withoutClearSecrets(entry.content) });
    }
    const noted = [...all].map(([id, entry]): [string, z.infer<typeof entrySchema>] => {
      const file = until.get(id);
      const pending = { until: file ?? '', before: before.get(id) };
      return [id, file === undefined ? entry : { ...entry, pending }];
    });
    await writeRecord(root, { key: await keys.keyOf(), isOld: keys.isOld, noted }, disk);
  };
  return { agreed, noteUntil, note: (changed) => noteUntil(changed, new Map()) };
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

type Noted = Pick<BookKeys, 'isOld'> & {
  readonly key: string;
  readonly noted: readonly (readonly [string, z.infer<typeof entrySchema>])[];
};

async function writeRecord(
  root: string,
  { key, isOld, noted }: Noted,
  disk: FileDisk,
): Promise<void> {
  const { [key]: before, ...record } = await readRecord(root);
  const after = Object.fromEntries([...noted].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  if (JSON.stringify(after) === JSON.stringify(before)) return;
  const others = Object.entries(record).filter(([other]) => !isOld(other));
  const kept = Object.fromEntries([...others.slice(1 - mostDatabases), [key, after]]);
  await writeWhole(join(root, syncedFile), `${JSON.stringify(kept, null, 1)}\n`, disk);
}

/** What is kept in the folder of a project. */
export async function readRecord(root: string): Promise<Databases> {
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
