import { widest } from '../model/limits.js';
import type { FailedStep, Phase } from '../model/step.js';
import type { Leaf, Node, Structure } from '../model/tree.js';
import type { JobSteps } from './steps.js';

/** A step that may begin: an entry of the flow, or a handler made from one. */
export type Beginning = {
  readonly leaf: Leaf;
  readonly phase: Phase;
  /** Not before this time (epoch ms). */
  readonly due?: number;
};

/** A structure that must find something out before it continues; the answer becomes a step. */
export type Condition = {
  readonly node: Structure;
  readonly path: string;
  readonly phase: Phase;
  /** What is wrong with what is on record about it: nothing is asked, and it fails. */
  readonly unfit?: string;
};

/** What can be done in a node, and which open steps in it are no longer needed. */
export type Work = {
  readonly begin: readonly Beginning[];
  readonly conditions: readonly Condition[];
  /** Paths; open steps at or below them are to be cancelled. */
  readonly drop: readonly string[];
};

/**
 * The progress of a node, computed from the steps. A node that is done or failed may still have
 * work: background steps, and steps to cancel.
 */
export type Progress = Work &
  (
    | { readonly kind: 'open' }
    | { readonly kind: 'done' }
    | { readonly kind: 'failed'; readonly step: FailedStep }
  );

export const noWork: Work = { begin: [], conditions: [], drop: [] };
export const done: Progress = { kind: 'done', ...noWork };
export const open: Progress = { kind: 'open', ...noWork };

export function failedAt(step: FailedStep): Progress {
  return { kind: 'failed', step, ...noWork };
}

/** Combines the work of several nodes. */
export function workOf(all: readonly Work[]): Work {
  const [begin, conditions, drop] = [[] as Beginning[], [] as Condition[], [] as string[]];
  for (const work of all) {
    for (const one of work.begin) begin.push(one);
    for (const one of work.conditions) conditions.push(one);
    for (const one of work.drop) drop.push(one);
  }
  return { begin, conditions, drop };
}

/** The moment at which a tree is read: in the current run, or at the end of the previous one. */
export type View = 'now' | 'before';

/** What a structure needs to compute its progress. */
export type Interpreting = {
  readonly steps: JobSteps;
  readonly view: View;
  readonly phase: Phase;
  /** How far a node inside is. */
  readonly visit: (node: Node, path: string) => Progress;
  /** The same for a node that runs, with all in it, in another phase. */
  readonly visitAs: (phase: Phase, node: Node, path: string) => Progress;
  /** How far a node inside was when the run before this one ended; undefined: there was none. */
  readonly visitBefore: (node: Node, path: string) => Progress | undefined;
  /** Something in a node may go on, or is to be cancelled, when the node is done. */
  readonly leavesWork: (node: Node) => boolean;
  /** For items of maps that have not begun. */
  readonly room: () => Room;
  /** The items of a map that this job goes over for its parent. */
  readonly slice?: { readonly path: string; readonly total: number } | undefined;
  /** The leaf of the child job that goes over a slice of a map. */
  readonly sliceLeaf: (path: string) => Leaf;
};

/** Counts how many items of maps may begin while one job is read. */
export type Room = {
  readonly has: (node: Structure) => boolean;
  readonly take: (node: Structure) => void;
};

/** Items of all maps of a job that are admitted at a time. */
const mostOfAll = 4 * widest;
/** Items of each map that are admitted when all others have taken more: none waits for another. */
const leastOfEach = 10;

/**
 * Creates the room for one job. The items of one map of the definition, in all items and rounds
 * around it, take at most 1,000 places; all maps together 4,000, but each at least 10.
 */
export function createRoom(): Room {
  const taken = new Map<Structure, number>();
  let all = 0;
  const takenBy = (node: Structure): number => taken.get(node) ?? 0;
  return {
    has: (node) => {
      const own = takenBy(node);
      return own < leastOfEach || (own < widest && all < mostOfAll);
    },
    take: (node) => {
      taken.set(node, takenBy(node) + 1);
      all += 1;
    },
  };
}
