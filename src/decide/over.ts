import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { widest } from '../model/limits.js';
import type { Failure } from '../model/step.js';
import { below, leavesOf, type MapOver, type Node } from '../model/tree.js';
import { mostSteps } from './effort.js';
import { listProblem } from './lists.js';
import { definitionOf } from './serving.js';
import type { Gate } from './structure/progress.js';
import { sliceFor } from './structure/slices.js';

/** Maximum number of items, or of slices, of one map. */
const mostItems = 10 * widest;
/** Maximum length of a sliced list; the job stores the whole list. */
const mostSlicedItems = 100_000;

/** How a map goes over its list; `slice`: so many items go to each child job. */
export type Over =
  | { readonly kind: 'over'; readonly slice?: number }
  /** The list by itself is too long. */
  | { readonly kind: 'too_long'; readonly failure: Failure }
  /** With the lists of the other maps it is too large: no map of the job could go on better. */
  | { readonly kind: 'too_large_together'; readonly failure: Failure };

/**
 * Whether a list is gone over in slices is found out once, with the list. Each item of a list without
 * slices makes steps in this job, and so does each slice: there must not be too many of them.
 */
export function overOf(job: LiveJob, gate: Gate, items: readonly unknown[]): Over {
  const { length } = items;
  const at = below(gate.path, 'map.over');
  const { slice } = sliceFor(job, gate, length);
  const { slice: wanted, do: each } = (gate.node as MapOver).map;
  const parts = slice === undefined ? length : Math.ceil(length / slice);
  const perPart = slice === undefined ? stepsOfItem(job, each) : 1;
  const most = Math.min(mostItems, Math.floor(mostSteps / perPart));
  if (parts > most || length > mostSlicedItems) {
    const why = failure('OverTooLong', { at, items: length, slice: wanted, most });
    return { kind: 'too_long', failure: why };
  }
  const why = listProblem(job, { at, items, isSliced: slice !== undefined, most: mostSteps });
  if (why !== undefined) return { kind: 'too_large_together', failure: why };
  return { kind: 'over', ...(slice === undefined ? {} : { slice }) };
}

/** How many steps an item makes: what may be undone takes another one. */
function stepsOfItem(job: LiveJob, each: Node): number {
  const leaves = leavesOf(each);
  const undoable = leaves.filter(
    ({ entry }) => (entry.undo ?? definitionOf(job, entry)?.undo) !== undefined,
  );
  return leaves.length + undoable.length;
}
