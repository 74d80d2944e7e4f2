import { addTo } from '../model/grouped.js';
import { branchesOf, handlerOf } from '../model/flow.js';
import { isFailed } from '../model/step.js';
import { isStructure, pathsAbove, type Entry, type Node, type Structure } from '../model/tree.js';
import { kindOf } from '../structures/kinds.js';
import { hasNoSteps } from '../structures/tree.js';
import {
  isBad,
  together,
  type NodeState,
  type NodeStates,
  type Situation,
} from '../structures/node-state.js';
import { countRuns, note, noteAll, nodesIn, type Notes, type NodeReading } from './node-notes.js';
import { isOptional } from './entries.js';
import { deciderState, leafState } from './leaf-state.js';
import { trailOf, type BegunJob, type Trail } from './trail.js';

/** The states of the nodes of a job. */
export type TreeReading = {
  /** By path in the definition (`2.map.*.0`): all runs of a node as one. */
  readonly nodes: ReadonlyMap<string, NodeReading>;
  /** By path in the job (`2.map.17.0`): every run by itself, also what deciders and slices began. */
  readonly runs: ReadonlyMap<string, NodeState>;
};

/** Returns the state of every node by its path in the definition. */
export function readNodes(tree: Structure, job: BegunJob): ReadonlyMap<string, NodeReading> {
  return readTree(tree, job).nodes;
}

/**
 * Reads the states of a job from its steps; nothing is decided. A structure has the state of what is
 * in it, and what something after it has begun is over. Without a tree, because the document cannot
 * be drawn, the steps alone are read.
 */
export function readTree(tree: Structure | undefined, job: BegunJob): TreeReading {
  const notes: Notes = { trail: trailOf(job), job, seen: new Map(), runs: new Map() };
  if (tree !== undefined) visitAll(notes, tree);
  const nodes = nodesIn(notes);
  nodes.set('#begin', { state: 'done' });
  nodes.set('#end', { state: endState(job, notes.trail) });
  return { nodes, runs: runsIn(notes) };
}

/** Visits the tree of a flow and what follows a failure or a cancel. */
function visitAll(notes: Notes, tree: Structure): void {
  const { trail, job } = notes;
  const states: NodeStates = {
    ...trail,
    hasNoSteps,
    visit: (node, path, situation) => visit(notes, states, { node, path }, situation),
    noteAll: (node, path, state) => noteAll(notes, node, path, state),
    countRuns: (path, more) => countRuns(notes, path, more),
    ofStep: (path, isOver) => leafState(trail, path, isOver),
  };
  const situation = { isOver: trail.isOver, wentOn: trail.isSuccess };
  states.visit(tree, '', situation);
  const ends = job.flow_definition ?? {};
  for (const { root, tree: branch } of branchesOf(ends)) states.visit(branch, root, situation);
  if (handlerOf(ends) !== undefined) {
    note(notes, 'error', leafState(trail, 'error', trail.isOver));
  }
}

/** Every run that was noted; what is no node of the tree has the state of its attempts. */
function runsIn({ seen, trail }: Notes): ReadonlyMap<string, NodeState> {
  const noted = [...seen.values()].flat().map(({ path, state }) => [path, state] as const);
  const runs = new Map(noted);
  const around = new Map<string, NodeState[]>();
  for (const path of trail.paths) {
    const isMark = trail.at(path).every(({ structure }) => structure !== undefined);
    if (runs.has(path) || isMark) continue;
    const state = leafState(trail, path, trail.isOver);
    runs.set(path, state);
    for (const above of pathsAbove(path)) addTo(around, above, state);
  }
  for (const [path, states] of around) {
    if (!runs.has(path)) runs.set(path, together(states, trail.isOver));
  }
  return runs;
}

type Placed<N extends Node> = { readonly node: N; readonly path: string };

function visit(
  notes: Notes,
  states: NodeStates,
  { node, path }: Placed<Node>,
  situation: Situation,
): NodeState {
  return isStructure(node)
    ? visitStructure(notes, states, { node, path }, situation)
    : visitEntry(notes, node, path, situation);
}

function visitEntry(notes: Notes, entry: Entry, path: string, { isOver }: Situation): NodeState {
  const { trail, job } = notes;
  const ask = entry.decider === undefined ? leafState : deciderState;
  const state = note(notes, path, ask(trail, path, isOver));
  for (const kind of ['error', 'undo'] as const) noteBeside(notes, `${path}.${kind}`, isOver);
  return isOptional(job.definitions, entry, path) && isBad(state) ? 'done' : state;
}

/** A handler, or what undoes a step, and its own handlers, as far as they were called. */
function noteBeside(notes: Notes, path: string, isOver: boolean): void {
  if (notes.trail.last(path) === undefined) return;
  note(notes, path, leafState(notes.trail, path, isOver));
  noteBeside(notes, `${path}.error`, isOver);
}

function visitStructure(
  notes: Notes,
  states: NodeStates,
  { node, path }: Placed<Structure>,
  situation: Situation,
): NodeState {
  const mark = states.last(path);
  const stateOf = (inside: Situation): NodeState => kindOf(node).state(node, path, states, inside);
  if (mark?.state === '$$skipped') {
    stateOf({ ...situation, isOver: true });
    return note(notes, path, 'skipped');
  }
  // Where a failure is passed over, what failed inside is none that anything came after.
  const optional = isOptional(notes.job.definitions, node, path);
  const inside = stateOf(optional ? { ...situation, wentOn: false } : situation);
  const isPassed = situation.wentOn || optional;
  if (mark !== undefined && isFailed(mark) && (mark.run === notes.trail.run || situation.isOver)) {
    return note(notes, path, isPassed ? 'done' : 'failed');
  }
  const state = isPassed && isBad(inside) ? 'done' : inside;
  // The head of a fork has chosen; the state of the chosen way is seen there.
  const hasChosen = kindOf(node).isFork === true && mark?.state === '$$complete';
  note(notes, path, hasChosen ? 'done' : state);
  return state;
}

function endState({ state, exit }: BegunJob, { isOver }: Trail): NodeState {
  if (!isOver) return 'pending';
  if (state === '$$cancelled') return 'cancelled';
  return exit === 0 ? 'done' : 'failed';
}
