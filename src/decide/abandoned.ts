import { isLiveJob, isNew, type Job } from '../model/job.js';
import type { Step } from '../model/step.js';

/**
 * The child jobs that a job gives up from one version to the next: steps that waited for a child
 * and ended without it leave the child to itself.
 */
export function abandoned(before: Job, after: Job): readonly string[] {
  if (!isLiveJob(before)) return [];
  const states = new Map(stepsOf(after).map((step) => [attemptKey(step), step.state]));
  return before.steps.flatMap((step) => {
    if (step.state !== '$$waiting' || step.child === undefined) return [];
    const state = states.get(attemptKey(step));
    return state === '$$cancelled' || state === '$$timeout' ? [step.child] : [];
  });
}

function attemptKey({ path, attempt }: Step): string {
  return `${path}:${attempt}`;
}

function stepsOf(job: Job): readonly Step[] {
  return isNew(job) ? [] : (job.steps ?? []);
}
