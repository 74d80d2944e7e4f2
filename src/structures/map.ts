import { z } from 'zod';
import { failure } from '../model/failures.js';
import { itemsAtOnce, widest } from '../model/limits.js';
import { nameSchema } from '../model/scalars.js';
import { exits, isStopped } from '../model/step.js';
import { below, childPath, isStructure, type ChildNode } from '../model/tree.js';
import { conditionSchema } from './conditions.js';
import { drawInTurn } from './drawing.js';
import type {
  Answers,
  Concluding,
  Conclusion,
  Fields,
  Kind,
  ResultScope,
  RuleBreak,
} from './kind.js';
import { admitted } from './map-places.js';
import {
  badOnes,
  countOf,
  failedInSlices,
  itemsOf,
  partsOf,
  slicesMisfit,
  listsOf,
  slicesProgress,
  slicesState,
  toleratedOf,
  toleranceWords,
  type MapOver,
} from './map-slices.js';
import {
  begunOutside,
  foundBy,
  isWhole,
  markAt,
  marksAt,
  type StoredMark,
  type Mark,
} from './marks.js';
import { beforeAllCame, runsOf, together } from './node-state.js';
import { done } from './progress.js';
import { numberBelow } from './results.js';
import { siblingsProgress } from './siblings.js';
import type { JobSteps } from './steps.js';
import { failWords, onFailSchema, withDo } from './written.js';

const tolerateText = 'must be a number of items, or a share such as "10%"';
const sliceText = 'must be a number of items for each child job (a whole number, 1 or more)';
const limitText = 'must be a number of items at a time (0 = as many as may be)';

const keys = {
  over: z.union([conditionSchema, z.array(z.unknown())], {
    error: 'must be a JSONata expression (a string) or a list',
  }),
  as: z.exactOptional(nameSchema.describe('Name of the item in templates; default: item.')),
  limit: z.exactOptional(
    z
      .int({ error: limitText })
      .min(0, { error: limitText })
      .describe(`So many items at a time; absent or 0, or more: ${widest}.`),
  ),
  slice: z.exactOptional(
    z
      .int({ error: sliceText })
      .min(1, { error: sliceText })
      .describe('A longer list is gone over by child jobs, so many items in each.'),
  ),
  tolerate: z.exactOptional(
    z.union(
      [
        z.int({ error: tolerateText }).min(0, { error: tolerateText }),
        z.string().regex(/^(100|\d{1,2})%$/, { error: tolerateText }),
      ],
      { error: tolerateText },
    ),
  ),
  on_fail: z.exactOptional(onFailSchema),
};

/**
 * Runs the same node for every item of a list, in order, at most `limit` and never more than 1,000
 * at a time. Every item is worked on, whatever became of others; the map fails when more than
 * `tolerate` items fail.
 */
export const map: Kind<MapOver> = {
  written: {
    shape: ({ node }) => ({
      map: z.looseObject(
        { ...keys, do: node },
        { error: 'must be {over, do, as, limit, slice, tolerate}' },
      ),
    }),
    inside: ['over', 'do', 'as', 'limit', 'slice', 'tolerate', 'on_fail'],
    breaks: nameBreaks,
    normalised: ({ map: own }, toNode) => ({ map: withDo(own, toNode) }),
  },
  children,
  repeats: {
    scope({ map: { as } }, number, { items, from = 0 } = {}) {
      if (items === undefined) return {};
      const item = items[number - from];
      return { item, index: number, ...(as === undefined ? {} : { [as]: item }) };
    },
    isThere: (path, number, steps) => hasItem(markAt(steps, path), number),
    isLimited: (node) => (node.map.limit ?? 0) > 0,
  },

  countFailed(node, path, { steps, progressOf }) {
    const { items = [], from = 0, slice } = markAt(steps, path) as Mark;
    const total = items.length;
    const hasFailed = (_: unknown, i: number): boolean => {
      const progress = progressOf(node.map.do, childPath(path, 'map', from + i));
      return progress.kind === 'failed' && !isStopped(progress.step);
    };
    const failed =
      slice === undefined
        ? items.filter(hasFailed).length
        : failedInSlices(path, { total, slice }, steps);
    const tolerated = toleranceWords(node);
    return { failed, total, ...(tolerated === undefined ? {} : { tolerated }) };
  },

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
    mismatch: mismatch,
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
  draw: (node, path, drawing) => drawInTurn(children(node, path), path, drawing),

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

/** What templates and conditions see by themselves; a map cannot call its items so. */
const seen = ['job', 'step', 'params', 'results', 'parent_results', 'index', 'round'];

/** The name of the items must not hide something else. */
function nameBreaks({ map: own }: Fields): readonly RuleBreak[] {
  const name = (own as Fields)['as'];
  if (typeof name !== 'string' || !seen.includes(name)) return [];
  const message = `must be another name: templates see something else as ${name}`;
  return [{ keys: ['map', 'as'], message }];
}

function children({ map: { do: each } }: MapOver, path: string): readonly ChildNode[] {
  return [{ node: each, path: childPath(path, 'map', '*'), keys: ['map', 'do'] }];
}

/** Whether an item of a map is worked on in this job itself. */
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

function mismatch(_node: MapOver, path: string, steps: JobSteps): string | undefined {
  const { items, from = 0, count, slice } = marksAt(steps, path).at(-1) as StoredMark;
  if (!Array.isArray(items)) return 'it has no list of "items"';
  const total = items.length;
  if (count !== undefined && count !== total) return `it has ${total} items, and "count" differs`;
  if (!isWhole(from) || from < 0) return '"from" is no number of an item';
  if (slice !== undefined) return slicesMisfit(path, { total, slice }, steps);
  if (steps.numbersBelow(below(path, 'slice')) !== undefined) {
    return '"slice" is missing, and slices were begun';
  }
  return begunOutside(steps, below(path, 'map'), { from, total, what: 'item' });
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
