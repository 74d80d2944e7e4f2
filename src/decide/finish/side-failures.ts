import type { LiveJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { isFailed, type Failure, type Phase, type Step } from '../../model/step.js';
import { completionOn, lastAttempt } from '../../reading/attempts.js';

const doing: Readonly<Partial<Record<Phase, string>>> = {
  error: 'Handling a failure',
  undo: 'Undoing a step',
  callback: 'A callback',
};

/**
 * Adds a problem for each handler, undo task and callback that failed for good in the run that
 * ends: they are not why the job failed, and would be visible in `steps` only.
 */
export function withSideFailures(job: LiveJob, ending: Failure | undefined): LiveJob {
  const told = job.steps.flatMap((step, i) => problemOf(job, step, i, ending));
  const before = (job.problems ?? []).filter(({ path }) => !isOfStep(path));
  if (told.length + before.length === (job.problems ?? []).length && told.length === 0) return job;
  return { ...job, problems: [...before, ...told] };
}

const isOfStep = (path: string): boolean => /^steps\[\d+\]\.failure$/.test(path);

function problemOf(
  job: LiveJob,
  step: Step,
  i: number,
  ending: Failure | undefined,
): readonly Problem[] {
  const what = doing[step.phase];
  if (what === undefined || !isFailed(step) || step.run !== job.run) return [];
  const isLast = lastAttempt(job, step.path) === step && completionOn(job, step.path) === undefined;
  if (!isLast || step.failure.name === 'NotNeeded' || step.failure === ending) return [];
  const message = `${what} failed: step ${step.name} (${step.path}): ${step.failure.message}`;
  return [{ path: `steps[${i}].failure`, message }];
}
