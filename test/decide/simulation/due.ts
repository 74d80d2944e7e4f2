import { isLiveJob, type Job, type LiveJob } from '../../../src/model/job.js';
import { toEpochMs } from '../../../src/model/scalars.js';
import { nextTimer } from '../../../src/reading/people.js';

/**
 * The times (epoch ms) at which something happens to a job whatever else it does meanwhile, read
 * from the document alone. An engine that has nothing to do about the job looks at it again no later.
 */
export function dueTimes(job: Job): readonly number[] {
  if (!isLiveJob(job)) return [];
  const waits = job.steps.flatMap((step) =>
    step.state === '$$waiting' ? [step.until, nextTimer(step)?.at] : [],
  );
  const isCancelled = job.cancel !== undefined && job.cancel !== false;
  return [...waits, ...(isCancelled ? [] : timesOfJob(job))].filter((time) => time !== undefined);
}

function timesOfJob(job: LiveJob): readonly (number | undefined)[] {
  const { expires, exec_after: after, resume_at: resume, flow_definition: flow } = job;
  const isPaused = job.paused === true || job.state === '$$paused';
  const hasBegun = job.steps.some((step) => 'start' in step);
  const { timeout = 60_000, timeout_mode: mode } = flow;
  const isHard = mode === 'hard' && timeout !== 0;
  return [
    isHard ? (job.timed_from ?? job.start) + timeout : undefined,
    hasBegun || expires === undefined ? undefined : toEpochMs(expires),
    isPaused || job.steps.length > 0 || after === undefined ? undefined : toEpochMs(after),
    isPaused ? undefined : resume,
  ];
}
