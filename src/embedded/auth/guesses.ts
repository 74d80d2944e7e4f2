import { createLru } from '../../memo.js';

/**
 * Keeps guessers from trying one password after the other. Times are ms of a monotonic clock.
 *
 * O3 After a few failures a name is locked for an address: for a second, and with each further failure
 *    for twice as long, up to a minute. What is tried meanwhile is refused unread and prolongs nothing,
 *    so nobody is locked out for ever.
 * O4 An address that fails with many names is locked as a whole in the same way.
 * O5 Names that nobody has are treated as all others: a lock tells nothing.
 */
export type Guesses = {
  /** How long it is locked yet; 0: it may try. */
  readonly lockedMs: (name: string, address: string) => number;
  readonly failed: (name: string, address: string) => void;
  readonly passed: (name: string, address: string) => void;
};

/** Failures that anybody may have. */
const freeOfName = 5;
const freeOfAddress = 30;
const firstLockMs = 1_000;
const longestLockMs = 60_000;
/** Failures are forgotten after so long without another one. */
const forgottenMs = 300_000;
const mostRemembered = 10_000;

type Failures = { readonly count: number; readonly lastAt: number };

export function createGuesses(now: () => number = () => performance.now()): Guesses {
  const remembered = createLru<Failures>(mostRemembered, {
    ttl: forgottenMs,
    ttlResolution: 0,
    perf: { now },
  });
  const nameKey = (name: string, address: string): string => JSON.stringify([name, address]);

  const leftMs = (key: string, free: number): number => {
    const failures = remembered.get(key);
    if (failures === undefined || failures.count < free) return 0;
    const lockMs = Math.min(longestLockMs, firstLockMs * 2 ** Math.min(30, failures.count - free));
    return Math.max(0, failures.lastAt + lockMs - now());
  };
  const count = (key: string): void => {
    remembered.set(key, { count: (remembered.get(key)?.count ?? 0) + 1, lastAt: now() });
  };
  return {
    lockedMs: (name, address) =>
      Math.max(leftMs(nameKey(name, address), freeOfName), leftMs(address, freeOfAddress)),
    failed: (name, address) => {
      count(nameKey(name, address));
      count(address);
    },
    passed: (name, address) => void remembered.delete(nameKey(name, address)),
  };
}
