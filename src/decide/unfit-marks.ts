import type { LiveJob } from '../model/job.js';
import type { Step } from '../model/step.js';
import { below, childrenOf, definedPath, type Choice, type Structure } from '../model/tree.js';
import { lastAttempt, lastRunBelow, numbersBelow, type Numbers } from './history.js';
import { isPlain } from './record.js';
import { isWithin } from './paths.js';
import { marksAt, roundsOf, slicesOf, takenAt } from './marks.js';

/**
 * Compares what is on record about a structure with itself and with the steps that belong to it. An
 * engine that believed a record which somebody has changed would leave out the rest of the work.
 * Returns what is wrong, or undefined where everything fits.
 *
 * U1 What an engine has written always fits, in every run of a job.
 * U2 A list with fewer or more items than were found, or than were begun, does not fit; nor does a
 *    round that is missing, or that nobody began, or a case (or the default) that was begun beside
 *    the one that was taken, since the choice was last found out.
 * U3 A step in any case may be left out by hand, before the choice is found out or after.
 */
export function unfitMark(job: LiveJob, node: Structure, path: string): string | undefined {
  switch (node.structure) {
    case 'map':
      return unfitList(job, path);
    case 'loop':
      return unfitRounds(job, path);
    case 'choice':
      return unfitCase(job, node, path);
    case 'sequence':
    case 'parallel':
    case 'batch':
    case 'graph':
      return undefined;
  }
}

type Found = Readonly<Record<string, unknown>>;

function unfitList(job: LiveJob, path: string): string | undefined {
  const { items, from = 0, count, slice } = foundAt(job, path);
  if (!Array.isArray(items)) return 'it has no list of "items"';
  const total = items.length;
  if (count !== undefined && count !== total) return `it has ${total} items, and "count" differs`;
  if (!isWhole(from) || from < 0) return '"from" is no number of an item';
  const whole = numbersBelow(job, below(path, 'map'));
  if (slice === undefined) {
    const sliced = numbersBelow(job, below(path, 'slice'));
    if (sliced !== undefined) return '"slice" is missing, and slices were begun';
    return outside(whole, from, total, 'item');
  }
  if (!isWhole(slice) || slice < 1) return '"slice" is no number of items';
  if (whole !== undefined) return 'it has a "slice", and items were begun without';
  const slices = slicesOf(path, total, slice);
  const other = slices.find((part) => tellsOther(lastAttempt(job, part.path), part.size));
  if (other !== undefined) return `the result at ${other.path} has not ${other.size} items`;
  return outside(numbersBelow(job, below(path, 'slice')), 0, slices.length, 'slice');
}

function outside(
  begun: Numbers | undefined,
  from: number,
  total: number,
  what: string,
): string | undefined {
  if (begun === undefined || (begun.least >= from && begun.most < from + total)) return undefined;
  const number = begun.least < from ? begun.least : begun.most;
  return `${what} ${number} was begun, and there are ${total} from ${from} on`;
}

/** The result of a slice that ended well, unless it is kept in an attachment. */
function tellsOther(step: Step | undefined, size: number): boolean {
  if (step?.state !== '$$complete' || !isPlain(step.result)) return false;
  const { items } = step.result;
  return Array.isArray(items) && items.length !== size;
}

function unfitRounds(job: LiveJob, path: string): string | undefined {
  const marks: readonly Found[] = marksAt(job, path).map((mark) => ({ ...mark }));
  const odd = marks.findIndex(({ again }) => typeof again !== 'boolean');
  if (odd >= 0) return `it does not say whether round ${odd} takes place ("again")`;
  const gap = marks.findIndex(({ round = null }, i) => round !== null && round !== i);
  if (gap >= 0) return `the record of round ${gap} is missing, or there are two`;
  const end = marks.findIndex(({ again }) => again === false);
  if (end >= 0 && end < marks.length - 1) return `it goes on after its end in round ${end}`;
  // What a retry asked to be done again has the loop begin anew, beside the rounds before that.
  const isRepeated = (job.redo ?? []).some((wish) =>
    isWithin(definedPath(wish.from), definedPath(path)),
  );
  if (isRepeated) return undefined;
  return outside(numbersBelow(job, below(path, 'loop')), 0, roundsOf(job, path), 'round');
}

function unfitCase(job: LiveJob, node: Choice, path: string): string | undefined {
  const { chosen } = foundAt(job, path);
  const isCase = isWhole(chosen) && node.choice[chosen] !== undefined;
  const isDefault = chosen === 'default' && node.default !== undefined;
  if (!isCase && !isDefault && chosen !== null) return '"chosen" is none of its cases';
  // A retry that found the choice out anew may have taken another case than the runs before it.
  const { run } = lastAttempt(job, path) as Step;
  const taken = takenAt(job, path);
  const other = childrenOf(node, path).find(
    (child) => child.path !== taken && wasBegun(job, child.path, run),
  );
  if (other === undefined) return undefined;
  const [kind, number] = other.keys;
  return `${kind === 'default' ? 'the default' : `case ${number}`} was begun, and "chosen" differs`;
}

/** Something there was begun in this run or later; a step that somebody left out was not (U3). */
function wasBegun(job: LiveJob, path: string, run: number): boolean {
  if ((lastRunBelow(job, path) ?? 0) < run) return false;
  return job.steps.some(
    (step) => step.run >= run && step.state !== '$$skipped' && isWithin(step.path, path),
  );
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}

/** What the last record about a structure says, which is there. */
function foundAt(job: LiveJob, path: string): Found {
  return marksAt(job, path).at(-1) as Found;
}
