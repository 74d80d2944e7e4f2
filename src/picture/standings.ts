import { branchesOf, handlerOf } from '../model/flow.js';
import { isFailed, type Step } from '../model/step.js';
import {
  below,
  callbacks,
  childPath,
  childrenOf,
  definedPath,
  isStructure,
  type Batch,
  type Choice,
  type Entry,
  type Loop,
  type MapOver,
  type Node,
  type Structure,
} from '../model/tree.js';
import { deciderState, leafState } from './leaf-state.js';
import type { NodeState, PictureNode, Runs } from './picture.js';
import { isBad, replacedIn, runsOf, together, toleratedIn } from './together.js';
import { markOf, trailOf, type Begun, type Trail } from './trail.js';

/** How a node of the picture stands. */
export type Standing = Pick<PictureNode, 'attempts' | 'runs' | 'failure'> & {
  readonly state: NodeState;
};

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
  const standings = new Map<string, Standing>();
  for (const [path, seen] of book.seen) standings.set(path, sumUp(book, path, seen));
  standings.set('#begin', { state: 'done' });
  standings.set('#end', { state: endState(job, trail) });
  return standings;
}

/** What is found out, node by node: each run of a node is noted under its path in the definition. */
type Book = {
  readonly trail: Trail;
  readonly job: Begun;
  readonly seen: Map<string, Seen[]>;
  readonly runs: Map<string, Runs>;
};
type Seen = { readonly path: string; readonly state: NodeState };

/** `isOver`: nothing in it begins any more; `wentOn`: what comes after it has begun. */
type Way = { readonly isOver: boolean; readonly wentOn: boolean };

function note({ seen }: Book, path: string, state: NodeState): NodeState {
  const key = definedPath(path);
  const list = seen.get(key);
  if (list === undefined) seen.set(key, [{ path, state }]);
  else list.push({ path, state });
  return state;
}

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
  return optional && state === 'failed' ? 'done' : state;
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
      const states = children.map((child, i) =>
        visit(
          book,
          child.node,
          child.path,
          i < begun ? { isOver: true, wentOn: i < ran || way.wentOn } : way,
        ),
      );
      const isBrokenOff = begun >= 0 && !way.wentOn && states.at(-1) === 'unreached';
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
      const isCut = way.isOver && !way.wentOn && states.includes('unreached');
      return isCut && state === 'skipped' ? 'cancelled' : state;
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

function visitBatch(book: Book, node: Batch, path: string, { isOver, wentOn }: Way): NodeState {
  const called = callbacks.filter((key) => book.trail.hasBegun(below(path, key)));
  const states = childrenOf(node, path).map((child) => {
    const key = child.keys[0];
    const isBehind = key === 'batch' ? called.length > 0 : called.includes('on_complete');
    const way = { isOver: isOver || isBehind, wentOn: false };
    return { key, state: visit(book, child.node, child.path, way) };
  });
  const of = (isWanted: (key: unknown) => boolean): readonly NodeState[] =>
    states.filter(({ key }) => isWanted(key)).map(({ state }) => state);
  const ofBatch = of((key) => key === 'batch');
  const jobs = together(ofBatch, isOver, toleratedIn(node));
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
    return visitSlices(book, node, path, { total: items.length, isOver: way.isOver });
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
  return together(states, way.isOver, toleratedIn(node, total));
}

/** The items are gone over by child jobs: the steps of this job tell only how many failed in each. */
function visitSlices(
  book: Book,
  node: MapOver,
  path: string,
  { total, isOver }: { readonly total: number; readonly isOver: boolean },
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
  const all = [...states, ...(isLeft ? (['pending'] as const) : [])];
  const isTolerated = failed <= toleratedIn(node, total);
  const state = together(all, isOver, isTolerated ? all.length : 0);
  noteAll(book, node.map.do, childPath(path, 'map', '*'), state);
  return state;
}

function noteAll(book: Book, node: Node, path: string, state: NodeState): void {
  note(book, path, state);
  if (!isStructure(node)) return;
  for (const child of childrenOf(node, path)) noteAll(book, child.node, child.path, state);
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

function countRuns({ runs }: Book, path: string, more: Runs): void {
  const key = definedPath(path);
  const before = runs.get(key) ?? { total: 0, done: 0, failed: 0, open: 0 };
  runs.set(key, {
    total: before.total + more.total,
    done: before.done + more.done,
    failed: before.failed + more.failed,
    open: before.open + more.open,
  });
}

/** All runs of a node as one. */
function sumUp({ trail, runs }: Book, path: string, seen: readonly Seen[]): Standing {
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

function endState({ state, exit }: Begun, { isOver }: Trail): NodeState {
  if (!isOver) return 'pending';
  if (state === '$$cancelled') return 'cancelled';
  return exit === 0 ? 'done' : 'failed';
}
