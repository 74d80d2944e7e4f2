/** A clock may be so far ahead of that of the database server, ms: what is removed by its age is days old. */
export const mostAheadMs = 300_000;

/**
 * SR2 Nothing is removed by its age where the own clock is further ahead of that of the database server than
 *     `mostAheadMs`: by a clock that is wrong, everything may be past its time, and what was removed is gone. Where the
 *     server does not tell its time, nobody knows better.
 *
 * Returns how far the clock is ahead, ms; 0: not too far. `serverAt`: the time of the server at `now` (epoch ms).
 */
export function clockAhead(now: number, serverAt: number | undefined): number {
  const ahead = serverAt === undefined ? 0 : now - serverAt;
  return ahead > mostAheadMs ? ahead : 0;
}
