import { branchesOf, handlerOf } from '../model/flow.js';
import { isFailed } from '../model/step.js';
import {
  below,
  callbacks,
  childPath,
  childrenOf,
  isStructure,
  type Batch,
  type Choice,
  type Entry,
  type Loop,
  type MapOver,
  type Node,
  type Structure,
} from '../model/tree.js';
import { countRuns, note, noteAll, standingsIn, type Book, type Standing } from './book.js';
import { deciderState, leafState } from './leaf-state.js';
import type { NodeState } from './picture.js';
import { isBad, replacedIn, runsOf, together, toleratedIn, leftOutWhenDone } from './together.js';
import { markOf, trailOf, type Begun, type Trail } from './trail.js';

/**
 * How every node stands, by its path in the definition. What the steps show is told, nothing is
 * decided: a structure stands as what is in it, and what something after it has begun is over.
 */
export function standingsOf(tree: Structure, job: Begun): ReadonlyMap<string, Standing> {
  const trail = trailOf(job);
  const book: Book = { trail, job, seen: new Map(), runs: new Map() };
  const way = { isOver: trail.isOver, wentOn: trail.isSuccess };
  visit(book, tree, '', way);
  const ends = job.flow_definition ?? {};
  for (const { root, tree: branch } of branchesOf(ends)) visit(book, branch, root, way);
  if (handlerOf(ends) !== undefined) {
    note(book, 'error', leafState(trail, 'error', trail.isOver));
  }
  const standings = standingsIn(book);
  standings.set('#begin', { state: 'done' });
  standings.set('#end', { state: endState(job, trail) });
  return standings;
}

/** `isOver`: nothing in it begins any more; `wentOn`: what comes after it has begun. */
type Way = { readonly isOver: boolean; readonly wentOn: boolean };

function visit(book: Book, node: Node, path: string, way: Way): NodeState {
  return isStructure(node)
    ? visitStructure(book, node, path, way)
    : visitEntry(book, node, path, way);
}

function visitEntry(book: Book, entry: Entry, path: string, { isOver }: Way): NodeState {
  const { trail, job } = book;
  const ask = entry.decider === undefined ? leafState : deciderState;
  const state = note(book, path, ask(trail, path, isOver));
  for (const kind of ['error', 'undo'] as const) noteBeside(book, `${path}.${kind}`, isOver);
  const optional = entry.optional ?? job.definitions?.[entry.task]?.optional ?? false;
  return optional && isBad(state) ? 'done' : state;
}

/** A handler, or what undoes a step, and its own handlers, as far as they were called. */
function noteBeside(book: Book, path: string, isOver: boolean): void {
  if (book.trail.last(path) === undefined) return;
  note(book, path, leafState(book.trail, path, isOver));
  noteBeside(book, `${path}.error`, isOver);
}

function visitStructure(book: Book, node: Structure, path: string, way: Way): NodeState {
  const mark = book.trail.last(path);
  if (mark?.state === '$$skipped') {
    visitInside(book, node, path, { ...way, isOver: true });
    return note(book, path, 'skipped');
  }
  // Where a failure is passed over, what failed inside is none that anything came after.
  const inner = node.optional === true ? { ...way, wentOn: false } : way;
  const inside = visitInside(book, node, path, inner);
  if (mark !== undefined && isFailed(mark) && (mark.run === book.trail.run || way.isOver)) {
    return note(book, path, node.optional === true || way.wentOn ? 'done' : 'failed');
  }
  const isPassed = way.wentOn || node.optional === true;
  const state = isPassed && ['failed', 'cancelled'].includes(inside) ? 'done' : inside;
  // The head of a choice has chosen; how the chosen case stands is seen there.
  note(book, path, node.structure === 'choice' && mark?.state === '$$complete' ? 'done' : state);
  return state;
}

