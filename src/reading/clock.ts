import { defaultFlowTimeoutMs } from '../model/flow.js';
import type { LiveJob } from '../model/job.js';
import { toEpochMs } from '../model/scalars.js';
import type { LiveStep, WaitingStep } from '../model/step.js';
import { defaultTaskTimeoutMs } from '../model/task.js';
import { heldMs } from './held.js';
import { attemptsOf, hasBegun } from './attempts.js';
import { definitionFor, definitionOf, leafAt } from './entries.js';

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

/** When a flow with mode `hard` ends, whatever it does; Infinity in mode `start`. */
export function hardDeadline(job: LiveJob): number {
  return job.flow_definition.timeout_mode === 'hard'
    ? timedFrom(job) + flowTimeoutMs(job)
    : Infinity;
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

/** How long an attempt may run, and how long give no sign of life, ms; Infinity: nothing limits it. */
export type Limits = { readonly timeoutMs: number; readonly heartbeatMs: number };

/** The limits of an attempt: its entry's own ones count before those of its task. */
export function limitsOf(job: LiveJob, step: LiveStep): Limits {
  const entry = leafAt(job, step.path)?.entry;
  const task = entry === undefined ? job.definitions[step.task] : definitionOf(job, entry);
  const timeout = entry?.timeout ?? task?.timeout ?? defaultTaskTimeoutMs;
  const heartbeat = entry?.heartbeat ?? task?.heartbeat ?? 0;
  const left = deadlineAfter(task?.total_timeout ?? 0, job, step) - step.accepted;
  return {
    timeoutMs: Math.min(timeout === 0 ? Infinity : timeout, left),
    heartbeatMs: heartbeat === 0 ? Infinity : heartbeat,
  };
}

/** The time for waiting and all attempts of a step, ms; 0: nothing limits it. */
export function totalTimeoutOf(job: LiveJob, step: LiveStep | WaitingStep): number {
  return definitionFor(job, step)?.total_timeout ?? 0;
}

/** When that time is over; Infinity when nothing limits it. */
export function totalDeadline(job: LiveJob, step: LiveStep | WaitingStep): number {
  return deadlineAfter(totalTimeoutOf(job, step), job, step);
}

function deadlineAfter(total: number, job: LiveJob, step: LiveStep | WaitingStep): number {
  if (total === 0) return Infinity;
  const first = attemptsOf(job, step.path).find((attempt) => attempt.run === step.run) as LiveStep;
  return first.accepted + total;
}
