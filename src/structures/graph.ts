import { isWithin } from './paths.js';
import type { FailedStep } from '../model/step.js';
import {
  childPath,
  childrenOf,
  type Graph,
  type GraphJoin,
  type GraphNode,
} from '../model/tree.js';
import type { Drawing, Way } from './drawing.js';
import type { Kind, ResultScope } from './kind.js';
import { beforeAllCame, isBad, together } from './node-state.js';
import { failedAt, noWork, open, workOf, type Interpreting, type Progress } from './progress.js';
import { valuesByKey } from './results.js';
import { firstOf } from './siblings.js';
import { failWords } from './words.js';

/**
 * Each node begins when those in its `after` have ended as its `join` asks; one whose `after` can
 * not come true any more is cut off. The graph ends when every node has ended or is cut off, and
 * fails when one of them failed, or was cut off by a failure, for which no other came in (`join` of
 * `any` or a number).
 */
export const graph: Kind<Graph> = {
  progress(node, path, interpreting) {
    const { on_fail: onFail = 'wait' } = node;
    const { branches, replaced, dropped } = settledBranches(node.graph, path, interpreting);
    const drops = { ...noWork, drop: dropped };
    const left = branches.filter(({ path: at }) => !dropped.includes(at));
    const begun = left.flatMap(({ progress }) => (progress === undefined ? [] : [progress]));
    const failures = left.flatMap(({ name, step }) =>
      step === undefined || replaced.has(name) ? [] : [step],
    );
    if (failures.length > 0 && onFail === 'cancel_rest') {
      return failedAt(firstOf(failures));
    }
    const all = workOf([drops, ...begun]);
    if (left.some(({ end }) => end === 'open')) return { kind: 'open', ...all };
    return failures.length > 0 && onFail === 'wait'
      ? failedAt(firstOf(failures))
      : { kind: 'done', ...all };
  },

  isConcurrent: true,
  onFail: (node) => node.on_fail,
  /** Over any number of nodes between. */
  isAfter: (node, one, other) => namesBefore(node.graph, one.at).has(other.at),

  results: {
    isGroup: true,
    parts: (node, path) =>
      Object.entries(node.graph).map(([key, child]) => ({
        key,
        node: child,
        path: childPath(path, 'graph', key),
      })),
    value: valuesByKey,
    addBefore,
  },

  words: (node) => ({ label: 'graph', notes: failWords(node.on_fail) }),
  draw: drawGraph,

  state(node, path, { visit, hasBegun }, situation) {
    const replaced = replacedIn(node, path, hasBegun);
    const inside = { isOver: situation.isOver, wentOn: false };
    const all = childrenOf(node, path).map((child) => ({
      state: visit(child.node, child.path, inside),
      counts: !replaced.has(child.path),
    }));
    const counted = all.filter(({ state, counts }) => counts || !isBad(state));
    const states = counted.map(({ state }) => state);
    const tolerated = node.on_fail === 'ignore' ? Infinity : 0;
    const state = together(states, situation.isOver, tolerated);
    return beforeAllCame(
      all.map((one) => one.state),
      state,
      situation,
    );
  },
};

/** How far a node of the graph is; without a progress it can never begin. */
type Branch = {
  readonly name: string;
  readonly node: GraphNode;
  readonly path: string;
  readonly progress?: Progress;
  /** `failed`: it failed, or never began because something before it had; `cancelled`: not needed. */
  readonly end: 'open' | 'done' | 'failed' | 'cancelled';
  /** The step that failed. */
  readonly step?: FailedStep;
};

type Branches = {
  readonly branches: readonly Branch[];
  /** Names of nodes in whose stead another one was enough for a node that began. */
  readonly replaced: ReadonlySet<string>;
  /** Paths of nodes that are to be cancelled because a node after them has begun. */
  readonly dropped: readonly string[];
};

/**
 * What is cancelled and at rest never ends by itself: nobody waits for it. What then begins may cancel
 * more, until nothing further comes to rest.
 */
function settledBranches(
  nodes: Graph['graph'],
  path: string,
  interpreting: Interpreting,
): Branches {
  const atRest = new Set<string>();
  for (;;) {
    const found = branchesOf(nodes, path, interpreting, atRest);
    const more = found.dropped.filter((at) => !interpreting.steps.isBusyBelow(at));
    if (more.length === 0) return found;
    for (const at of more) atRest.add(at);
  }
}

function branchesOf(
  nodes: Graph['graph'],
  path: string,
  { visit, visitBefore }: Interpreting,
  atRest: ReadonlySet<string>,
): Branches {
  const known = new Map<string, Branch>();
  const replaced = new Set<string>();
  const dropped: string[] = [];
  const reach = (name: string): Branch => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const node = nodes[name] as GraphNode;
    const at = childPath(path, 'graph', name);
    const after = (node.after ?? []).map(reach);
    const verdict = atRest.has(at) ? 'cancelled' : verdictOf(joinOf(node), after);
    if (verdict === 'begin' && needsSome(node)) {
      for (const one of after) replaced.add(one.name);
      if (node.cancel_rest === true) {
        for (const one of after) {
          const isOpen = one.end === 'open' && !hadFailed(visitBefore(one.node, one.path));
          if (isOpen) dropped.push(one.path);
        }
      }
    }
    const branch = { name, node, path: at, ...standing(verdict, after, () => visit(node, at)) };
    known.set(name, branch);
    return branch;
  };
  return { branches: Object.keys(nodes).map(reach), replaced, dropped };
}

