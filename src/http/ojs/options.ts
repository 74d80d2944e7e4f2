import { isDeepStrictEqual } from 'node:util';
import { problem } from '../../errors.js';
import { defaultPriority } from '../../model/job.js';
import { durationMs, leaseLengthMs } from './durations.js';
import { optionNames, type OjsOptions, type OjsOrder, type OjsRetry } from './schemas.js';

/* What an order says of how its job is done, in `options` or beside its type. */

/** Durations in ms. */
export type SettledOptions = OjsOptions & {
  readonly timeoutMs?: number;
  readonly leaseMs?: number;
};

/**
 * The options of a job, of which each is given once and can be done.
 * @throws TwsError `ojs_unsupported`, `request_invalid`
 */
export function optionsOf(order: OjsOrder): SettledOptions {
  const all = mergedOptions(order);
  assertDoable(all);
  const { retry, retry_policy: policy } = all;
  const { timeout, timeout_ms: timeoutMs, visibility_timeout: lease } = all;
  const limit = same(timeout == null ? undefined : timeout * 1000, timeoutMs, 'timeout');
  const leaseMs = same(
    lease == null ? undefined : leaseLengthMs(lease),
    all.visibility_timeout_ms,
    'visibility_timeout',
  );
  const given = retry ?? policy;
  return {
    ...all,
    ...(given == null ? {} : { retry: given }),
    ...(limit === undefined || limit === 0 ? {} : { timeoutMs: limit }),
    ...(leaseMs === undefined || leaseMs === 0 ? {} : { leaseMs }),
  };
}

/** The options in `options`, and those beside the type. @throws TwsError `request_invalid` */
export function mergedOptions(order: OjsOrder): OjsOptions {
  const { options } = order;
  const merged: Record<string, unknown> = {};
  for (const name of optionNames) {
    const given = [order[name], options?.[name]].filter((value) => value != null);
    const [first, second] = given;
    if (second !== undefined && !isDeepStrictEqual(first, second))
      contradict(name, `options.${name}`);
    if (first !== undefined) merged[name] = first;
  }
  return merged;
}

/** @throws TwsError `ojs_unsupported`, `request_invalid` */
function assertDoable(all: OjsOptions): void {
  const { concurrency, throttle, on_limit: onLimit = 'wait' } = all.rate_limit ?? {};
  const odd = [
    [concurrency, 'concurrency'],
    [throttle, 'throttle'],
    [onLimit === 'wait' ? undefined : onLimit, 'on_limit'],
  ].find(([value]) => value !== undefined);
  if (odd !== undefined) {
    unsupported(`"rate_limit.${String(odd[1])}"`, 'jobs over the limit wait for the next window.');
  }
  const { scheduled_at: at, delay_until: until, retry, retry_policy: policy } = all;
  if (at != null && until != null && at !== until) contradict('scheduled_at', 'delay_until');
  if (retry != null && policy != null && !isDeepStrictEqual(retry, policy)) {
    contradict('retry', 'retry_policy');
  }
}

function lengthOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : durationMs(text);
}

function same(
  one: number | undefined,
  other: number | null | undefined,
  name: string,
): number | undefined {
  if (one !== undefined && other != null && one !== other) contradict(name, `${name}_ms`);
  return one ?? other ?? undefined;
}

/** The place in line, and the tags, that a job or a schedule of jobs gets. */
export function rankAndTags({ priority, tags }: OjsOptions): Readonly<Record<string, unknown>> {
  return {
    ...(priority == null ? {} : { priority: defaultPriority - priority }),
    ...(tags == null || tags.length === 0 ? {} : { tags }),
  };
}

/** A retry policy as ours; its defaults are those of the specification (retry, section 8). */
export function ourRetry(retry: OjsRetry): Record<string, unknown> {
  const { max_attempts: attempts = 3, jitter = true, backoff_coefficient: factor = 2 } = retry;
  const { initial_interval: first, max_interval: most, non_retryable_errors: never } = retry;
  const form = retry.backoff_strategy ?? retry.backoff_type ?? 'exponential';
  return {
    limit: Math.max(0, attempts - 1),
    delay:
      form === 'none'
        ? 0
        : (same(lengthOf(first), retry.initial_interval_ms, 'initial_interval') ?? 1_000),
    ...growthsOf[form](factor),
    max: same(lengthOf(most), retry.max_interval_ms, 'max_interval') ?? 300_000,
    ...(jitter ? { spread: 0.5 } : {}),
    ...(never === undefined || never.length === 0 ? {} : { never }),
  };
}

/** Our growth for each of theirs. */
const growthsOf: Readonly<
  Record<NonNullable<OjsRetry['backoff_strategy']>, (factor: number) => object>
> = {
  exponential: (factor) => ({ factor }),
  constant: () => ({ factor: 1 }),
  none: () => ({ factor: 1 }),
  linear: () => ({ growth: 'linear' }),
  polynomial: (factor) => ({ growth: 'power', factor }),
};

/** @throws TwsError `ojs_unsupported` */
export function unsupported(what: string, because: string): never {
  throw problem('ojs_unsupported', { what, because });
}

function contradict(one: string, other: string): never {
  const reason = `${one} and ${other} say different things.`;
  throw problem('request_invalid', { part: 'body', reason });
}
