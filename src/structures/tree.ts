import {
  isStructure,
  type ChildNode,
  type Node,
  type PlacedLeaf,
  type Structure,
} from '../model/tree.js';
import type { Phase } from '../model/step.js';
import { conditionsOf } from './conditions.js';
import { kindOf } from './kinds.js';
import { done, open, type Interpreting, type Progress } from './progress.js';

/**
 * Returns the nodes right below a structure, top to bottom. What is repeated (`map`, `loop`) is
 * listed once, with `*` for the number.
 */
export function childrenOf(structure: Structure, path: string): readonly ChildNode[] {
  return kindOf(structure).children(structure, path);
}

/** Returns all entries of a tree, top to bottom. `prefix` is put before every path (`cancel`). */
export function leavesOf(tree: Node, prefix = ''): readonly PlacedLeaf[] {
  const leaves: PlacedLeaf[] = [];
  const visit = (node: Node, path: string, keys: PlacedLeaf['keys']): void => {
    if (isStructure(node)) {
      for (const child of childrenOf(node, path)) {
        visit(child.node, child.path, [...keys, ...child.keys]);
      }
      return;
    }
    const index = leaves.length;
    const label = `${node.task}-${index}`;
    leaves.push({ path, index, name: node.name ?? node.task, label, entry: node, keys });
  };
  visit(tree, prefix, []);
  return leaves;
}

/** Returns all structures of a tree with their paths, outermost first. */
export function structuresIn(
  tree: Node,
  path = '',
): readonly { readonly node: Structure; readonly path: string }[] {
  if (!isStructure(tree)) return [];
  const inner = childrenOf(tree, path).flatMap((child) => structuresIn(child.node, child.path));
  return [{ node: tree, path }, ...inner];
}

/**
 * Returns the names under which results of a tree are seen: those of its entries, of structures that have
 * one, and those that structures give to others (`as` of a catch).
 */
export function namesIn(node: Node): readonly string[] {
  if (!isStructure(node)) return [node.name ?? node.task];
  const inner = childrenOf(node, '').flatMap((child) => namesIn(child.node));
  const own = kindOf(node).namedResults?.(node) ?? [];
  return [...(node.name === undefined ? [] : [node.name]), ...own, ...inner];
}

/**
 * Whether a node is done as soon as it is reached: nothing in it begins, and nothing is to be found out. The
 * rules of its kind say so, over nodes that have no steps either and nodes that have yet to begin.
 */
export function hasNoSteps(node: Node): boolean {
  if (!isStructure(node) || conditionsOf(node).length > 0) return false;
  const { finding, progress } = kindOf(node);
  if (finding !== undefined) return false;
  const toBegin: Progress = { ...open, conditions: [{ node, path: '', phase: 'main' }] };
  const visit = (child: Node): Progress => (hasNoSteps(child) ? done : toBegin);
  const visitAs = (_phase: Phase, child: Node): Progress => visit(child);
  const { kind, conditions } = progress(node, '', { ...untouched, visit, visitAs });
  return kind === 'done' && conditions.length === 0;
}

const nothing = (): undefined => undefined;
/** As much of a job without steps as structures read that find nothing out. */
const untouched = {
  steps: { run: 1, lastRunBelow: nothing, isBusyBelow: () => false },
  phase: 'main',
  visitBefore: nothing,
} as unknown as Interpreting;