function standing(
  verdict: Verdict,
  after: readonly Branch[],
  visit: () => Progress,
): Omit<Branch, 'name' | 'node' | 'path'> {
  switch (verdict) {
    case 'begin': {
      const progress = visit();
      if (progress.kind !== 'failed') return { progress, end: progress.kind };
      const { step } = progress;
      return { progress, step, end: step.state === '$$cancelled' ? 'cancelled' : 'failed' };
    }
    case 'later':
      return { progress: open, end: 'open' };
    case 'cancelled':
      return { end: 'cancelled' };
    case 'failed': {
      // The first failure of all stands for what follows from it.
      const { step } = after.find(({ end }) => end === 'failed') as Required<Branch>;
      return { end: 'failed', step };
    }
  }
}

/** It failed by itself in the run before, which is why it is done again: nobody had cancelled it. */
function hadFailed(before: Progress | undefined): boolean {
  return before?.kind === 'failed' && before.step.state !== '$$cancelled';
}

/** When a node begins. A parallel's `join` is about what is in it, not about its place in the graph. */
function joinOf(node: GraphNode): GraphJoin {
  return 'parallel' in node ? 'all' : (node.join ?? 'all');
}

/** Some of the nodes before it are enough. */
function needsSome(node: GraphNode): boolean {
  const join = joinOf(node);
  return join === 'any' || typeof join === 'number';
}

/** Whether a node begins; `failed` and `cancelled`: it never can, because of what is before it. */
type Verdict = 'begin' | 'later' | 'failed' | 'cancelled';

function verdictOf(join: GraphJoin, before: readonly Branch[]): Verdict {
  const count = (end: Branch['end']): number => before.filter((one) => one.end === end).length;
  const total = before.length;
  const isOpen = count('open') > 0;
  const never = count('failed') > 0 ? 'failed' : 'cancelled';
  if (total === 0) return 'begin';
  if (join === 'done') return isOpen ? 'later' : 'begin';
  if (join === 'none_failed') {
    if (count('failed') > 0) return 'failed';
    return isOpen ? 'later' : 'begin';
  }
  const needed = join === 'all' ? total : join === 'any' ? 1 : join;
  if (count('done') >= needed) return 'begin';
  return count('done') + count('open') < needed ? never : 'later';
}

/** All nodes that one of a graph comes after, over any number of nodes between. */
function namesBefore(nodes: Graph['graph'], name: string): ReadonlySet<string> {
  const before = new Set<string>();
  const collect = (one: string): void => {
    for (const other of nodes[one]?.after ?? []) {
      if (before.has(other)) continue;
      before.add(other);
      collect(other);
    }
  };
  collect(name);
  return before;
}

function addBefore(
  { graph: nodes }: Graph,
  path: string,
  target: string,
  scope: ResultScope,
): void {
  const at = (name: string): string => childPath(path, 'graph', name);
  const name = Object.keys(nodes).find((one) => isWithin(target, at(one)));
  if (name === undefined) return;
  const before = namesBefore(nodes, name);
  for (const [one, node] of Object.entries(nodes)) if (before.has(one)) scope.add(node, at(one));
  scope.addBefore(nodes[name] as GraphNode, at(name), target);
}

function drawGraph({ graph: nodes }: Graph, path: string, { node: draw, connect, meet }: Drawing) {
  const ways = new Map<string, Way>();
  for (const [name, one] of Object.entries(nodes)) {
    ways.set(name, draw(one, childPath(path, 'graph', name)));
  }
  const before = new Set<string>();
  for (const [name, one] of Object.entries(nodes)) {
    const { entries } = ways.get(name) as Way;
    const { after = [] } = one;
    if (after.length === 0) connect([{ id: path }], entries);
    const known = after.filter((other) => ways.has(other));
    for (const other of known) {
      before.add(other);
      connect((ways.get(other) as Way).exits, entries, joinWords(joinOf(one), known.length));
    }
  }
  const ends = [...ways].filter(([name]) => !before.has(name)).flatMap(([, { exits }]) => exits);
  return ends.length === 0 ? [{ id: path }] : meet(ends);
}

/** When a node of a graph begins, where that is not when all before it have succeeded. */
function joinWords(join: GraphJoin, total: number): string | undefined {
  switch (join) {
    case 'all':
      return undefined;
    case 'any':
      return total > 1 ? `any of ${total}` : undefined;
    case 'done':
      return 'however it ends';
    case 'none_failed':
      return 'unless it fails';
    default:
      return `${join} of ${total}`;
  }
}

/**
 * Paths of the nodes whose failure does not count: one after them needed others only, and none is
 * left out because it needs them.
 */
function replacedIn(
  { graph: nodes }: Graph,
  path: string,
  hasBegun: (path: string) => boolean,
): ReadonlySet<string> {
  const at = (name: string): string => childPath(path, 'graph', name);
  const all = Object.entries(nodes);
  const begun = all.filter(([name, node]) => needsSome(node) && hasBegun(at(name)));
  const replaced = new Set(begun.flatMap(([, { after = [] }]) => after));
  const needsAll = (node: GraphNode): boolean => !needsSome(node) && joinOf(node) !== 'done';
  const needed = all.flatMap(([name, node]) =>
    needsAll(node) && !replaced.has(name) ? (node.after ?? []) : [],
  );
  return new Set([...replaced].filter((name) => !needed.includes(name)).map(at));
}
