import type { LiveJob } from '../model/job.js';
import { isFailed, type Step } from '../model/step.js';
import { attemptsOf } from './history.js';

/**
 * Since when the step at a path could begin (epoch ms): the end of its attempt before, else the
 * last end of anything that does not just run beside it.
 */
export function readyAt(job: LiveJob, path: string): number {
  const held = job.steps.length === 0 ? (job.held_ms ?? 0) : 0;
  const own = attemptsOf(job, path);
  const before = own.length > 0 ? own : job.steps.filter((step) => !isBeside(step.path, path));
  return Math.max(job.start + held, job.resume_at ?? 0, ...before.map(endOf));
}

function endOf(step: Step): number {
  if (isFailed(step)) return step.due ?? step.end;
  return 'end' in step ? (step.end as number) : 0;
}

/** Two paths part at a structure whose nodes do not wait for each other. */
function isBeside(one: string, other: string): boolean {
  const a = one.split('.');
  const b = other.split('.');
  const parting = a.findIndex((segment, i) => segment !== b[i]);
  return ['parallel', 'batch', 'map'].includes(a[parting - 1] ?? '');
}
