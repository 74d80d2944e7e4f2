import { leavesOf, type Leaf, type Structure } from '../model/tree.js';

/** The entries of a tree, top to bottom and by path. */
export type Leaves = {
  readonly list: readonly Leaf[];
  readonly byPath: ReadonlyMap<string, Leaf>;
};

/**
 * One decision asks for the entries of the same tree at each of its moves. They are kept as long
 * as the tree itself, with the prefix they were asked for; trees are never changed.
 */
const known = new WeakMap<Structure, Leaves & { readonly prefix: string }>();

/** All entries of a tree; `prefix` is put before every path (`cancel`). */
export function leavesIn(tree: Structure, prefix = ''): Leaves {
  const before = known.get(tree);
  if (before?.prefix === prefix) return before;
  const list = leavesOf(tree, prefix);
  const leaves = { list, prefix, byPath: new Map(list.map((leaf) => [leaf.path, leaf])) };
  known.set(tree, leaves);
  return leaves;
}