function visitInside(book: Book, node: Structure, path: string, way: Way): NodeState {
  const { trail } = book;
  const beside = { isOver: way.isOver, wentOn: false };
  switch (node.structure) {
    case 'sequence': {
      const children = childrenOf(node, path);
      const begun = children.findLastIndex((child) => trail.hasBegun(child.path));
      // A step may have been left out by hand before its turn.
      const ran = children.findLastIndex((child) => trail.hasRun(child.path));
      // What was done may fail after all, for what is on record about it.
      const states = children.map((child, i) =>
        visit(
          book,
          child.node,
          child.path,
          i < begun
            ? { isOver: true, wentOn: (i < ran || way.wentOn) && !trail.isUnfit(child.path) }
            : way,
        ),
      );
      // What is empty is done as soon as it is reached.
      const last = children.findLastIndex((child) => !hasNoSteps(child.node));
      const isBrokenOff = begun >= 0 && !way.wentOn && states[last] === 'unreached';
      return brokenOff(isBrokenOff, together(states, way.isOver));
    }
    case 'parallel':
    case 'graph': {
      const replaced =
        node.structure === 'graph' ? replacedIn(node, path, book.trail.hasBegun) : undefined;
      const all = childrenOf(node, path).map((child) => ({
        state: visit(book, child.node, child.path, beside),
        counts: replaced?.has(child.path) !== true,
      }));
      const states = all.map(({ state }) => state);
      const counted = all.filter(({ state, counts }) => counts || !isBad(state));
      const state = together(
        counted.map(({ state }) => state),
        way.isOver,
        toleratedIn(node),
      );
      return beforeAllCame(states, state, way, leftOutWhenDone(node));
    }
    case 'batch':
      return visitBatch(book, node, path, way);
    case 'choice':
      return visitChoice(book, node, path, way);
    case 'map':
      return visitMap(book, node, path, way);
    case 'loop':
      return visitLoop(book, node, path, way);
  }
}

/**
 * Of nodes beside each other more never came than are not needed: those that were left out do not say
 * how all stand.
 */
function beforeAllCame(
  states: readonly NodeState[],
  state: NodeState,
  way: Way,
  unneeded: number,
): NodeState {
  const unreached = states.filter((one) => one === 'unreached').length;
  const isCut = way.isOver && !way.wentOn && unreached > unneeded;
  return isCut && state === 'skipped' ? 'cancelled' : state;
}

function visitBatch(book: Book, node: Batch, path: string, way: Way): NodeState {
  const { isOver, wentOn } = way;
  const called = callbacks.filter((key) => book.trail.hasBegun(below(path, key)));
  const states = childrenOf(node, path).map((child) => {
    const key = child.keys[0];
    const isBehind = key === 'batch' ? called.length > 0 : called.includes('on_complete');
    const inside = { isOver: isOver || isBehind, wentOn: false };
    return { key, state: visit(book, child.node, child.path, inside) };
  });
  const of = (isWanted: (key: unknown) => boolean): readonly NodeState[] =>
    states.filter(({ key }) => isWanted(key)).map(({ state }) => state);
  const ofBatch = of((key) => key === 'batch');
  const jobs = beforeAllCame(ofBatch, together(ofBatch, isOver, toleratedIn(node)), way, 0);
  // A failure that is ignored calls on_failure all the same. Where there is nothing in the batch, only what was called tells that it went well.
  const isEmpty = jobs === 'pending' || jobs === 'unreached';
  const isCalledWell = called.includes('on_success') && !called.includes('on_failure');
  const isWell =
    ['done', 'skipped', 'undone'].includes(together(ofBatch, isOver)) || (isEmpty && isCalledWell);
  const last = ['on_complete', isWell ? 'on_success' : 'on_failure'] as const;
  // The other one may have been called in an earlier run.
  const state = together([jobs, ...of((key) => last.some((one) => one === key))], isOver);
  const isCut = isOver && last.some((key) => node[key] !== undefined && !called.includes(key));
  return brokenOff(isCut && !wentOn, state);
}

/** There is nothing in it to begin, and nothing to find out. */
function hasNoSteps(node: Node): boolean {
  if (!isStructure(node) || node.when !== undefined) return false;
  const isList = ['sequence', 'parallel', 'graph'].includes(node.structure);
  return isList && childrenOf(node, '').every((child) => hasNoSteps(child.node));
}

/** What is well so far but will not be gone on with. */
function brokenOff(isBrokenOff: boolean, state: NodeState): NodeState {
  return isBrokenOff && (state === 'done' || state === 'skipped') ? 'cancelled' : state;
}

