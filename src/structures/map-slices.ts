import { itemsAtOnce } from '../model/limits.js';
import { exits, isFailed, isOpen, isStopped, type FailedStep, type Step } from '../model/step.js';
import { below, childPath, type Node, type OnFail, type Structure } from '../model/tree.js';
import {
  brokenOff,
  together,
  type NodeState,
  type NodeStates,
  type Situation,
} from './node-state.js';
import { done, failedAt, noWork, type Interpreting, type Progress } from './progress.js';
import { firstOf } from './siblings.js';
import type { ResultScope } from './kind.js';
import { begunOutside, foundBy, isWhole, type Mark } from './marks.js';
import type { JobSteps } from './steps.js';

export type MapOver = Structure & {
  readonly structure: 'map';
  readonly map: {
    /** JSONata, or the list itself. */
    readonly over: string | readonly unknown[];
    /** Name of the item in templates and conditions; `item` always is one. */
    readonly as?: string;
    /** So many items at a time; absent or 0: all. */
    readonly limit?: number;
    /** A longer list is gone over by child jobs, so many items in each. */
    readonly slice?: number;
    /** So many items may fail: a number, or a share such as `10%`. */
    readonly tolerate?: number | string;
    readonly on_fail?: OnFail;
    readonly do: Node;
  };
};

/** Returns the number of items in the list of a map. */
export function countOf({ count, items = [] }: Mark): number {
  return count ?? items.length;
}

/** The items of a map that one child job works on. */
export type SliceOfItems = { readonly path: string; readonly from: number; readonly size: number };

/** Returns the slices of the map at a path with `total` items, in their order. */
export function slicesOf(path: string, total: number, slice: number): readonly SliceOfItems[] {
  return Array.from({ length: Math.ceil(total / slice) }, (_, i) => {
    const from = i * slice;
    return { path: below(path, `slice.${i}`), from, size: Math.min(slice, total - from) };
  });
}

/**
 * Returns the progress of a map whose list child jobs work on: each has a slice of the items and
 * reports how many of them failed. The result is the same as in one job.
 */
export function slicesProgress(
  node: MapOver,
  path: string,
  { total, slice }: { readonly total: number; readonly slice: number },
  { steps, view, phase, sliceLeaf }: Interpreting,
): Progress {
  const { on_fail: onFail = 'wait' } = node.map;
  const parts = slicesOf(path, total, slice);
  const slices = parts.map((part) => sliceStateOf(part, steps, view === 'now'));
  const busy = slices.filter(({ kind }) => kind === 'open');
  const waiting = slices.filter(({ kind }) => kind === 'waiting');
  const failures = slices.flatMap(({ step }) => (step === undefined ? [] : [step]));
  const failed = slices.reduce((sum, one) => sum + one.failed, 0);
  const isFailing = failed > toleratedOf(node, total);
  if (isFailing && onFail === 'cancel_rest') {
    return { ...failedAt(firstOf(failures)), drop: busy.map((one) => one.path) };
  }
  if (busy.length + waiting.length === 0) {
    return isFailing && onFail === 'wait' ? failedAt(firstOf(failures)) : done;
  }
  const most = Math.max(1, Math.floor(itemsAtOnce(node.map) / slice));
  const admitted = waiting.slice(0, Math.max(0, most - busy.length));
  const begin = admitted.map((one) => ({ leaf: sliceLeaf(one.path), phase }));
  return { kind: 'open', ...noWork, begin };
}

/**
 * How a slice stands; `failed`: number of items that failed, `step` says why; `stopped`: number of these
 * that were only cancelled.
 */
type SliceState = {
  readonly path: string;
  readonly kind: 'waiting' | 'open' | 'ended';
  readonly failed: number;
  readonly stopped?: number;
  readonly step?: FailedStep;
};

/** In a further run of the flow a slice of which something failed goes on. */
function sliceStateOf({ path, size }: SliceOfItems, steps: JobSteps, isNow: boolean): SliceState {
  const last = steps.last(path);
  if (last === undefined) return { path, kind: 'waiting', failed: 0 };
  if (isOpen(last)) return { path, kind: 'open', failed: 0 };
  const failed = failedIn(last) ?? (isFailed(last) ? size : 0);
  if (failed > 0 && last.run < steps.run && isNow) return { path, kind: 'waiting', failed: 0 };
  return failed === 0
    ? { path, kind: 'ended', failed }
    : { path, kind: 'ended', failed, stopped: stoppedIn(last, failed), step: asFailed(last) };
}

function stoppedIn(step: Step, failed: number): number {
  if ('stopped' in step) return step.stopped as number;
  return isStopped(step) && !('failed' in step) ? failed : 0;
}

function failedIn(step: Step): number | undefined {
  return 'failed' in step ? (step.failed as number) : undefined;
}

