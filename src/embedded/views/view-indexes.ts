import type { Design } from '../databases/design.js';
import type { DocumentStore } from '../storage/storage.js';
import { createViewIndex, type ViewIndex } from './view-index.js';

/** The view indexes of one database, one per design document signature. */
export type ViewIndexes = {
  of(design: Design): Promise<ViewIndex>;
  /** Removes the indexes that no design document names any more. */
  cleanup(designs: readonly Design[]): Promise<void>;
  /**
   * Takes purged documents out of all indexes that there are; resolves with the number of the purge that all of
   * them have reached.
   */
  takeOutPurged(designs: readonly Design[]): Promise<number>;
  close(): Promise<void>;
};

export function createViewIndexes(store: DocumentStore): ViewIndexes {
  const open = new Map<string, Promise<ViewIndex>>();
  let closed = false;

  const of = (design: Design): Promise<ViewIndex> => {
    const known = open.get(design.signature);
    if (known !== undefined) return known;
    const opening = openIndex(store, design.signature);
    open.set(design.signature, opening);
    opening.catch(() => open.delete(design.signature));
    return opening;
  };

  return {
    of,
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
    async takeOutPurged(designs) {
      const bySignature = new Map(designs.map((design) => [design.signature, design]));
      const purges = await store.purgeSeq();
      for (const name of await store.indexes()) {
        const design = bySignature.get(name);
        // No design document has it now; one may have it again.
        if (design === undefined || closed) return 0;
        await (await of(design)).takeOutPurged(design);
      }
      return purges;
    },
    async close() {
      closed = true;
      for (const opened of await Promise.allSettled(open.values())) {
        if (opened.status === 'fulfilled') await opened.value.close();
      }
    },
  };
}

/**
 * Opens an index. What it took in last may be lost with the power, as it is not synced; where purges that it
 * needs again are forgotten, it is built anew.
 */
async function openIndex(store: DocumentStore, name: string): Promise<ViewIndex> {
  const index = await createViewIndex(store, await store.index(name));
  const reached = index.purged();
  if (reached === (await store.purgeSeq())) return index;
  const [next] = await store.purges(reached);
  if (next?.seq === reached + 1) return index;
  await index.close();
  await store.removeIndex(name);
  return createViewIndex(store, await store.index(name));
}
