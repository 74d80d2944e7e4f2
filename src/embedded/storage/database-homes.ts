import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { replaceFile } from './replace-file.js';
import type { DocumentStore } from './storage.js';
import type { Settings, StoreHome } from './store-home.js';
import type { StorageKind } from '../../storage-kinds.js';

/** Makes a directory that of a database. */
export const SETTINGS = 'settings.json';
/** Where the indexes of a database are in its directory. */
export const INDEXES = 'indexes';
/** The setting that says what a database is kept in; the first versions knew LevelDB only. */
export const KIND = 'storage';

export const directoryOf = (name: string): string => encodeURIComponent(name);
export const nameOfDirectory = (entry: string): string => decodeURIComponent(entry);

/** What the documents of a database are in, below its directory. */
export function filesOf(kind: StorageKind): readonly string[] {
  if (kind === 'leveldb') return ['data'];
  return ['documents.sqlite', 'documents.sqlite-wal', 'documents.sqlite-shm'];
}

export const storageKindOf = (settings: Settings): StorageKind =>
  settings.get(KIND) === 'sqlite' ? 'sqlite' : 'leveldb';

/** Opens the documents of a database. Either kind is loaded at its first use: few servers need both. */
export async function openHomeStore(kind: StorageKind, home: StoreHome): Promise<DocumentStore> {
  if (kind === 'sqlite') return (await import('./sqlite/sqlite-store.js')).openSqliteStore(home);
  return (await import('./pouch-store.js')).openPouchStore(home);
}

/** A database that is not going to be removed. */
export const openHome = async (home: string): Promise<StoreHome> => ({
  home,
  settings: await openHomeSettings(home),
  remove: () => Promise.reject(new Error('it stays')),
});

/** Reads the settings of a database; with a kind they are made, and the database with them. */
export async function openHomeSettings(home: string, create?: StorageKind): Promise<Settings> {
  const file = join(home, SETTINGS);
  const values: Record<string, unknown> = existsSync(file)
    ? (JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>)
    : {};
  let saving: Promise<void> = Promise.resolve();
  const store = (): Promise<void> =>
    (saving = saving.catch(() => undefined).then(() => replaceFile(file, JSON.stringify(values))));
  if (create !== undefined && !existsSync(file)) {
    if (create === 'sqlite') values[KIND] = create;
    await store();
  }
  return {
    get: (name) => values[name],
    save: (name, value) => {
      values[name] = value;
      return store();
    },
  };
}
