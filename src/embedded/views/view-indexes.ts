import type { Design } from '../databases/design.js';
import type { DocumentStore } from '../storage/storage.js';
import { createViewIndex, type ViewIndex } from './view-index.js';

/** The view indexes of one database, one per design document signature. */
export type ViewIndexes = {
  of(design: Design): Promise<ViewIndex>;
  /** Removes the indexes that no design document names any more. */
  cleanup(designs: readonly Design[]): Promise<void>;
  close(): Promise<void>;
};

export function createViewIndexes(store: DocumentStore): ViewIndexes {
  const open = new Map<string, Promise<ViewIndex>>();
  let closed = false;

  return {
    of(design) {
      const known = open.get(design.signature);
      if (known !== undefined) return known;
      const opening = store.index(design.signature).then((map) => createViewIndex(store, map));
      open.set(design.signature, opening);
      opening.catch(() => open.delete(design.signature));
      return opening;
    },
    async cleanup(designs) {
      const used = new Set(designs.map((design) => design.signature));
      for (const name of await store.indexes()) {
        if (used.has(name) || closed) continue;
        const index = await open.get(name);
        open.delete(name);
        await index?.close();
        await store.removeIndex(name);
      }
    },
    async close() {
      closed = true;
      for (const opened of await Promise.allSettled(open.values())) {
        if (opened.status === 'fulfilled') await opened.value.close();
      }
    },
  };
}
