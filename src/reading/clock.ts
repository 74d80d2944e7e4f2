import { defaultFlowTimeoutMs } from '../model/flow.js';
import { isCancelRequested, type LiveJob } from '../model/job.js';
import { toEpochMs } from '../model/scalars.js';
import { heldMs } from './held.js';
import { hasBegun } from './attempts.js';

/** The flow's timeout in ms; Infinity when there is none. */
export function flowTimeoutMs(job: LiveJob): number {
  const timeout = job.flow_definition.timeout ?? defaultFlowTimeoutMs;
  return timeout === 0 ? Infinity : timeout;
}

/**
 * From when on nothing new starts (mode `start`), as it stands now (epoch ms): time spent waiting,
 * delayed or paused does not count, nor does the time before the first step is taken.
 */
export function softDeadline(job: LiveJob, now: number): number {
  return timedFrom(job) + heldMs(job, now) + flowTimeoutMs(job);
}

/**
 * When a flow with mode `hard` ends, whatever it does; Infinity in mode `start`, and for a job that is
 * being cancelled: its undo tasks and its `cancel` branch are waited for.
 */
export function hardDeadline(job: LiveJob): number {
  const isLimited = job.flow_definition.timeout_mode === 'hard' && !isCancelRequested(job);
  return isLimited ? timedFrom(job) + flowTimeoutMs(job) : Infinity;
}

/** Since when the flow's time counts (epoch ms): a job that is retried gets it anew. */
function timedFrom(job: LiveJob): number {
  return job.timed_from ?? job.start;
}

/** Until when nothing of the job begins: `exec_after` or the wait before the flow's next run. */
export function delayedUntil(job: LiveJob): number {
  const execAfter = job.steps.length > 0 ? undefined : job.exec_after;
  return Math.max(execAfter === undefined ? 0 : toEpochMs(execAfter), job.resume_at ?? 0);
}

/** When a job that has not begun expires; Infinity when never. */
export function expiryOf(job: LiveJob): number {
  return job.expires === undefined || hasBegun(job) ? Infinity : toEpochMs(job.expires);
}

/** `until` for a wait: left out when it is never. */
export function untilOf(...times: readonly number[]): { readonly until?: number } {
  const first = times.reduce((least, time) => Math.min(least, time), Infinity);
  return first === Infinity ? {} : { until: first };
}
