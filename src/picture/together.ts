import { childPath, type Graph, type GraphNode, type Structure } from '../model/tree.js';
import type { NodeState, Runs } from './picture.js';

const kinds: Readonly<Record<NodeState, keyof Runs | undefined>> = {
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
  const count = (kind: keyof Runs): number => states.filter((one) => kinds[one] === kind).length;
  return {
    total: states.length,
    done: count('done'),
    failed: count('failed'),
    open: count('open'),
  };
}

/**
 * How several nodes stand as one: what is under way counts first, then what went wrong, when that is more
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

/**
 * Paths of the nodes of a graph whose failure does not count: one after them needed others only, and
 * none is left out because it needs them.
 */
export function replacedIn(
  { graph }: Graph,
  path: string,
  hasBegun: (path: string) => boolean,
): ReadonlySet<string> {
  const at = (name: string): string => childPath(path, 'graph', name);
  const needsSome = (node: GraphNode): boolean =>
    !('parallel' in node) && (node.join === 'any' || typeof node.join === 'number');
  const needsAll = (node: GraphNode): boolean =>
    'parallel' in node || !(needsSome(node) || node.join === 'done');
  const nodes = Object.entries(graph);
  const begun = nodes.filter(([name, node]) => needsSome(node) && hasBegun(at(name)));
  const replaced = new Set(begun.flatMap(([, { after = [] }]) => after));
  const needed = nodes.flatMap(([name, node]) =>
    needsAll(node) && !replaced.has(name) ? (node.after ?? []) : [],
  );
  return new Set([...replaced].filter((name) => !needed.includes(name)).map(at));
}

/** So many of the nodes right below a structure may fail; `total`: the items of a map. */
export function toleratedIn(node: Structure, total = 0): number {
  const { on_fail: onFail } = node.structure === 'map' ? node.map : (node as { on_fail?: unknown });
  return onFail === 'ignore' ? Infinity : leftOutWhenDone(node, total);
}

/** So many of them need not succeed for the structure to be done. */
export function leftOutWhenDone(node: Structure, total = 0): number {
  switch (node.structure) {
    case 'parallel': {
      const { parallel, join = 'all' } = node;
      if (join === 'all') return 0;
      return Math.max(0, parallel.length - (join === 'any' ? 1 : join));
    }
    case 'map': {
      const { tolerate = 0 } = node.map;
      if (typeof tolerate === 'number') return tolerate;
      return Math.floor((Number.parseInt(tolerate, 10) * total) / 100);
    }
    case 'batch':
    case 'graph':
    case 'sequence':
    case 'choice':
    case 'loop':
      return 0;
  }
}