function visitChoice(book: Book, node: Choice, path: string, way: Way): NodeState {
  const mark = markOf(book.trail.last(path));
  const chosen = mark?.['chosen'];
  const taken = typeof chosen === 'number' ? childPath(path, 'choice', chosen) : undefined;
  const chosenPath = chosen === 'default' ? below(path, 'default') : taken;
  let state: NodeState = way.isOver ? 'unreached' : 'pending';
  if (mark !== undefined) state = 'done';
  for (const child of childrenOf(node, path)) {
    const isChosen = child.path === chosenPath;
    const isOver = way.isOver || (mark !== undefined && !isChosen);
    const wentOn = way.wentOn && node.optional !== true;
    const found = visit(book, child.node, child.path, { wentOn, isOver });
    if (isChosen) state = found;
  }
  return state;
}

function visitMap(book: Book, node: MapOver, path: string, way: Way): NodeState {
  const mark = markOf(book.trail.last(path));
  const { items, from = 0, slice, count } = mark ?? {};
  const beside = { isOver: way.isOver, wentOn: false };
  const of = (at: number | string): string => childPath(path, 'map', at);
  if (typeof slice === 'number' && Array.isArray(items)) {
    return visitSlices(book, node, path, { ...way, total: items.length });
  }
  const total = Array.isArray(items) ? items.length : 0;
  if (total === 0) {
    const isOver = way.isOver || mark !== undefined;
    const state = visit(book, node.map.do, of('*'), { isOver, wentOn: false });
    if (typeof count === 'number')
      countRuns(book, path, { total: count, done: count, failed: 0, open: 0 });
    return mark === undefined ? state : 'done';
  }
  const states = Array.from({ length: total }, (_, i) =>
    visit(book, node.map.do, of(Number(from) + i), beside),
  );
  countRuns(book, path, runsOf(states));
  const state = together(states, way.isOver, toleratedIn(node, total));
  return beforeAllCame(states, state, way, leftOutWhenDone(node, total));
}

/** The items are gone over by child jobs: the steps of this job tell only how many failed in each. */
function visitSlices(
  book: Book,
  node: MapOver,
  path: string,
  { total, isOver, wentOn }: Way & { readonly total: number },
): NodeState {
  const size = Number(markOf(book.trail.last(path))?.['slice']);
  const steps = book.trail.below(path, ['slice']);
  let [done, failed, open] = [0, 0, 0];
  for (const step of steps) {
    const at = Number(step.path.slice(step.path.lastIndexOf('.') + 1));
    const items = Math.min(size, total - at * size);
    const state = leafState(book.trail, step.path, isOver);
    const bad =
      typeof step['failed'] === 'number' ? step['failed'] : state === 'failed' ? items : 0;
    if (['active', 'waiting', 'retrying'].includes(state)) open += items;
    else [done, failed] = [done + items - bad, failed + bad];
  }
  countRuns(book, path, { total, done, failed, open });
  const states = steps.map((step) => leafState(book.trail, step.path, isOver));
  const isLeft = steps.length * size < total;
  const rest = isOver ? 'unreached' : 'pending';
  const all = [...states, ...(isLeft ? ([rest] as const) : [])];
  const isTolerated = failed <= toleratedIn(node, total);
  const isBrokenOff = isLeft && isOver && !wentOn;
  const state = brokenOff(isBrokenOff, together(all, isOver, isTolerated ? all.length : 0));
  noteAll(book, node.map.do, childPath(path, 'map', '*'), state);
  return state;
}

function visitLoop(book: Book, node: Loop, path: string, way: Way): NodeState {
  const marks = book.trail
    .at(path)
    .map(markOf)
    .filter((mark) => mark !== undefined);
  const rounds = marks.filter(({ again }) => again === true).length;
  const isEnded = marks.length > rounds;
  const of = (at: number | string): string => childPath(path, 'loop', at);
  if (rounds === 0) {
    const isOver = way.isOver || isEnded;
    const state = visit(book, node.loop.do, of('*'), { isOver, wentOn: false });
    return isEnded ? 'done' : state;
  }
  const states = Array.from({ length: rounds }, (_, round) => {
    const isPast = round < rounds - 1 || isEnded;
    return visit(book, node.loop.do, of(round), isPast ? { isOver: true, wentOn: true } : way);
  });
  countRuns(book, path, runsOf(states));
  const state = states.at(-1) as NodeState;
  if (isEnded || way.wentOn) return state;
  if (way.isOver) return brokenOff(true, state);
  return state === 'done' ? 'active' : state;
}

function endState({ state, exit }: Begun, { isOver }: Trail): NodeState {
  if (!isOver) return 'pending';
  if (state === '$$cancelled') return 'cancelled';
  return exit === 0 ? 'done' : 'failed';
}
