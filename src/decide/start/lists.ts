import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { takeFrom, sizes, type Left } from '../../model/size.js';
import type { Failure, Step } from '../../model/step.js';
import { lastAttempt } from '../../reading/attempts.js';

/** The lists of maps: each is found out once and stays in the job, which is written with every step. */

/** Returns the number of items of all maps that are worked on in this job itself. */
export function itemsIn(steps: readonly Step[]): number {
  let items = 0;
  for (const step of steps) {
    const list = listOf(step);
    if (list !== undefined && !list.isSliced) items += list.items.length;
  }
  return items;
}

/**
 * Returns why a map cannot go over one more list beside those of the other maps of its job;
 * undefined: there is room. `most`: maximum number of items in one job.
 */
export function listProblem(
  job: LiveJob,
  { at, items, isSliced, most }: List & { readonly at: string; readonly most: number },
): Failure | undefined {
  const others = job.steps.filter((step) => lastAttempt(job, step.path) === step);
  const count = itemsIn(others) + (isSliced ? 0 : items.length);
  if (count > most) return failure('ListsTooLarge', { at, most: `${most} items` });
  const left = { ...sizes.lists };
  const all = [...others.flatMap((step) => listOf(step) ?? []), { items }];
  if (all.every((list) => take(left, list.items))) return undefined;
  const { values, characters } = sizes.lists;
  return failure('ListsTooLarge', { at, most: `${values} values with ${characters} characters` });
}

type List = { readonly items: readonly unknown[]; readonly isSliced: boolean };

function listOf(step: Step): List | undefined {
  if (step.structure !== 'map' || step.state !== '$$complete') return undefined;
  const { items, slice } = (step.result ?? {}) as {
    readonly items?: readonly unknown[];
    readonly slice?: number;
  };
  return Array.isArray(items) ? { items, isSliced: slice !== undefined } : undefined;
}

/** A list is counted once as long as its job is kept in memory. */
const weights = new WeakMap<readonly unknown[], Left>();

function take(left: Left, items: readonly unknown[]): boolean {
  const weight = weights.get(items) ?? weigh(items);
  left.values -= weight.values;
  left.characters -= weight.characters;
  return left.values >= 0 && left.characters >= 0;
}

/** What is too large, or too deep, weighs more than all may. */
function weigh(items: readonly unknown[]): Left {
  const left = { ...sizes.lists };
  const fits = takeFrom(left, items);
  const { values, characters } = sizes.lists;
  const weight = fits
    ? { values: values - left.values, characters: characters - left.characters }
    : { values: values + 1, characters: 0 };
  weights.set(items, weight);
  return weight;
}
