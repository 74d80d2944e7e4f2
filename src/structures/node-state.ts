import type { Step } from '../model/step.js';
import type { Node } from '../model/tree.js';

/**
 * The state of a node in a job. `pending`: not begun; `retrying`: the next attempt is due later;
 * `recovered`: it failed and its handler succeeded; `undone`: done and taken back; `unreached`: it
 * will not begin any more.
 */
export type NodeState =
  | 'pending'
  | 'active'
  | 'waiting'
  | 'retrying'
  | 'done'
  | 'recovered'
  | 'failed'
  | 'skipped'
  | 'cancelled'
  | 'undone'
  | 'unreached';

/** How many items of a map, rounds of a loop, or runs of a node in them have come how far. */
export type Runs = {
  /** How many are known to be to do; of a loop those that have begun. */
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** Running, waiting, or between two attempts. */
  readonly open: number;
};

/**
 * What is known around a node. `isOver`: nothing in it begins any more; `wentOn`: something after
 * it has begun.
 */
export type Situation = { readonly isOver: boolean; readonly wentOn: boolean };

/** Reads the states of the nodes in a structure from the steps of a job. */
export type NodeStates = {
  /** Finds the state of a node, and of all in it. */
  readonly visit: (node: Node, path: string, situation: Situation) => NodeState;
  /** There is nothing in a node to begin, and nothing to find out. */
  readonly hasNoSteps: (node: Node) => boolean;
  /** The state of a node and of all in it is found out already. */
  readonly noteAll: (node: Node, path: string, state: NodeState) => void;
  /** Counts more runs of what is repeated in the structure at a path. */
  readonly countRuns: (path: string, more: Runs) => void;
  /** The state of a step. */
  readonly ofStep: (path: string, isOver: boolean) => NodeState;
  /** Attempts at a path that count, oldest first. */
  readonly at: (path: string) => readonly Step[];
  readonly last: (path: string) => Step | undefined;
  /** Something was done at a path or below it. */
  readonly hasBegun: (path: string) => boolean;
  /** Something was done at a path or below it that was not merely left out. */
  readonly hasRun: (path: string) => boolean;
  /** What is on record about a structure at a path or below it does not fit, in this run. */
  readonly isUnfit: (path: string) => boolean;
  /** The last attempts of all steps right below a path whose next word is one of these. */
  readonly below: (path: string, words: readonly string[]) => readonly Step[];
};

const counts: Readonly<Record<NodeState, keyof Runs | undefined>> = {
  pending: undefined,
  unreached: undefined,
  active: 'open',
  waiting: 'open',
  retrying: 'open',
  done: 'done',
  recovered: 'done',
  skipped: 'done',
  undone: 'done',
  failed: 'failed',
  cancelled: 'failed',
};

/** Counts the runs by how far they have come. */
export function runsOf(states: readonly NodeState[]): Runs {
  const count = (kind: keyof Runs): number => states.filter((one) => counts[one] === kind).length;
  return {
    total: states.length,
    done: count('done'),
    failed: count('failed'),
    open: count('open'),
  };
}

/**
 * Combines the states of several nodes into one: running and waiting nodes come first, then
 * failures when there are more than `tolerated`, then the rest.
 */
export function together(states: readonly NodeState[], isOver: boolean, tolerated = 0): NodeState {
  const some = (...wanted: readonly NodeState[]): boolean =>
    states.some((state) => wanted.includes(state));
  const all = (...wanted: readonly NodeState[]): boolean =>
    states.every((state) => wanted.includes(state));
  if (states.length === 0) return isOver ? 'unreached' : 'pending';
  if (some('active')) return 'active';
  if (some('waiting')) return 'waiting';
  if (some('retrying')) return 'retrying';
  if (all('unreached')) return 'unreached';
  if (all('pending', 'unreached')) return 'pending';
  const bad = states.filter(isBad).length;
  if (bad > tolerated && some('failed')) return 'failed';
  if (some('pending')) return 'active';
  if (bad > tolerated) return 'cancelled';
  if (all('skipped', 'unreached')) return 'skipped';
  if (all('undone', 'unreached')) return 'undone';
  return 'done';
}

/** Whether a node failed, or was cancelled because something else failed. */
export const isBad = (state: NodeState): boolean => state === 'failed' || state === 'cancelled';

/** Whether a node is over and what comes after it may go on. */
export const isGood = (state: NodeState): boolean =>
  ['done', 'recovered', 'skipped', 'undone'].includes(state);

/**
 * Returns `cancelled` for a node that is done or skipped so far but was broken off; otherwise its
 * state.
 */
export function brokenOff(isBrokenOff: boolean, state: NodeState): NodeState {
  return isBrokenOff && (state === 'done' || state === 'skipped') ? 'cancelled' : state;
}

/**
 * Returns the state of parallel nodes when the job ended before all of them began: `cancelled` if
 * the others were only skipped and more than `unneeded` never began, otherwise `state`.
 */
export function beforeAllCame(
  states: readonly NodeState[],
  state: NodeState,
  { isOver, wentOn }: Situation,
  unneeded = 0,
): NodeState {
  const unreached = states.filter((one) => one === 'unreached').length;
  const isCut = isOver && !wentOn && unreached > unneeded;
  return isCut && state === 'skipped' ? 'cancelled' : state;
}
