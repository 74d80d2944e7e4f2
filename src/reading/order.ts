import { childrenOf } from '../structures/tree.js';
import { isStructure, type Node, type Structure, isWithin } from '../model/tree.js';
import type { Place } from '../structures/kind.js';
import { kindOf } from '../structures/kinds.js';

/**
 * A step is the one at `from`, belongs to it (a handler, its undoing, what is in a structure), or comes
 * after it in the flow: what follows in a sequence or a graph, a later round, the callbacks of a batch; not what just
 * runs beside it. In `from` a `*` stands for every item of a map, or for every round of a loop.
 */
export function isFrom(path: string, from: string, tree: Node): boolean {
  const one = path.split('.');
  const other = from.split('.');
  let node: Node | undefined = tree;
  let depth = 0;
  while (node !== undefined && isStructure(node)) {
    const { isAfter, isRepeatedWith = never } = kindOf(node);
    const b = stepInto(node, other, depth);
    // `from` is this structure itself; in an item of a map it may name each of them.
    if (b === undefined) return other.length === depth || isWithin(path, from);
    const a = stepInto(node, one, depth);
    // The path is that of the structure itself, or of what it began itself.
    if (a === undefined) return isRepeatedWith(b, one.slice(depth));
    if (a.key !== b.key || (a.at !== b.at && b.at !== '*')) return isAfter(node, a, b);
    depth = b.depth;
    node = b.node;
  }
  return true;
}

const never = (): boolean => false;

/** Where a path leads from a structure; so many words of the path lead to the node. */
type Way = Place & { readonly node: Node | undefined; readonly depth: number };

function stepInto(node: Structure, path: readonly string[], from: number): Way | undefined {
  // The path of a node in a sequence at the root is just its number.
  if (from === 0 && node.structure === 'sequence') {
    const [at = ''] = path;
    const child = waysFrom(node).get(`sequence.${at}`);
    return child === undefined ? undefined : { node: child, depth: 1, key: 'sequence', at };
  }
  const [key = '', at = ''] = path.slice(from, from + 2);
  const ways = waysFrom(node);
  if (key === node.structure) {
    const child = ways.get(`${key}.${at}`) ?? ways.get(`${key}.*`);
    return { node: child, depth: from + 2, key, at };
  }
  return ways.has(key) ? { node: ways.get(key), depth: from + 1, key, at: '' } : undefined;
}

/** Many steps are looked at with the same tree. */
const known = new WeakMap<Structure, ReadonlyMap<string, Node>>();

/** The nodes right below a structure, by the words that lead to them in a path (`graph.a`, `default`). */
function waysFrom(node: Structure): ReadonlyMap<string, Node> {
  const before = known.get(node);
  if (before !== undefined) return before;
  const children = childrenOf(node, '#').map((child) => [child.path.slice(2), child.node] as const);
  const ways = new Map(children);
  known.set(node, ways);
  return ways;
}
