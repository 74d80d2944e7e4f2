import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { widest } from '../../model/limits.js';
import { exits, isOfFlow } from '../../model/step.js';
import { below, isWithin, type Entry } from '../../model/tree.js';
import { leavesOf } from '../../structures/tree.js';
import type { MapOver } from '../../structures/map-slices.js';
import { mostSteps } from './effort.js';
import { listProblem } from './lists.js';
import { definitionOf } from '../../reading/entries.js';
import { entryKindOf } from '../../structures/kinds.js';
import type { Conclusion } from '../../structures/kind.js';
import type { Condition } from '../../structures/progress.js';

/** Maximum number of items, or of slices, of one map. */
const mostItems = 10 * widest;
/** Maximum length of a sliced list; the job stores the whole list. */
const mostSlicedItems = 100_000;

/**
 * Returns what a map concludes from its list: the items, and whether child jobs work on slices of
 * them. Each item of a list without slices adds steps to this job, and so does each slice, so their
 * number is limited. A list that is too large together with those of the other maps fails the flow:
 * a retry would not help.
 */
export function overOf(job: LiveJob, condition: Condition, items: readonly unknown[]): Conclusion {
  const { length } = items;
  const at = below(condition.path, 'map.over');
  const { slice: wanted, do: each } = (condition.node as MapOver).map;
  const entries = leavesOf(each).map(({ entry }) => entry);
  const slice = isSliced(job, condition, length) ? wanted : undefined;
  const parts = slice === undefined ? length : Math.ceil(length / slice);
  const perPart = slice === undefined ? stepsOfItem(job, entries) : 1;
  const most = Math.min(mostItems, Math.floor(mostSteps / perPart));
  if (parts > most || length > mostSlicedItems) {
    const why = failure('OverTooLong', { at, items: length, slice: wanted, most });
    return { kind: 'fail', failure: why, exit: exits.definition };
  }
  const why = listProblem(job, { at, items, isSliced: slice !== undefined, most: mostSteps });
  if (why !== undefined) return { kind: 'fail_flow', failure: why };
  const mark = { items, count: length, ...(slice === undefined ? {} : { slice }) };
  return { kind: 'mark', mark };
}

/**
 * Whether child jobs work on slices of a list: it is longer than one, and steps would not depend on each
 * other across jobs, as with an `undo`, with signals to this job, with deciders, and in the cancel branch.
 */
function isSliced(job: LiveJob, { node, path, phase }: Condition, length: number): boolean {
  const { slice = Infinity, do: each } = (node as MapOver).map;
  if (length <= slice || !isOfFlow(phase) || isWithin(path, 'cancel')) return false;
  return !leavesOf(each).some(
    ({ entry }) => isUndoable(job, entry) || entryKindOf(entry).needsWholeJob?.(entry) === true,
  );
}

/** How many steps an item makes: what may be undone takes another one. */
function stepsOfItem(job: LiveJob, entries: readonly Entry[]): number {
  return entries.length + entries.filter((entry) => isUndoable(job, entry)).length;
}

function isUndoable(job: LiveJob, entry: Entry): boolean {
  return (entry.undo ?? definitionOf(job, entry)?.undo) !== undefined;
}
