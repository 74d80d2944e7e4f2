import { branchesOf } from '../model/flow.js';
import type { LiveJob } from '../model/job.js';
import { childrenOf, leavesOf } from '../structures/tree.js';
import { definedPath, slicedMap } from '../structures/paths.js';
import { isStructure, type ChildNode, type Leaf, type Node } from '../model/tree.js';

/** The entries of a tree, top to bottom and by path. */
export type Leaves = {
  readonly list: readonly Leaf[];
  /** The entry at a path of a job; of what is repeated, each has a path of its own. */
  readonly at: (path: string) => Leaf | undefined;
  /** Position of the first entry at or below a path of a job. */
  readonly firstIndex: (path: string) => number | undefined;
};

/**
 * One decision asks for the entries of the same tree at each of its moves. They are kept as long
 * as the tree itself, with the prefix they were asked for; trees are never changed.
 */
const known = new WeakMap<Node, Leaves & { readonly prefix: string }>();

/** All entries of a tree; `prefix` is put before every path (`cancel`). */
export function leavesIn(tree: Node, prefix = ''): Leaves {
  const before = known.get(tree);
  if (before?.prefix === prefix) return before;
  const list = leavesOf(tree, prefix);
  const byPath = new Map(list.map((leaf) => [leaf.path, leaf]));
  const first = new Map<string, number>();
  for (const { path, index } of list) {
    for (const at of pathsAbove(path)) if (!first.has(at)) first.set(at, index);
  }
  const leaves = {
    list,
    prefix,
    at: (path: string) => {
      const leaf = byPath.get(path) ?? byPath.get(definedPath(path));
      return leaf === undefined || leaf.path === path ? leaf : { ...leaf, path };
    },
    firstIndex: (path: string) => first.get(definedPath(path)),
  };
  known.set(tree, leaves);
  return leaves;
}

/** A path and all it is below of: `0.map.*.x` -> itself, `0.map.*`, `0.map`, `0` and the root. */
export function pathsAbove(path: string): readonly string[] {
  const above = [path];
  for (let at = path.lastIndexOf('.'); at > 0; at = path.lastIndexOf('.', at - 1)) {
    above.push(path.slice(0, at));
  }
  return path === '' ? above : [...above, ''];
}

/** A structure of a flow, and what the paths in it begin with. */
export type Branch = { readonly tree: Node; readonly prefix: '' | 'error' | 'cancel' };

/**
 * The structure of a flow that a path of a job is in, and what its paths begin with. Undefined: the
 * flow has none there.
 */
export function treeAt(
  { tasks, flow_definition: flow }: Pick<LiveJob, 'tasks' | 'flow_definition'>,
  path: string,
): Branch | undefined {
  const [root] = path.split('.', 1);
  if (root !== 'error' && root !== 'cancel') return { tree: tasks, prefix: '' };
  const branch = branchesOf(flow).find((one) => one.root === root);
  return branch && { tree: branch.tree, prefix: root };
}

/** The node of a tree at a path of a job. */
export function nodeAt(tree: Node, path: string, prefix = ''): Node | undefined {
  const wanted = definedPath(path);
  let node: Node | undefined = tree;
  let at = prefix;
  while (node !== undefined && at !== wanted) {
    const children: readonly ChildNode[] = isStructure(node) ? childrenOf(node, at) : [];
    const next: ChildNode | undefined = children.find(
      (child) => wanted === child.path || wanted.startsWith(`${child.path}.`),
    );
    node = next?.node;
    at = next?.path ?? at;
  }
  return node;
}

/** The node at a path of a job, in its flow or in what follows a failure or a cancel. */
export function nodeOf(job: LiveJob, path: string): Node | undefined {
  const branch = treeAt(job, path);
  return branch && nodeAt(branch.tree, path, branch.prefix);
}

/** The child job for a slice of a map stands at a leaf of its own. */
export function sliceLeaf(job: LiveJob, path: string): Leaf {
  const index = firstIndexAt(job, path);
  const name = nodeAt(job.tasks, slicedMap(path))?.name ?? 'map';
  return { path, index, name, label: `map-${index}`, entry: { task: 'map', slices: true } };
}

/** Position of the first entry at or below a path of the flow or of its cancel branch, else 0. */
export function firstIndexAt(job: LiveJob, path: string): number {
  const branch = treeAt(job, path);
  return (branch && leavesIn(branch.tree, branch.prefix).firstIndex(slicedMap(path))) ?? 0;
}

/** The leaf at a path of the flow as it is written; deciders begin others. */
export function writtenLeaf(job: LiveJob, path: string): Leaf | undefined {
  const branch = treeAt(job, path);
  return branch && leavesIn(branch.tree, branch.prefix).at(path);
}
