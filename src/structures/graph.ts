import { z } from 'zod';
import { childPath, isWithin, type ChildNode } from '../model/tree.js';
import type { Drawing, Way } from './drawing.js';
import {
  graphProgress,
  joinOf,
  needsSome,
  type Graph,
  type GraphJoin,
  type GraphNode,
} from './graph-progress.js';
import { orderBreaks } from './graph-rules.js';
import type { Fields, Kind, ResultScope } from './kind.js';
import {
  beforeAllCame,
  isBad,
  isGood,
  together,
  type NodeState,
  type NodeStates,
} from './node-state.js';
import { valuesByKey } from './results.js';
import { failWords, onFailSchema } from './written.js';

const keyText = 'must have a name without "." that is neither "error" nor "undo"';

/** Begins each node when the nodes in its `after` have ended as its `join` asks. */
export const graph: Kind<Graph> = {
  written: {
    shape: ({ graphNode }) => ({
      graph: z
        .record(
          z.string().regex(/^(?!(error|undo|__proto__)$)[^.]+$/, { error: keyText }),
          graphNode,
          { error: 'must be an object {name: node with "after"}' },
        )
        .describe('Nodes by name; each begins when those in its "after" have ended.'),
      on_fail: z.exactOptional(onFailSchema),
    }),
    beside: ['on_fail'],
    breaks: orderBreaks,
    normalised({ graph: nodes }, toNode) {
      const all = Object.entries(nodes as Fields);
      return { graph: Object.fromEntries(all.map(([name, node]) => [name, toNode(node)])) };
    },
  },
  children,

  progress: graphProgress,

  isConcurrent: true,
  onFail: (node) => node.on_fail,
  /** Over any number of nodes between. */
  isAfter: (node, one, other) => namesBefore(node.graph, one.at).has(other.at),

  results: {
    isGroup: true,
    value: valuesByKey,
    addBefore,
  },

  words: (node) => ({ label: 'graph', notes: failWords(node.on_fail) }),
  draw: drawGraph,

  state(node, path, nodeStates, situation) {
    const inside = { isOver: situation.isOver, wentOn: false };
    const all = children(node, path).map((child) => ({
      path: child.path,
      state: nodeStates.visit(child.node, child.path, inside),
    }));
    const stateAt = new Map(all.map((one) => [one.path, one.state]));
    const replaced = replacedIn(node, path, nodeStates, (at) => stateAt.get(at) as NodeState);
    const counted = all.filter((one) => !replaced.has(one.path) || !isBad(one.state));
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

function children({ graph: nodes }: Graph, path: string): readonly ChildNode[] {
  return Object.entries(nodes).map(([name, node]) => ({
    node,
    path: childPath(path, 'graph', name),
    keys: ['graph', name],
  }));
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
    // What has no name of its own is called by its key.
    ways.set(name, draw({ name, ...one }, childPath(path, 'graph', name)));
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
  { hasBegun, hasRun }: NodeStates,
  stateAt: (path: string) => NodeState,
): ReadonlySet<string> {
  const at = (name: string): string => childPath(path, 'graph', name);
  const all = Object.entries(nodes);
  // What was skipped by hand before its turn came stands in for nothing.
  const isReached = (node: GraphNode): boolean => {
    const join = joinOf(node);
    const done = (node.after ?? []).filter((name) => isGood(stateAt(at(name))));
    return done.length >= (typeof join === 'number' ? join : 1);
  };
  const begun = all.filter(
    ([name, node]) =>
      needsSome(node) && (hasRun(at(name)) || (hasBegun(at(name)) && isReached(node))),
  );
  const replaced = new Set(begun.flatMap(([, { after = [] }]) => after));
  const needsAll = (node: GraphNode): boolean => !needsSome(node) && joinOf(node) !== 'done';
  const needed = all.flatMap(([name, node]) =>
    needsAll(node) && !replaced.has(name) ? (node.after ?? []) : [],
  );
  return new Set([...replaced].filter((name) => !needed.includes(name)).map(at));
}
