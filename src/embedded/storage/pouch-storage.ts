import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { openPouchStore, type Settings } from './pouch-store.js';
import type { Storage } from './storage.js';

const SETTINGS = 'settings.json';
const TRASH = '.removed-';

/**
 * Keeps each database in a directory of its own below `directory`: `data` (LevelDB), `indexes`
 * and `settings.json`, which is written last and makes the database exist.
 */
export async function openPouchStorage(directory: string): Promise<Storage> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await removeLeftovers(directory);
  let removed = 0;

  return {
    names: async () =>
      (await readdir(directory))
        .filter((entry) => existsSync(join(directory, entry, SETTINGS)))
        .map(nameOf)
        .sort(),
    exists: (name) => Promise.resolve(existsSync(join(directory, entryOf(name), SETTINGS))),
    async open(name, { create }) {
      const home = join(directory, entryOf(name));
      if (create) {
        await mkdir(home, { recursive: true });
        await syncDirectory(directory);
      }
      return openPouchStore({
        home,
        settings: await openSettings(join(home, SETTINGS), create),
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

async function openSettings(file: string, create: boolean): Promise<Settings> {
  const values: Record<string, unknown> = existsSync(file)
    ? (JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>)
    : {};
  let saving: Promise<void> = Promise.resolve();
  const store = (): Promise<void> =>
    (saving = saving.catch(() => undefined).then(() => replaceFile(file, JSON.stringify(values))));
  if (create && !existsSync(file)) await store();
  return {
    get: (name) => values[name],
    save: (name, value) => {
      values[name] = value;
      return store();
    },
  };
}

/** Replaces a file as one step: after a crash it is the old one or the new one. Mode 0600. */
export async function replaceFile(file: string, content: string): Promise<void> {
  const next = `${file}.new`;
  const handle = await open(next, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, file);
  await syncDirectory(dirname(file));
}

/** Makes names that were added to a directory outlive a loss of power; Windows has no such call. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What a crash left of databases half made or half removed. */
async function removeLeftovers(directory: string): Promise<void> {
  for (const entry of await readdir(directory)) {
    if (entry.startsWith(TRASH) || !existsSync(join(directory, entry, SETTINGS))) {
      await rm(join(directory, entry), { recursive: true, force: true });
    }
  }
}

const entryOf = (name: string): string => encodeURIComponent(name);
const nameOf = (entry: string): string => decodeURIComponent(entry);
