import { branchesOf, handlerOf } from '../model/flow.js';
import { isFailed } from '../model/step.js';
import { isStructure, type Entry, type Node, type Structure } from '../model/tree.js';
import { kindOf } from '../structures/kinds.js';
import { hasNoSteps } from '../structures/tree.js';
import {
  isBad,
  type NodeState,
  type NodeStates,
  type Situation,
} from '../structures/node-state.js';
import { countRuns, note, noteAll, nodesIn, type Notes, type NodeReading } from './node-notes.js';
import { deciderState, leafState } from './leaf-state.js';
import { trailOf, type BegunJob, type Trail } from './trail.js';

/**
 * How every node stands, by its path in the definition. What the steps show is told, nothing is
 * decided: a structure stands as what is in it, and what something after it has begun is over.
 */
export function readNodes(tree: Structure, job: BegunJob): ReadonlyMap<string, NodeReading> {
  const trail = trailOf(job);
  const notes: Notes = { trail, job, seen: new Map(), runs: new Map() };
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
  const nodes = nodesIn(notes);
  nodes.set('#begin', { state: 'done' });
  nodes.set('#end', { state: endState(job, trail) });
  return nodes;
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
  const optional = entry.optional ?? job.definitions?.[entry.task]?.optional ?? false;
  return optional && isBad(state) ? 'done' : state;
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
  const inside = stateOf(node.optional === true ? { ...situation, wentOn: false } : situation);
  const isPassed = situation.wentOn || node.optional === true;
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
