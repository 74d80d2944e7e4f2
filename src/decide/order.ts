import { callbacks, isStructure, type Graph, type Node, type Structure } from '../model/tree.js';
import { isWithin } from './paths.js';

/**
 * A step is the one at `from`, belongs to it (a handler, its undoing), or comes after it in the
 * flow: what follows in a sequence or a graph, a later round, the callbacks of a batch; not what just
 * runs beside it. In `from` a `*` stands for every item of a map, or for every round of a loop.
 */
export function isFrom(path: string, from: string, tree: Node): boolean {
  const one = path.split('.');
  const other = from.split('.');
  let node: Node | undefined = tree;
  let depth = 0;
  while (node !== undefined && isStructure(node)) {
    const b = stepInto(node, other, depth);
    if (b === undefined) return isWithin(path, from);
    const a = stepInto(node, one, depth);
    // The path is that of the structure itself: what was found out for a loop is asked again, and
    // slices of a map are gone over again with all its items.
    if (a === undefined) return node.structure === 'loop' || (b.at === '*' && isSlice(one, depth));
    if (a.key !== b.key || (a.at !== b.at && b.at !== '*')) return comesAfter(node, a, b);
    depth = b.depth;
    node = b.node;
  }
  return true;
}

function isSlice(path: readonly string[], depth: number): boolean {
  return path[depth] === 'slice';
}

/** Where a path leads from a structure. */
type Way = {
  readonly node: Node | undefined;
  /** So many segments of the path lead to the node. */
  readonly depth: number;
  /** The word before the number or name (`sequence`, `graph`), or the whole way (`default`). */
  readonly key: string;
  /** The number or name of the node; nothing where the word says it all. */
  readonly at: string;
};

function stepInto(node: Structure, path: readonly string[], from: number): Way | undefined {
  // The path of a node in a sequence at the root is just its number.
  if (from === 0 && node.structure === 'sequence') {
    const [at = ''] = path;
    const child = at === '' ? undefined : node.sequence[Number(at)];
    return child === undefined ? undefined : { node: child, depth: 1, key: 'sequence', at };
  }
  const [key = '', at = ''] = path.slice(from, from + 2);
  if (key === node.structure) return { node: childAt(node, at), depth: from + 2, key, at };
  const named = (node as Readonly<Record<string, unknown>>)[key] as Node | undefined;
  const isWay = key === 'default' || callbacks.some((callback) => callback === key);
  return isWay ? { node: named, depth: from + 1, key, at: '' } : undefined;
}

function childAt(node: Structure, at: string): Node | undefined {
  switch (node.structure) {
    case 'sequence':
      return node.sequence[Number(at)];
    case 'parallel':
      return node.parallel[Number(at)];
    case 'batch':
      return node.batch[Number(at)];
    case 'graph':
      return node.graph[at];
    case 'choice':
      return node.choice[Number(at)]?.then;
    case 'map':
      return node.map.do;
    case 'loop':
      return node.loop.do;
  }
}

function comesAfter(node: Structure, a: Way, b: Way): boolean {
  switch (node.structure) {
    case 'sequence':
    case 'loop':
      return Number(a.at) > Number(b.at);
    case 'graph':
      return follows(node.graph, a.at, b.at);
    case 'batch':
      return callbackRank(a) > callbackRank(b);
    case 'parallel':
    case 'map':
    case 'choice':
      return false;
  }
}

/** The callbacks of a batch come after its nodes, and one after the other. */
function callbackRank({ key }: Way): number {
  return callbacks.findIndex((callback) => callback === key);
}

/** A node of a graph comes after another, over any number of nodes between. */
function follows(graph: Graph['graph'], name: string, before: string): boolean {
  const seen = new Set<string>();
  const reach = (at: string): boolean => {
    if (seen.has(at)) return false;
    seen.add(at);
    return (graph[at]?.after ?? []).some((other) => other === before || reach(other));
  };
  return reach(name);
}
