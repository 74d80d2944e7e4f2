import type { LiveJob } from '../../model/job.js';
import { isFailed, type Step } from '../../model/step.js';
import { isStructure, isWithin } from '../../model/tree.js';
import { attemptsOf } from '../../reading/attempts.js';
import { nodeAt } from '../../reading/entries.js';
import { isFrom } from '../../reading/order.js';
import { kindOf } from '../../structures/kinds.js';
import { isOfEnd, repetitionsAround } from '../../structures/paths.js';

/**
 * Returns since when the step at a path could begin (epoch ms): the end of its previous attempt,
 * else the last end of anything that comes before it.
 */
export function readyAt(job: LiveJob, path: string): number {
  const held = job.steps.length === 0 ? (job.held_ms ?? 0) : 0;
  const last = attemptsOf(job, path).at(-1);
  const from = Math.max(job.start + held, job.timed_from ?? 0, job.resume_at ?? 0);
  if (last !== undefined && last.run === job.run) {
    return Math.max(from, isFailed(last) ? (last.due ?? last.end) : endOf(last));
  }
  // In another run it comes after everything of the run before.
  const before =
    last === undefined ? job.steps.filter((step) => isBefore(job, step, path)) : job.steps;
  return Math.max(from, ...before.map(endOf));
}

function isBefore(job: LiveJob, step: Step, path: string): boolean {
  if (isOfEnd(path) || isFrom(path, step.path, job.tasks)) return true;
  return mapsAround(job, path).some((map) => isWithin(step.path, map));
}

/** The maps around a path that take few items at a time: an item waits for others to end. */
function mapsAround(job: LiveJob, path: string): readonly string[] {
  return repetitionsAround(path)
    .map((repetition) => repetition.path)
    .filter((at) => {
      const node = nodeAt(job.tasks, at);
      return node !== undefined && isStructure(node) && kindOf(node).repeats?.isLimited(node);
    });
}

function endOf(step: Step): number {
  return 'end' in step ? (step.end as number) : 0;
}
