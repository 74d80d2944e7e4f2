import { isGood, type NodeState } from '../structures/node-state.js';
import type { NodeReading } from './node-notes.js';

/** A node of a job with what it is: the word of an entry or a structure, `handler` or `undo`. */
type CountedNode = Partial<Pick<NodeReading, 'state' | 'runs'>> & { readonly kind: string };

/** How far a job is: steps of the flow that are done, of those that are known to come. */
export type JobProgress<N> = {
  readonly done: number;
  readonly failed: number;
  /** Grows as lists of maps and rounds of loops become known. */
  readonly total: number;
  /** What is under way now, in the order of the nodes. */
  readonly current: readonly N[];
};

const steps: readonly string[] = ['task', 'wait', 'approve', 'delay', 'flow', 'decider'];
const ofFailures: readonly string[] = ['handler', 'undo'];
const underWay: readonly NodeState[] = ['active', 'waiting', 'retrying'];

/** Counts the steps among the nodes of a job; those that will not come any more do not count. */
export function progressIn<N extends CountedNode>(nodes: readonly N[]): JobProgress<N> {
  const counted = nodes.filter(({ kind, state }) => steps.includes(kind) && state !== 'unreached');
  const sum = (count: (node: N) => number): number =>
    counted.reduce((total, node) => total + count(node), 0);
  const one = (isSo: boolean): number => (isSo ? 1 : 0);
  return {
    done: sum(({ runs, state }) => runs?.done ?? one(state !== undefined && isGood(state))),
    failed: sum(({ runs, state }) => runs?.failed ?? one(state === 'failed')),
    total: sum(({ runs }) => runs?.total ?? 1),
    current: nodes.filter(
      ({ kind, state }) =>
        (steps.includes(kind) || ofFailures.includes(kind)) && isOf(underWay, state),
    ),
  };
}

const isOf = (states: readonly NodeState[], state: NodeState | undefined): boolean =>
  state !== undefined && states.includes(state);
