/**
 * How long to wait between attempts: doubled from `firstMs` up to `maxMs`; `refusedMs` after a refused
 * password, because CouchDB locks an account after five of them in five minutes.
 */
export type Backoff = {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly refusedMs: number;
};

/** A server that is back is found within two seconds, however long it was away. */
export const usualBackoff: Backoff = { firstMs: 250, maxMs: 2_000, refusedMs: 90_000 };

/**
 * Milliseconds before attempt `failures` + 1 (`failures` from 1). Half of the wait is left to
 * chance (`random`: 0 to below 1), so that many processes do not come back at once, but it is
 * never shorter than `firstMs`.
 */
export function backoffMs(
  failures: number,
  random: number,
  backoff: Backoff = usualBackoff,
): number {
  const longest = Math.min(backoff.maxMs, backoff.firstMs * 2 ** Math.min(failures, 30));
  return Math.max(backoff.firstMs, Math.round(longest * (0.5 + random / 2)));
}

/**
 * The number of failures in a row, with the one that ended a connection after `livedMs`. One that has
 * lived for some heartbeats begins anew: an answer alone does not, as a proxy may give it and hang up.
 */
export function failuresAfter(before: number, livedMs: number, heartbeatMs: number): number {
  return livedMs >= longLife * heartbeatMs ? 1 : before + 1;
}

const longLife = 3;
