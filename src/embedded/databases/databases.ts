import type { FunctionPool } from '../functions/pool.js';
import { CouchError, refuse } from '../http/couch-error.js';
import type { Storage } from '../storage/storage.js';
import { databaseOf, type Database } from './database.js';
import { createKeyedQueue } from '../../keyed-queue.js';

/** Names become directories, percent-encoded: file systems end at 255 bytes. */
const MAX_NAME_BYTES = 238;
const SYSTEM = new Set(['_users', '_replicator', '_global_changes']);

/** Something that happened to a database, for `_db_updates`. */
export type DatabaseEvent = 'created' | 'updated' | 'deleted';

/** All databases of the server; each is opened at its first use and stays open. */
export type Databases = {
  names(): Promise<string[]>;
  /** @throws CouchError 404 */
  get(name: string): Promise<Database>;
  find(name: string): Promise<Database | undefined>;
  /** @throws CouchError 400 (name), 412 (exists) */
  create(name: string): Promise<Database>;
  /** @throws CouchError 404 */
  remove(name: string): Promise<void>;
  /** Opens the files of all again, after a full disk. */
  reopen(): Promise<void>;
  close(): Promise<void>;
};

type Options = {
  readonly storage: Storage;
  readonly pool: FunctionPool;
  readonly happened: (name: string, event: DatabaseEvent) => void;
};

export function createDatabases({ storage, pool, happened }: Options): Databases {
  const open = new Map<string, Promise<Database>>();
  const queue = createKeyedQueue();

  const openOne = async (name: string, create: boolean): Promise<Database> => {
    const store = await storage.open(name, { create });
    return databaseOf({ name, store, pool, updated: () => happened(name, 'updated') });
  };
  const keep = (name: string, create: boolean): Promise<Database> => {
    const opening = openOne(name, create);
    open.set(name, opening);
    opening.catch(() => open.delete(name));
    return opening;
  };
  const find = async (name: string): Promise<Database | undefined> => {
    await queue.idle(name);
    const known = open.get(name);
    if (known !== undefined) return known;
    if (!isLegalName(name) || !(await storage.exists(name))) return undefined;
    return open.get(name) ?? keep(name, false);
  };

  return {
    names: () => storage.names(),
    find,
    async get(name) {
      const database = await find(name);
      if (database === undefined) throw refuse.noDatabase();
      return database;
    },
    create: (name) => {
      checkName(name);
      return queue.take(name, async () => {
        if (await storage.exists(name)) throw alreadyThere();
        const database = await keep(name, true);
        happened(name, 'created');
        return database;
      });
    },
    remove: async (name) => {
      const database = await find(name);
      if (database === undefined) throw refuse.noDatabase();
      return queue.take(name, async () => {
        if (open.get(name) === undefined) throw refuse.noDatabase();
        open.delete(name);
        await database.destroy();
        happened(name, 'deleted');
      });
    },
    async reopen() {
      for (const opened of await Promise.allSettled(open.values())) {
        if (opened.status === 'fulfilled') await opened.value.store.reopen();
      }
    },
    async close() {
      await queue.allIdle();
      for (const opened of await Promise.allSettled(open.values())) {
        if (opened.status === 'fulfilled') await opened.value.close();
      }
    },
  };
}

const alreadyThere = (): CouchError =>
  new CouchError(412, 'file_exists', 'The database could not be created, the file already exists.');

const isLegalName = (name: string): boolean =>
  (SYSTEM.has(name) || /^[a-z][a-z0-9_$()+/-]*$/.test(name)) &&
  encodeURIComponent(name).length <= MAX_NAME_BYTES;

/** @throws CouchError 400 */
export function checkName(name: string): void {
  if (isLegalName(name)) return;
  if (name.length > MAX_NAME_BYTES) {
    throw new CouchError(
      400,
      'database_name_too_long',
      `Name: '${name.slice(0, 64)}…' is over the limit of ${MAX_NAME_BYTES} bytes.`,
    );
  }
  throw new CouchError(
    400,
    'illegal_database_name',
    `Name: '${name}'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), +, -, and / are allowed. Must begin with a letter.`,
  );
}
