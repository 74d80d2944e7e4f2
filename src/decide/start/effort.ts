import type { LiveJob } from '../../model/job.js';
import type { Step } from '../../model/step.js';
import type { Begun } from '../intent.js';
import { itemsIn } from './lists.js';
import { stepParams } from './params.js';
import type { Beginning } from '../../structures/progress.js';

/*
 * A decision is made in one go and holds up the engine meanwhile: what is left of a job with very much
 * to do is decided upon with its next revision. Effort is counted, for decisions know no clock.
 */

/** Maximum effort per move, and maximum number of structures evaluated per move. */
export const mostEffort = 100;
export const mostConditions = 20;
/**
 * Maximum number of steps of a job: every decision reads all of them, so more would hold up the
 * engine.
 */
export const mostSteps = 20_000;
/** From so many steps on it is worked out whether there is room for what may have to be undone. */
export const manySteps = mostSteps / 2;
/** Number of further steps reserved for what follows a failure or a cancel. */
export const stepsForEnd = 500;
/**
 * Steps that a decision adds, times those, the items of maps and the decisions of deciders that there
 * are: each one has all of them looked through.
 */
const mostGrowth = 20_000;

/** Returns the cost of beginning a step. */
export function effortOf(job: LiveJob, { leaf }: Beginning, move: Begun): number {
  const steps = job.steps.length / 100;
  switch (move.kind) {
    case 'wait':
      // It was asked for, and is told again with each decision.
      return move.for === 'rate' ? 0.5 : 0;
    case 'change':
    case 'look_up':
    case 'acquire':
      return 5 + steps;
    case 'spawn':
      return 0.05 + steps + weightOf(stepParams(job, leaf));
    case 'claim':
      return 1 + steps + weightOf(stepParams(job, leaf));
  }
}

/** Whether a decision has added so many steps that it must be written; `added`: how many. */
export function hasGrown(added: number, { steps }: LiveJob): boolean {
  return added * (steps.length + itemsIn(steps) + decisionsIn(steps)) > mostGrowth;
}

/** How many decisions deciders have made in these steps. */
function decisionsIn(steps: readonly Step[]): number {
  let decisions = 0;
  for (const { seen, result } of steps as readonly (Step & { readonly result?: unknown })[]) {
    if (seen !== undefined && Array.isArray(result)) decisions += result.length;
  }
  return decisions;
}

/** Values to copy, and tags to fill in. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return 0.002 + 0.2 * (value.split('{{').length - 1);
  if (typeof value !== 'object' || value === null) return 0.002;
  let weight = 0.002;
  for (const inner of Object.values(value)) weight += weightOf(inner);
  return weight;
}
