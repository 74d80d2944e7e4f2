import type { LiveJob } from '../model/job.js';
import type { Step } from '../model/step.js';
import { below, childPath } from '../model/tree.js';
import { countedAt, lastAttempt } from './history.js';

/**
 * What was found out about a structure, once: the steps of a job carry it, so that every engine
 * goes on from the same answer.
 */
export type Mark = {
  /** Which case of a choice was taken: its number, `default`, or none. */
  readonly chosen?: number | 'default' | null;
  /** The list of a map; in a slice those that matter there. */
  readonly items?: readonly unknown[];
  /** The number of the first of them in the whole list; absent: 0. */
  readonly from?: number;
  /** So many items the list has; in a slice also of a map that was done before, without them. */
  readonly count?: number;
  /** Child jobs go over them, so many in each. */
  readonly slice?: number;
  /** Whether a loop takes another round, and the number of that round, from 0. */
  readonly again?: boolean;
  readonly round?: number;
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

/** The path of the case that was taken of a choice that was found out; undefined: none was. */
export function takenAt(job: LiveJob, path: string): string | undefined {
  const { chosen } = markAt(job, path) as Mark;
  if (chosen === 'default') return below(path, 'default');
  return typeof chosen === 'number' ? childPath(path, 'choice', chosen) : undefined;
}

/** How many items the list of a map has. */
export function countOf({ count, items = [] }: Mark): number {
  return count ?? items.length;
}

/** An item of a map that is gone over in this job itself. */
export function hasItem(mark: Mark | undefined, number: number): boolean {
  const { items = [], from = 0, slice } = mark ?? {};
  return slice === undefined && number >= from && number < from + items.length;
}

/** The items of a map that one child job goes over. */
export type SliceOfItems = { readonly path: string; readonly from: number; readonly size: number };

/** The slices of the map at a path that has so many items, in their order. */
export function slicesOf(path: string, total: number, slice: number): readonly SliceOfItems[] {
  return Array.from({ length: Math.ceil(total / slice) }, (_, i) => {
    const from = i * slice;
    return { path: below(path, `slice.${i}`), from, size: Math.min(slice, total - from) };
  });
}

function markOf(step: Step): Mark | undefined {
  if (step.state !== '$$complete') return undefined;
  const { result } = step;
  return typeof result === 'object' && result !== null ? result : {};
}
