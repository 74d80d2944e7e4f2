import { widest } from '../model/limits.js';
import type { Structure } from '../model/tree.js';

/** Counts how many items of maps may begin while one job is read. */
export type Room = {
  readonly has: (node: Structure) => boolean;
  readonly take: (node: Structure) => void;
};

/** Items of all maps of a job that are admitted at a time. */
const mostOfAll = 4 * widest;
/** Items of each map that are admitted when all others have taken more: none waits for another. */
const leastOfEach = 10;

/**
 * Creates the room for one job. The items of one map of the definition, in all items and rounds
 * around it, take at most 1,000 places; all maps together 4,000, but each at least 10.
 */
export function createRoom(): Room {
  const taken = new Map<Structure, number>();
  let all = 0;
  const takenBy = (node: Structure): number => taken.get(node) ?? 0;
  return {
    has: (node) => {
      const own = takenBy(node);
      return own < leastOfEach || (own < widest && all < mostOfAll);
    },
    take: (node) => {
      taken.set(node, takenBy(node) + 1);
      all += 1;
    },
  };
}
