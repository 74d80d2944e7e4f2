/** Fewer documents are not worth it, however small the database is. */
const leastRemoved = 1_000;
/** Of the documents that there were, the share whose removal is worth it. */
const leastShare = 0.2;

/**
 * Whether to give back the space of removed documents: a compaction rewrites what is left, so it has to be
 * little beside what was removed. `left`: documents that are there now.
 */
export function isWorthCompacting(removed: number, left: number): boolean {
  return removed >= leastRemoved && removed >= leastShare * (removed + left);
}
