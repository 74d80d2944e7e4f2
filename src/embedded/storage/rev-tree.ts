import type { RevNode, RevTree } from './pouch.js';

export type TreeLeaf = { readonly rev: string; readonly deleted: boolean };

/** All leaves of a revision tree, in the tree's order. */
export function leafRevisions(tree: RevTree): TreeLeaf[] {
  return tree.flatMap((root) => leavesBelow(root.pos, root.ids));
}

/**
 * The leaves that descend from `rev` (itself, if it is one); empty when the tree lacks `rev`. Where the
 * limit of revisions cut off what two branches have in common, `rev` stands in both.
 */
export function latestOf(tree: RevTree, rev: string): string[] {
  const found = placesOf(tree, rev).flatMap(({ pos, node }) => leavesBelow(pos, node));
  return [...new Set(found.map((leaf) => leaf.rev))];
}

/** The tree without these leaves, and without what only they descend from. */
export function withoutLeaves(tree: RevTree, revs: ReadonlySet<string>): RevTree {
  const roots = tree.map(({ pos, ids }) => ({ pos, ids: nodeWithout(pos, ids, revs) }));
  return roots.filter((root): root is RevTree[number] => root.ids !== undefined);
}

function nodeWithout(pos: number, node: RevNode, revs: ReadonlySet<string>): RevNode | undefined {
  const [id, state, children] = node;
  if (children.length === 0) return revs.has(`${pos}-${id}`) ? undefined : node;
  const below = children.map((child) => nodeWithout(pos + 1, child, revs));
  const left = below.filter((child) => child !== undefined);
  return left.length === 0 ? undefined : [id, state, left];
}

function leavesBelow(pos: number, node: RevNode): TreeLeaf[] {
  const leaves: TreeLeaf[] = [];
  const visit: { pos: number; node: RevNode }[] = [{ pos, node }];
  for (let next = visit.pop(); next !== undefined; next = visit.pop()) {
    const [id, state, children] = next.node;
    if (children.length === 0) {
      leaves.push({ rev: `${next.pos}-${id}`, deleted: state.deleted === true });
    }
    for (const child of children) visit.push({ pos: next.pos + 1, node: child });
  }
  return leaves;
}

type Place = { readonly pos: number; readonly node: RevNode };

function placesOf(tree: RevTree, rev: string): readonly Place[] {
  const found: Place[] = [];
  const visit: Place[] = tree.map((root) => ({ pos: root.pos, node: root.ids }));
  for (let next = visit.pop(); next !== undefined; next = visit.pop()) {
    const [id, , children] = next.node;
    if (`${next.pos}-${id}` === rev) found.push(next);
    for (const child of children) visit.push({ pos: next.pos + 1, node: child });
  }
  return found;
}
