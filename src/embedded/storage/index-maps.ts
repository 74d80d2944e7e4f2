import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { openOrderedMap } from './level.js';
import type { Session } from './session.js';
import type { OrderedMap, DocumentStore } from './storage.js';

type IndexMaps = Pick<DocumentStore, 'index' | 'indexes' | 'removeIndex'> & {
  readonly reopenIndexes: () => Promise<void>;
  readonly closeIndexes: () => Promise<void>;
};

/** The ordered maps beside the documents of a database, each in a directory of its own. */
export function indexMaps({ use }: Session, home: string): IndexMaps {
  const open = new Map<string, Promise<OrderedMap>>();
  const locationOf = (name: string): string => join(home, encodeURIComponent(name));
  return {
    index: (name) =>
      use(async () => {
        const known = open.get(name);
        if (known !== undefined) return known;
        const opening = openOrderedMap(locationOf(name));
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
