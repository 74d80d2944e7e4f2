import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { problem } from '../../errors.js';
import {
  directoryOf,
  filesOf,
  storageKindOf,
  nameOfDirectory,
  openHomeSettings,
  openHomeStore,
  SETTINGS,
} from './database-homes.js';
import { syncDirectory } from './replace-file.js';
import { hasSqlite } from './sqlite/node-sqlite.js';
import type { Storage } from './storage.js';
import { storageKinds, type StorageKind } from '../../storage-kinds.js';

const TRASH = '.removed-';

/**
 * Keeps each database in a directory of its own below `directory`: its documents, `indexes` and
 * `settings.json`, which is written last and makes the database exist. Databases of both kinds may be
 * there. A new one is of the kind given; otherwise of the kind that all are of; in an empty directory
 * it is LevelDB, which every Node can read.
 * @throws TwsError `sqlite_missing` when this Node cannot read a database or make one
 */
export async function openDatabasesFolder(
  directory: string,
  given?: StorageKind,
): Promise<Storage> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await removeLeftovers(directory);
  const kinds = await kindsIn(directory);
  const kindOfNew = given ?? usualKind(kinds);
  if (!hasSqlite() && [kindOfNew, ...kinds].includes('sqlite')) {
    throw problem('sqlite_missing', { dir: directory, version: process.version });
  }
  let removed = 0;

  return {
    names: () => databaseNames(directory),
    exists: (name) => Promise.resolve(existsSync(join(directory, directoryOf(name), SETTINGS))),
    async open(name, { create }) {
      const home = join(directory, directoryOf(name));
      if (create) {
        await mkdir(home, { recursive: true });
        await syncDirectory(directory);
      }
      const settings = await openHomeSettings(home, create ? kindOfNew : undefined);
      return openHomeStore(storageKindOf(settings), {
        home,
        settings,
        remove: async () => {
          removed += 1;
          const trash = join(directory, `${TRASH}${process.pid}-${removed}`);
          await rename(home, trash);
          await rm(trash, { recursive: true, force: true });
        },
      });
    },
  };
}

function usualKind(kinds: readonly StorageKind[]): StorageKind {
  return kinds.length > 0 && kinds.every((kind) => kind === 'sqlite') ? 'sqlite' : 'leveldb';
}

async function kindsIn(directory: string): Promise<StorageKind[]> {
  const names = await databaseNames(directory);
  return Promise.all(
    names.map(async (name) =>
      storageKindOf(await openHomeSettings(join(directory, directoryOf(name)))),
    ),
  );
}

/** The names of the databases below a directory, sorted. */
export const databaseNames = async (directory: string): Promise<string[]> =>
  (await readdir(directory))
    .filter((entry) => existsSync(join(directory, entry, SETTINGS)))
    .map(nameOfDirectory)
    .sort();

/** What a crash left of databases half made, half removed or half converted. */
async function removeLeftovers(directory: string): Promise<void> {
  for (const entry of await readdir(directory)) {
    const home = join(directory, entry);
    if (entry.startsWith(TRASH) || !existsSync(join(home, SETTINGS))) {
      await rm(home, { recursive: true, force: true });
      continue;
    }
    const kind = storageKindOf(await openHomeSettings(home));
    for (const file of storageKinds.filter((other) => other !== kind).flatMap(filesOf)) {
      await rm(join(home, file), { recursive: true, force: true });
    }
  }
}
