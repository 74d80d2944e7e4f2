import { createLru } from '../../memo.js';
import type { Root } from '../../decide/world.js';
import { isFinalState } from '../../model/job.js';
import type { Store } from '../../store/store.js';

/** Maximum number of jobs made for one root job, over all its child flows and theirs. */
export const usualDescendants = 100_000;

/** How long an answer about the number of jobs is used, ms: until then a few more may be made. */
const believedMs = 1_000;
/** Maximum number of roots whose answer is kept. */
const remembered = 1_000;

export type JobTreeParts = {
  readonly store: Pick<Store, 'get' | 'exceeds'>;
  /** Epoch ms. */
  readonly now: () => number;
  readonly mostDescendants: number;
};

export type JobTree = { readonly rootOf: (id: string) => Promise<Root> };

/**
 * Looks up the root of a tree of jobs. The database counts the jobs of a tree by their ids, which all begin
 * with the id of the root: no counter has to be written, and none can be lost. Jobs that are made at
 * the same time may exceed the limit by their number.
 */
export function createJobTree({ store, now, mostDescendants }: JobTreeParts): JobTree {
  const known = createLru<boolean>(remembered, {
    ttl: believedMs,
    ttlResolution: 0,
    perf: { now },
  });
  const isCrowded = async (root: string): Promise<boolean> => {
    const before = known.get(root);
    if (before !== undefined) return before;
    const crowded = await store.exceeds(`${root}:`, mostDescendants);
    known.set(root, crowded);
    return crowded;
  };
  return {
    rootOf: async (id) => {
      const doc = await store.get(id);
      // A job that went on as a new one has not ended: its work has.
      const hasEnded = doc?.['continued_to'] === undefined && isFinalState(doc?.['state']);
      if (hasEnded) return 'final';
      return (await isCrowded(id)) ? 'crowded' : 'live';
    },
  };
}
