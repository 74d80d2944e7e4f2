import type { LiveJob } from '../model/job.js';
import type { Step } from '../model/step.js';
import { countedAt, lastAttempt } from './history.js';

/**
 * What was found out about a structure, once: the steps of a job carry it, so that every engine
 * goes on from the same answer.
 */
export type Mark = {
  /** Which case of a choice was taken: its number, `default`, or none. */
  readonly chosen?: number | 'default' | null;
  /** The list of a map. */
  readonly items?: readonly unknown[];
  /** Whether a loop takes another round. */
  readonly again?: boolean;
};

/** What was found out last about the structure at a path. */
export function markAt(job: LiveJob, path: string): Mark | undefined {
  const step = lastAttempt(job, path);
  return step === undefined ? undefined : markOf(step);
}

/** Everything that was found out about the structure at a path, oldest first. */
export function marksAt(job: LiveJob, path: string): readonly Mark[] {
  return countedAt(job, path).flatMap((step) => markOf(step) ?? []);
}

/** So many rounds of the loop at a path have begun. */
export function roundsOf(job: LiveJob, path: string): number {
  return marksAt(job, path).filter(({ again }) => again === true).length;
}

function markOf(step: Step): Mark | undefined {
  if (step.state !== '$$complete') return undefined;
  const { result } = step;
  return typeof result === 'object' && result !== null ? result : {};
}
