import { failure } from '../model/failures.js';
import { itemsAtOnce } from '../model/limits.js';
import { exits, type Step } from '../model/step.js';
import { below, childPath, childrenOf, isStructure, type MapOver } from '../model/tree.js';
import { drawInTurn } from './drawing.js';
import type { Answers, Conclusion, Concluding, Kind, ResultScope } from './kind.js';
import { admitted } from './map-items.js';
import {
  itemsOf,
  listsOf,
  slicesOf,
  slicesProgress,
  toleratedOf,
  type Part,
} from './map-slices.js';
import { begunOutside, isWhole, markAt, marksAt, type Found, type Mark } from './marks.js';
import {
  beforeAllCame,
  brokenOff,
  foundBy,
  runsOf,
  together,
  type NodeState,
  type NodeStates,
  type Situation,
} from './node-state.js';
import { done } from './progress.js';
import { numberBelow } from './results.js';
import { siblingsProgress } from './siblings.js';
import type { JobSteps } from './steps.js';
import { failWords } from './words.js';

/**
 * The same for every item of a list, in its order, at most `limit` and never more than 1,000 at a time. Every item is worked
 * on, whatever became of others; more failures than `tolerate` make it fail.
 */
export const map: Kind<MapOver> = {
  progress(node, path, interpreting) {
    const { on_fail: onFail = 'wait' } = node.map;
    const { items = [], from = 0, slice } = markAt(interpreting.steps, path) as Mark;
    const total = items.length;
    if (total === 0) return done;
    if (slice !== undefined) return slicesProgress(node, path, { total, slice }, interpreting);
    const most = itemsAtOnce(node.map);
    const siblings = admitted(node, { path, from, total, most }, interpreting);
    // A slice may have as many failures as the whole list.
    const { slice: own } = interpreting;
    const needed = total - toleratedOf(node, own?.path === path ? own.total : total);
    const rule = { needed, total, onFail, cancelRest: false, allEnd: true };
    return siblingsProgress(siblings, rule);
  },

  isConcurrent: true,
  onFail: (node) => node.map.on_fail,
  isAfter: () => false,
  /** Slices are gone over again with all items. */
  isRepeatedWith: ({ at }, [word]) => at === '*' && word === 'slice',

  finding: {
    isFirst: true,
    asks: ({ map: { over } }) =>
      typeof over === 'string' ? [{ at: 'map.over', expression: over }] : [],
    conclude({ map: { over }, name }, answers, concluding) {
      return typeof over === 'string'
        ? listFound(answers, { over, name, ...concluding })
        : concluding.judgeList(over);
    },
    misfit,
  },

  results: {
    isGroup: true,
    // Each is a list by itself.
    parts: () => [],
    value(_values, { node, path, scope }) {
      const mark = markAt(scope.steps, path);
      if (mark === undefined) return undefined;
      if (mark.slice !== undefined) return itemsOf(partsOf(path, mark, mark.slice, scope));
      const { from = 0 } = mark;
      return Array.from(
        { length: countOf(mark) },
        (_, i) => scope.valueOf(node.map.do, childPath(path, 'map', from + i)) ?? null,
      );
    },
    enterLists,
    addBefore({ map: { do: each } }, path, target, scope) {
      const item = numberBelow(target, below(path, 'map'));
      if (item !== undefined) scope.addBefore(each, childPath(path, 'map', item), target);
    },
  },

  words(node) {
    const { over, as, limit = 0, tolerate, on_fail: onFail, slice } = node.map;
    const list = typeof over === 'string' ? over : `${over.length} items`;
    const notes = [
      ...(as === undefined ? [] : [`as ${as}`]),
      ...(limit > 0 ? [`${limit} at a time`] : []),
      ...(slice === undefined ? [] : [`slices of ${slice}`]),
      ...(tolerate === undefined ? [] : [`${tolerate} may fail`]),
    ];
    return { label: `for each of ${list}`, notes: [...notes, ...failWords(onFail)] };
  },
  draw: (node, path, drawing) => drawInTurn(childrenOf(node, path), path, drawing),

  state(node, path, states, situation) {
    const { visit, countRuns } = states;
    const { isOver } = situation;
    const mark = foundBy(states.last(path));
    const { items, from = 0, slice, count } = mark ?? {};
    const total = Array.isArray(items) ? items.length : 0;
    if (typeof slice === 'number' && Array.isArray(items)) {
      return slicesState(node, path, states, { ...situation, total, slice });
    }
    const each = node.map.do;
    if (total === 0) {
      const inside = { isOver: isOver || mark !== undefined, wentOn: false };
      const state = visit(each, childPath(path, 'map', '*'), inside);
      if (typeof count === 'number')
        countRuns(path, { total: count, done: count, failed: 0, open: 0 });
      return mark === undefined ? state : 'done';
    }
    const all = Array.from({ length: total }, (_, i) =>
      visit(each, childPath(path, 'map', Number(from) + i), { isOver, wentOn: false }),
    );
    countRuns(path, runsOf(all));
    const state = together(all, isOver, badOnes(node, total));
    return beforeAllCame(all, state, situation, toleratedOf(node, total));
  },
};

/** How many items the list of a map has. */
export function countOf({ count, items = [] }: Mark): number {
  return count ?? items.length;
}

/** An item of a map that is gone over in this job itself. */
export function hasItem(mark: Mark | undefined, number: number): boolean {
  const { items = [], from = 0, slice } = mark ?? {};
  return slice === undefined && number >= from && number < from + items.length;
}

