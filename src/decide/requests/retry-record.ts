import { isFinal, type FinalJob, type Job } from '../../model/job.js';
import type { RetryRequest } from '../../model/request.js';
import { isObject } from '../../model/object.js';
import { merge } from '../../model/record.js';

type Doc = Readonly<Record<string, unknown>>;

/**
 * Returns what a retried job keeps of its past for its history: in `overrode` the end that no
 * longer counts, in `params` what was asked for, in `params_before` the values that were replaced
 * (null: there was none).
 */
export function formerState(job: Job, next: Job, { params, latest }: RetryRequest): Doc {
  if (!isFinal(job)) return {};
  const { state, end, exit, failure } = job;
  return {
    ...(params === undefined ? {} : { params, params_before: replaced(job, next) }),
    ...(latest === undefined ? {} : { latest }),
    overrode: { state, end, exit, ...(failure === undefined ? {} : { failure }) },
  };
}

function replaced(job: FinalJob, { params: now }: Doc): Doc {
  const { params } = job;
  const before: Doc = isObject(params) ? params : {};
  const after = merge(now as Doc | undefined);
  const keys = Object.keys(after).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  return Object.fromEntries(keys.map((key) => [key, before[key] ?? null]));
}
