import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { OrderedMap, DocumentStore } from './storage.js';

type IndexMaps = Pick<DocumentStore, 'index' | 'indexes' | 'removeIndex'> & {
  readonly reopenIndexes: () => Promise<void>;
  readonly closeIndexes: () => Promise<void>;
};

type Maps = {
  /** Runs an operation while the database is open. */
  readonly use: <T>(operation: () => Promise<T>) => Promise<T>;
  readonly home: string;
  /** Opens or makes a map in a directory of its own. */
  readonly openMap: (location: string) => Promise<OrderedMap>;
};

/** The ordered maps beside the documents of a database, each in a directory of its own. */
export function indexMaps({ use, home, openMap }: Maps): IndexMaps {
  const open = new Map<string, Promise<OrderedMap>>();
  const locationOf = (name: string): string => join(home, encodeURIComponent(name));
  return {
    index: (name) =>
      use(async () => {
        const known = open.get(name);
        if (known !== undefined) return known;
        const opening = openMap(locationOf(name));
        open.set(name, opening);
        opening.catch(() => open.delete(name));
        return opening;
      }),
    indexes: async () => (await readdir(home).catch(() => [])).map(decodeURIComponent),
    removeIndex: (name) =>
      use(async () => {
        await (await open.get(name))?.close();
        open.delete(name);
        await rm(locationOf(name), { recursive: true, force: true });
      }),
    reopenIndexes: async () => {
      for (const map of await Promise.allSettled(open.values())) {
        if (map.status === 'fulfilled') await map.value.reopen();
      }
    },
    closeIndexes: async () => {
      for (const map of await Promise.allSettled(open.values())) {
        if (map.status === 'fulfilled') await map.value.close();
      }
    },
  };
}
