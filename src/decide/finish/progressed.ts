import { isNew, type Job } from '../../model/job.js';

/**
 * Returns a text that changes whenever a step begins or ends: the number of attempts and how many
 * of them have ended.
 */
export function attemptCountsOf(job: Job): string {
  const steps: readonly unknown[] = isNew(job) || !Array.isArray(job.steps) ? [] : job.steps;
  const ended = steps.filter((step) => typeof step === 'object' && step !== null && 'end' in step);
  return `${steps.length}:${ended.length}`;
}
