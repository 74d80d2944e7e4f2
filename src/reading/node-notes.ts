import { addTo } from '../model/grouped.js';
import { definedPath } from '../structures/paths.js';
import { childrenOf } from '../structures/tree.js';
import { isStructure, type Node } from '../model/tree.js';
import { isFailed, type Step } from '../model/step.js';
import { runsOf, together, type NodeState, type Runs } from '../structures/node-state.js';
import type { BegunJob, Trail } from './trail.js';

/** How a node of the tree stands. */
export type NodeReading = {
  readonly state: NodeState;
  /** Attempts that were made, when more than one. */
  readonly attempts?: number;
  readonly runs?: Runs;
  /** The sentence of its last failure. */
  readonly failure?: string;
};

/** What is found out, node by node: each run of a node is noted under its path in the definition. */
export type Notes = {
  readonly trail: Trail;
  readonly job: BegunJob;
  readonly seen: Map<string, Seen[]>;
  readonly runs: Map<string, Runs>;
};
type Seen = { readonly path: string; readonly state: NodeState };

/** Notes how one run of a node stands; returns that. */
export function note({ seen }: Notes, path: string, state: NodeState): NodeState {
  addTo(seen, definedPath(path), { path, state });
  return state;
}

/** Notes the same of a node and of all in it. */
export function noteAll(notes: Notes, node: Node, path: string, state: NodeState): void {
  note(notes, path, state);
  if (!isStructure(node)) return;
  for (const child of childrenOf(node, path)) noteAll(notes, child.node, child.path, state);
}

/** Notes so many more runs of a node. */
export function countRuns({ runs }: Notes, path: string, more: Runs): void {
  const key = definedPath(path);
  const before = runs.get(key) ?? { total: 0, done: 0, failed: 0, open: 0 };
  runs.set(key, {
    total: before.total + more.total,
    done: before.done + more.done,
    failed: before.failed + more.failed,
    open: before.open + more.open,
  });
}

/** How every node stands that was noted: all its runs as one. */
export function nodesIn(notes: Notes): Map<string, NodeReading> {
  const all = [...notes.seen].map(([path, seen]) => [path, sumUp(notes, path, seen)] as const);
  return new Map(all);
}

function sumUp({ trail, runs }: Notes, path: string, seen: readonly Seen[]): NodeReading {
  const states = seen.map(({ state }) => state);
  const steps = seen.flatMap((one) => trail.at(one.path));
  const own = steps.filter(({ structure }) => structure === undefined);
  const known =
    runs.get(path) ?? (path.includes('*') && seen.length > 1 ? runsOf(states) : undefined);
  const failure = messageOf(steps.findLast(isFailed));
  const attempts = seen.length === 1 && own.length > 1 ? { attempts: own.length } : {};
  return {
    state: states.length === 1 ? (states[0] as NodeState) : together(states, trail.isOver),
    ...attempts,
    ...(known === undefined ? {} : { runs: known }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Documents are read as they are: somebody may have edited this one. */
function messageOf(step: Step | undefined): string | undefined {
  const { message } = (step?.['failure'] ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : undefined;
}
