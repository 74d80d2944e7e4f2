import { z } from 'zod';
import { namesSchema } from './scalars.js';
import { writtenLengthSchema } from './span.js';
import { usualRetry, type RetryDefaults } from './usual-retry.js';

const limitText = 'must be a number of retries (a whole number, 0 or more)';
const spreadText = 'must be a share from 0 to 1';
/** How waits grow from retry to retry. */
const growths = ['factor', 'linear', 'power'] as const;
const jitterText = 'must be true, false or a share from 0 to 1';
const factorText = 'must be a number, 1 or more';
export const factorSchema = z.number({ error: factorText }).min(1, { error: factorText });
export const limitSchema = z.int({ error: limitText }).min(0, { error: limitText });

/**
 * When a failed attempt is tried again. `limit` counts retries, not attempts; the wait before
 * retry k (from 1) is `min(max, delay * factor^(k-1))`, shortened by `jitter` (0 … 1 of the wait). With
 * `growth` "linear" it is `delay * k`, with "power" `delay * k^factor`. `spread` makes a wait shorter or
 * longer by up to that share, within `max`.
 * Follows the retry fields of the Amazon States Language under our names.
 */
export const retryPolicySchema = z.looseObject(
  {
    limit: z.exactOptional(limitSchema),
    delay: z.exactOptional(writtenLengthSchema),
    factor: z.exactOptional(factorSchema),
    growth: z.exactOptional(z.enum(growths, { error: 'must be "factor", "linear" or "power"' })),
    max: z.exactOptional(writtenLengthSchema),
    jitter: z.exactOptional(
      z.union(
        [z.boolean(), z.number().min(0, { error: jitterText }).max(1, { error: jitterText })],
        { error: jitterText },
      ),
    ),
    spread: z.exactOptional(
      z.number({ error: spreadText }).min(0, { error: spreadText }).max(1, { error: spreadText }),
    ),
    total: z.exactOptional(writtenLengthSchema),
    on: z.exactOptional(namesSchema),
    never: z.exactOptional(namesSchema),
  },
  { error: 'must be a number of retries or a retry policy' },
);

export const retrySchema = z
  .union([limitSchema, retryPolicySchema], {
    error: 'must be a number of retries (0 or more) or a retry policy {limit, delay, factor, …}',
  })
  .describe(
    'A number of retries, or a policy: limit, delay, factor, growth, max, jitter, spread, total, on, never.',
  );

export type RetryInput = z.infer<typeof retrySchema>;

/** A policy with every default filled in. Durations in ms; `jitter` is a share from 0 to 1. */
export type RetryPolicy = {
  readonly limit: number;
  readonly delay: number;
  readonly factor: number;
  /** Absent: by the factor. */
  readonly growth?: (typeof growths)[number];
  readonly max: number;
  readonly jitter: number;
  readonly spread?: number;
  readonly total?: number;
  readonly on?: readonly string[];
  readonly never?: readonly string[];
};

/** The longest wait between two attempts when a policy with a `delay` names none: one day. */
const longestWaitMs = 86_400_000;

/**
 * Fills in a written `retry`. A number, and a policy without `delay`, waits by the defaults; a policy
 * with a `delay` waits that long each time, unless it says how waits grow.
 */
export function toRetryPolicy(
  written: RetryInput | undefined,
  defaults: RetryDefaults = usualRetry,
): RetryPolicy {
  const policy = typeof written === 'object' ? written : { limit: written ?? 0 };
  const { jitter, delay = defaults.delay } = policy;
  const usual = policy.delay === undefined ? defaults : { factor: 1, max: longestWaitMs };
  return {
    limit: policy.limit ?? 0,
    delay,
    factor: factorOf(policy, delay, usual.factor),
    max: policy.max ?? Math.max(usual.max, delay),
    jitter: typeof jitter === 'number' ? jitter : jitter === true ? 1 : 0,
    ...variation(policy, delay),
    ...(policy.total === undefined ? {} : { total: policy.total }),
    ...(policy.on === undefined ? {} : { on: policy.on }),
    ...(policy.never === undefined ? {} : { never: policy.never }),
  };
}

/**
 * Without a delay nothing grows: 0 times the infinity that a large factor comes to would not be a
 * number.
 */
function factorOf(
  { factor, growth }: Exclude<RetryInput, number>,
  delay: number,
  usual: number,
): number {
  if (delay === 0) return 1;
  return factor ?? (growth === undefined ? usual : 1);
}

/** How waits grow and vary, where that is not by the factor alone. Without a delay nothing grows. */
function variation(
  { growth, spread }: Exclude<RetryInput, number>,
  delay: number,
): Pick<RetryPolicy, 'growth' | 'spread'> {
  return {
    ...(growth === undefined || delay === 0 ? {} : { growth }),
    ...(spread === undefined ? {} : { spread }),
  };
}
