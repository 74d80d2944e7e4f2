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

/** How the items of a map, the rounds of a loop, or the runs of a node in them stand together. */
export type Runs = {
  /** How many are known to be to do; of a loop those that have begun. */
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** Running, waiting, or between two attempts. */
  readonly open: number;
};

/** `isOver`: nothing in it begins any more; `wentOn`: what comes after it has begun. */
export type Situation = { readonly isOver: boolean; readonly wentOn: boolean };

/** The states of what is in a structure, and what the steps tell of them. */
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

/** How many of several runs have come how far. */
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
 * The state of several nodes as one: what is under way counts first, then what went wrong, when that is more
 * than `tolerated`.
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

/** It failed, or was broken off because something else had. */
export const isBad = (state: NodeState): boolean => state === 'failed' || state === 'cancelled';

/** What is well so far but will not be gone on with. */
export function brokenOff(isBrokenOff: boolean, state: NodeState): NodeState {
  return isBrokenOff && (state === 'done' || state === 'skipped') ? 'cancelled' : state;
}

/**
 * The state of nodes beside each other of which more never came than are not needed: those that were
 * left out do not say how all stand.
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
