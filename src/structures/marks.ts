import type { Step } from '../model/step.js';
import type { JobSteps } from './steps.js';

/**
 * What was found out about a structure, once: it is stored as a step of the job, so that every
 * engine uses the same answer. Each kind has keys of its own.
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

/** Returns what was found out last about the structure at a path. */
export function markAt({ last }: Pick<JobSteps, 'last'>, path: string): Mark | undefined {
  return foundBy(last(path));
}

/** Returns everything that was found out about the structure at a path, oldest first. */
export function marksAt({ at }: Pick<JobSteps, 'at'>, path: string): readonly Mark[] {
  return at(path).flatMap((step): readonly Mark[] => {
    const found = foundBy(step);
    return found === undefined ? [] : [found];
  });
}

/** What is recorded about a structure, as it may have been edited. */
export type StoredMark = Readonly<Record<string, unknown>>;

/** Returns what one of its steps found out about a structure; undefined: nothing. */
export function foundBy(step: Step | undefined): StoredMark | undefined {
  if (step?.state !== '$$complete') return undefined;
  const { result } = step;
  return typeof result === 'object' && result !== null ? (result as StoredMark) : {};
}

/**
 * Returns why something that was begun does not exist by the record, such as item 7 of 5;
 * undefined: nothing such was begun.
 */
export function begunOutside(
  steps: JobSteps,
  path: string,
  { from, total, what }: { readonly from: number; readonly total: number; readonly what: string },
): string | undefined {
  const begun = steps.numbersBelow(path);
  if (begun === undefined || (begun.least >= from && begun.most < from + total)) return undefined;
  const number = begun.least < from ? begun.least : begun.most;
  return `${what} ${number} was begun, and there are ${total} from ${from} on`;
}

export function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}
