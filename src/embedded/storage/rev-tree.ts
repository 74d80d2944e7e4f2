import type { RevNode, RevTree } from './pouch.js';

export type TreeLeaf = { readonly rev: string; readonly deleted: boolean };

/** All leaves of a revision tree, in the tree's order. */
export function leafRevisions(tree: RevTree): TreeLeaf[] {
  return tree.flatMap((root) => leavesBelow(root.pos, root.ids));
}

/** The leaves that descend from `rev` (itself, if it is one); empty when the tree lacks `rev`. */
export function latestOf(tree: RevTree, rev: string): string[] {
  const start = find(tree, rev);
  return start === undefined ? [] : leavesBelow(start.pos, start.node).map((leaf) => leaf.rev);
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

function find(tree: RevTree, rev: string): { pos: number; node: RevNode } | undefined {
  const visit = tree.map((root) => ({ pos: root.pos, node: root.ids }));
  for (let next = visit.pop(); next !== undefined; next = visit.pop()) {
    if (`${next.pos}-${next.node[0]}` === rev) return next;
    for (const child of next.node[2]) visit.push({ pos: next.pos + 1, node: child });
  }
  return undefined;
}
