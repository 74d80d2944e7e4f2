/**
 * What one job may have under way at once, however wide its structures are: so many items of a map, over
 * all its slices, and so many child jobs that one revision makes (the others follow in the next ones).
 * A map takes this instead of a higher `limit`, and says so in `problems`.
 */
export const widest = 1_000;

/** How many items of a map are worked on at a time; without a `limit`, or with 0, as many as may be. */
export function itemsAtOnce({ limit = 0 }: { readonly limit?: number }): number {
  return limit === 0 ? widest : Math.min(limit, widest);
}