function listFound(
  answers: Answers,
  { over, name, path, judgeList }: Concluding & { over: string; name: string | undefined },
): Conclusion {
  const answer = answers(0);
  if (!answer.ok) return answer.failed;
  const items = listFrom(answer.value);
  if (items === undefined) {
    const at = below(path, 'map.over');
    const why = failure('OverInvalid', { at, kind: describe(answer.value) });
    return { kind: 'fail', failure: why, exit: exits.definition };
  }
  const conclusion = judgeList(items);
  if (answer.value !== undefined || conclusion.kind !== 'mark') return conclusion;
  // A list that is not there is often a misspelled one: the job says so, once for all rounds and items.
  const problem = `"over" of the map ${name ?? `at ${path}`} (${over}) found nothing; the map has no items.`;
  return { ...conclusion, problem };
}

/** JSONata gives nothing for an empty list, and the item itself for a list of one. */
function listFrom(value: unknown): readonly unknown[] | undefined {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value as readonly unknown[];
  return ['object', 'string', 'number'].includes(typeof value) ? [value] : undefined;
}

function describe(value: unknown): string {
  return typeof value === 'boolean' ? String(value) : `a ${typeof value}`;
}

function misfit(_node: MapOver, path: string, steps: JobSteps): string | undefined {
  const { items, from = 0, count, slice } = marksAt(steps, path).at(-1) as Found;
  if (!Array.isArray(items)) return 'it has no list of "items"';
  const total = items.length;
  if (count !== undefined && count !== total) return `it has ${total} items, and "count" differs`;
  if (!isWhole(from) || from < 0) return '"from" is no number of an item';
  const [inItems, inSlices] = [below(path, 'map'), below(path, 'slice')];
  if (slice === undefined) {
    if (steps.numbersBelow(inSlices) !== undefined) {
      return '"slice" is missing, and slices were begun';
    }
    return begunOutside(steps, inItems, { from, total, what: 'item' });
  }
  if (!isWhole(slice) || slice < 1) return '"slice" is no number of items';
  if (steps.numbersBelow(inItems) !== undefined) {
    return 'it has a "slice", and items were begun without';
  }
  const slices = slicesOf(path, total, slice);
  const other = slices.find((part) => tellsOther(steps.last(part.path), part.size));
  if (other !== undefined) return `the result at ${other.path} has not ${other.size} items`;
  return begunOutside(steps, inSlices, { from: 0, total: slices.length, what: 'slice' });
}

/** The result of a slice that ended well, unless it is kept in an attachment. */
function tellsOther(step: Step | undefined, size: number): boolean {
  const { items } = foundBy(step) ?? {};
  return Array.isArray(items) && items.length !== size;
}

/** What the slices of a map told, in the order of its items. */
function partsOf(path: string, mark: Mark, slice: number, scope: ResultScope): readonly Part[] {
  return slicesOf(path, countOf(mark), slice).map(({ path: at, size }) => {
    const ended = scope.steps.last(at);
    const told = ended !== undefined && 'result' in ended ? scope.resultOf(ended) : undefined;
    return { size, told: told ?? {} };
  });
}

/** The results of each entry in a map, as a list. */
function enterLists({ map: { do: each } }: MapOver, path: string, scope: ResultScope): void {
  const mark = markAt(scope.steps, path) as Mark;
  const { from = 0, slice } = mark;
  if (slice !== undefined) {
    // The names under which the result of an entry is seen.
    const leaf = isStructure(each) ? undefined : scope.leafAt(childPath(path, 'map', 0));
    const names = leaf && [leaf.name, leaf.label];
    return scope.name(listsOf(partsOf(path, mark, slice, scope), names));
  }
  const all = Array.from({ length: countOf(mark) }, (_, i) =>
    scope.resultsIn(each, childPath(path, 'map', from + i)),
  );
  const names = new Set(all.flatMap((results) => Object.keys(results)));
  const lists = [...names].map((name) => [name, all.map((results) => results[name] ?? null)]);
  scope.name(Object.fromEntries(lists) as Record<string, unknown>);
}

function badOnes(node: MapOver, total: number): number {
  return node.map.on_fail === 'ignore' ? Infinity : toleratedOf(node, total);
}

/** The items are gone over by child jobs: the steps of this job tell only how many failed in each. */
function slicesState(
  node: MapOver,
  path: string,
  states: NodeStates,
  { total, slice, isOver, wentOn }: Situation & { readonly total: number; readonly slice: number },
): NodeState {
  let [done, failed, open] = [0, 0, 0];
  const all: NodeState[] = [];
  for (const step of states.below(path, ['slice'])) {
    const at = Number(step.path.slice(step.path.lastIndexOf('.') + 1));
    const items = Math.min(slice, total - at * slice);
    const state = states.ofStep(step.path, isOver);
    const bad =
      typeof step['failed'] === 'number' ? step['failed'] : state === 'failed' ? items : 0;
    if (['active', 'waiting', 'retrying'].includes(state)) open += items;
    else [done, failed] = [done + items - bad, failed + bad];
    all.push(state);
  }
  states.countRuns(path, { total, done, failed, open });
  const isLeft = all.length * slice < total;
  if (isLeft) all.push(isOver ? 'unreached' : 'pending');
  const isTolerated = failed <= badOnes(node, total);
  const isBrokenOff = isLeft && isOver && !wentOn;
  const state = brokenOff(isBrokenOff, together(all, isOver, isTolerated ? all.length : 0));
  states.noteAll(node.map.do, childPath(path, 'map', '*'), state);
  return state;
}
