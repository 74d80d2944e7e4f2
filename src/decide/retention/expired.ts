import { writtenSpanMs } from '../../model/span.js';
import { keyOf } from '../../model/task.js';
import { limitFor, type JobKind, type RetentionRules } from './rules.js';

/** A job that has ended and was not made for another job. `end`: epoch ms. */
export type EndedJob = JobKind & { readonly id: string; readonly end: number };

/** A job that goes, and which limit it is beyond. */
export type ExpiredJob = { readonly job: EndedJob; readonly because: 'age' | 'count' };

/**
 * Returns the jobs that do not stay at `now` (epoch ms), the oldest last. A job goes when it ended longer ago
 * than `age`, or when `count` jobs of its flow, owner and status ended after it; of those that ended in the
 * same millisecond the one with the higher id counts as newer. For a limit with `count`, `jobs` has to hold
 * all jobs of the kind.
 */
export function expiredJobs(
  jobs: readonly EndedJob[],
  rules: RetentionRules,
  now: number,
): readonly ExpiredJob[] {
  const newer = new Map<string, number>();
  return jobs.toSorted(newestFirst).flatMap((job): readonly ExpiredJob[] => {
    const limit = limitFor(rules, job);
    if (limit === undefined) return [];
    const kind = `${job.status}:${keyOf(job.flow, job.owner)}`;
    const before = newer.get(kind) ?? 0;
    newer.set(kind, before + 1);
    if (isTooOld(job, limit.age, now)) return [{ job, because: 'age' }];
    return before >= (limit.count ?? Infinity) ? [{ job, because: 'count' }] : [];
  });
}

/** Whether a job that ended at `end` is older than an age at `now` (both epoch ms). */
export function isTooOld(
  { end }: Pick<EndedJob, 'end'>,
  age: number | string | undefined,
  now: number,
): boolean {
  return age !== undefined && end < now - writtenSpanMs(age);
}

function newestFirst(a: EndedJob, b: EndedJob): number {
  return b.end - a.end || (a.id < b.id ? 1 : -1);
}
