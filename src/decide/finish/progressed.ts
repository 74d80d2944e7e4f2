import { isNew, type Job } from '../../model/job.js';

/**
 * How far a job has come, as a text that differs as soon as a step has begun or ended: the number of
 * attempts and how many of them have ended.
 */
export function attemptCountsOf(job: Job): string {
  const steps: readonly unknown[] = isNew(job) || !Array.isArray(job.steps) ? [] : job.steps;
  const ended = steps.filter((step) => typeof step === 'object' && step !== null && 'end' in step);
  return `${steps.length}:${ended.length}`;
}
