/** How long to wait between attempts: doubled from `firstMs` up to `maxMs`. */
export type Backoff = { readonly firstMs: number; readonly maxMs: number };

export const usualBackoff: Backoff = { firstMs: 1_000, maxMs: 30_000 };

/**
 * Milliseconds before attempt `failures` + 1 (`failures` from 1). Half of the wait is left to
 * chance (`random`: 0 to below 1), so that many processes do not come back at once, but it is
 * never shorter than `firstMs`.
 */
export function waitMs(failures: number, random: number, backoff: Backoff = usualBackoff): number {
  const longest = Math.min(backoff.maxMs, backoff.firstMs * 2 ** Math.min(failures, 30));
  return Math.max(backoff.firstMs, Math.round(longest * (0.5 + random / 2)));
}
