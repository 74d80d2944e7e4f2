import type { RetryPolicy } from '../../model/retry.js';
import type { Failure } from '../../model/step.js';
import { matchesFailure } from '../../model/failure-pattern.js';

/** The attempt that the retry policy judges. Times in epoch ms. */
type Attempt = {
  readonly failure: Failure;
  /** Failed attempts of this run, this one included; lost ones do not count. */
  readonly failed: number;
  /** When the first attempt was accepted. */
  readonly firstAccepted: number;
  /** Wall time allowed for waiting and all attempts, ms. */
  readonly totalMs?: number;
  /** When the plugin asked for the next attempt, ms from now. */
  readonly retryAfterMs?: number;
  /** Where the jitter comes from: the same text gives the same wait. */
  readonly seed: string;
};

/** The longest wait that a plugin or a server may ask for, unless `max` of the policy is shorter: a day. */
const longestRetryAfterMs = 86_400_000;

/** Returns when the next attempt may begin (epoch ms); undefined: give up. */
export function retryDue(policy: RetryPolicy, attempt: Attempt, now: number): number | undefined {
  if (attempt.failure['retryable'] === false) return undefined;
  if (!isRetried(policy, attempt.failure)) return undefined;
  if (attempt.failed > policy.limit) return undefined;
  const longest = Math.min(policy.max, longestRetryAfterMs);
  const asked = attempt.retryAfterMs;
  const due = now + (asked === undefined ? waitMs(policy, attempt) : Math.min(asked, longest));
  const budget = Math.min(policy.total ?? Infinity, attempt.totalMs ?? Infinity);
  return due > attempt.firstAccepted + budget ? undefined : due;
}

/**
 * Whether a policy retries a failure. `never` wins over `on`; without `on`, everything is retried
 * except business failures, which must be named.
 */
export function isRetried(policy: RetryPolicy, failure: Failure): boolean {
  if (policy.never?.some((pattern) => matchesFailure(pattern, failure))) return false;
  if (policy.on === undefined) return failure['kind'] !== 'business';
  return policy.on.some((pattern) => matchesFailure(pattern, failure));
}

/**
 * Returns the wait before the next attempt (ms): it grows with the number of failed attempts and is
 * varied by `jitter` and `spread`.
 *
 * B4 No wait is longer than `max`, however it grows and is varied.
 * B5 The same attempt of the same job waits equally long, whoever asks.
 */
export function waitMs(
  policy: RetryPolicy,
  { failed, seed }: { readonly failed: number; readonly seed: string },
): number {
  const { max, delay, jitter, spread = 0 } = policy;
  const growth = Math.min(growthOf(policy, failed), Number.MAX_VALUE);
  const full = Math.min(max, delay * growth);
  const varied = full * (1 - jitter * share(seed));
  if (spread === 0) return Math.round(varied);
  const around = 1 + spread * (2 * share(`${seed}:spread`) - 1);
  return Math.round(Math.min(max, varied * around));
}

/** So many times the first wait is the one before retry k. */
function growthOf({ growth = 'factor', factor }: RetryPolicy, k: number): number {
  switch (growth) {
    case 'factor':
      return factor ** (k - 1);
    case 'linear':
      return k;
    case 'power':
      return k ** factor;
  }
}

/** Returns the FNV-1a hash of a text as a fraction from 0 to 1. */
export function share(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0) / 0x1_0000_0000;
}