/** A slice in which no more failed than the whole map tolerates is complete, and warns of them. */
function asFailed(step: Step): FailedStep {
  if (isFailed(step)) return step;
  const { warning } = step as { readonly warning: FailedStep['failure'] };
  return { ...step, state: '$$error', exit: exits.failed, failure: warning } as FailedStep;
}

/** Returns how many items failed in the slices of a map that have ended; cancelled ones do not count. */
export function failedInSlices(
  path: string,
  { total, slice }: { readonly total: number; readonly slice: number },
  steps: JobSteps,
): number {
  const parts = slicesOf(path, total, slice).map((part) => sliceStateOf(part, steps, false));
  return parts.reduce((sum, { failed, stopped = 0 }) => sum + failed - stopped, 0);
}

/** `2 %`, or a number: how many items of a map may fail; undefined: none. */
export function toleranceWords({ map: { tolerate = 0 } }: MapOver): string | undefined {
  if (typeof tolerate === 'string') return `${Number.parseInt(tolerate, 10)} %`;
  return tolerate === 0 ? undefined : String(tolerate);
}

/** Returns how many items of a map may fail. */
export function toleratedOf({ map: { tolerate = 0 } }: MapOver, total: number): number {
  if (typeof tolerate === 'number') return Math.min(tolerate, total);
  return Math.floor((Number.parseInt(tolerate, 10) * total) / 100);
}

/** The result of a slice of a map: the results of its items, and those of its steps by name. */
export type SliceResult = {
  readonly items?: readonly unknown[];
  /** By step name and by `<task>-<n>`, a list each; absent where `do` is one entry. */
  readonly results?: Readonly<Record<string, readonly unknown[]>>;
};

/** A slice with its number of items and its result; an empty result when it has not ended. */
export type Part = { readonly size: number; readonly result: SliceResult };

/**
 * Returns the results of all items, in their order; null for items of slices that have not ended.
 */
export function itemsOf(parts: readonly Part[]): readonly unknown[] {
  return parts.flatMap(({ size, result }) => result.items ?? nothing(size));
}

/**
 * Returns the results of each step in a sliced map, as lists. `names`: the map runs a single entry,
 * and the results of the items are seen under its names.
 */
export function listsOf(
  parts: readonly Part[],
  names: readonly string[] | undefined,
): Readonly<Record<string, readonly unknown[]>> {
  if (names !== undefined) {
    const items = itemsOf(parts);
    return Object.fromEntries(names.map((name) => [name, items]));
  }
  const all = new Set(parts.flatMap(({ result }) => Object.keys(result.results ?? {})));
  return Object.fromEntries(
    [...all].map((name) => [
      name,
      parts.flatMap(({ size, result }) => result.results?.[name] ?? nothing(size)),
    ]),
  );
}

function nothing(size: number): readonly null[] {
  return Array.from({ length: size }, () => null);
}

/** Returns how many items may fail or be cancelled before the map counts as failed. */
export function badOnes(node: MapOver, total: number): number {
  return node.map.on_fail === 'ignore' ? Infinity : toleratedOf(node, total);
}

/**
 * Returns the state of a sliced map. The steps of this job tell only how many items failed in each
 * slice.
 */
export function slicesState(
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

/** Returns the results of the slices of a map, in the order of its items. */
export function partsOf(
  path: string,
  mark: Mark,
  slice: number,
  scope: ResultScope,
): readonly Part[] {
  return slicesOf(path, countOf(mark), slice).map(({ path: at, size }) => {
    const ended = scope.steps.last(at);
    const result = ended !== undefined && 'result' in ended ? scope.resultOf(ended) : undefined;
    return { size, result: result ?? {} };
  });
}

/** Returns what does not match in the records of a sliced map; undefined: everything does. */
export function slicesMisfit(
  path: string,
  { total, slice }: { readonly total: number; readonly slice: unknown },
  steps: JobSteps,
): string | undefined {
  if (!isWhole(slice) || slice < 1) return '"slice" is no number of items';
  if (steps.numbersBelow(below(path, 'map')) !== undefined) {
    return 'it has a "slice", and items were begun without';
  }
  const slices = slicesOf(path, total, slice);
  const other = slices.find((part) => hasOther(steps.last(part.path), part.size));
  if (other !== undefined) return `the result at ${other.path} has not ${other.size} items`;
  const begun = { from: 0, total: slices.length, what: 'slice' };
  return begunOutside(steps, below(path, 'slice'), begun);
}

/** The result of a slice that ended well, unless it is kept in an attachment. */
function hasOther(step: Step | undefined, size: number): boolean {
  const { items } = foundBy(step) ?? {};
  return Array.isArray(items) && items.length !== size;
}
