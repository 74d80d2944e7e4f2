import merging from 'pouchdb-merge';

import type { RevTree } from '../pouch.js';
import { latestOf, leafRevisions, withoutLeaves, type TreeLeaf } from '../rev-tree.js';

/**
 * The revisions of a document as its row holds them. Nearly all documents have one leaf and a line of
 * ancestors: then `line` has their ids, newest first, each of 32 hexadecimal digits. Any other tree
 * is in `tree`, as JSON in PouchDB's form, and `line` is empty.
 */
export type Revisions = {
  /** The winning leaf. */
  readonly rev: string;
  readonly deleted: boolean;
  readonly line: string;
  readonly tree: string | null;
};

/** A revision with its ancestors, newest first, as `_revisions` has them. */
export type Path = { readonly start: number; readonly ids: readonly string[] };

const ID_LENGTH = 32;
const plainId = /^[0-9a-f]{32}$/;

export const generationOf = (rev: string): number => Number.parseInt(rev, 10);
export const revIdOf = (rev: string): string => rev.slice(rev.indexOf('-') + 1);

/** The first revision of a document that a user made. */
export const firstRevision = (rev: string, deleted: boolean): Revisions => ({
  rev,
  deleted,
  line: '',
  tree: null,
});

/** The revisions with an edit of `parent`, which is a leaf; not more than `limit` on a line. */
export function withEdit(
  before: Revisions,
  edit: { readonly rev: string; readonly parent: string; readonly deleted: boolean },
  limit: number,
): Revisions {
  const parentId = revIdOf(edit.parent);
  if (before.tree === null && plainId.test(parentId)) {
    const line = (parentId + before.line).slice(0, (limit - 1) * ID_LENGTH);
    return { rev: edit.rev, deleted: edit.deleted, line, tree: null };
  }
  const path = { start: generationOf(edit.rev), ids: [revIdOf(edit.rev), parentId] };
  return withPath(before, { path, deleted: edit.deleted }, limit);
}

/** The revisions with one that was made elsewhere. */
export function withPath(
  before: Revisions | undefined,
  { path, deleted }: { readonly path: Path; readonly deleted: boolean },
  limit: number,
): Revisions {
  const tree = before === undefined ? [] : treeOf(before);
  return pack(merging.merge(tree, branch(path, deleted), limit).tree);
}

/** The revisions without these leaves, and without what only they descend from; undefined: none is left. */
export function withoutRevisions(
  before: Revisions,
  revs: ReadonlySet<string>,
): Revisions | undefined {
  const tree = withoutLeaves(treeOf(before), revs);
  return tree.length === 0 ? undefined : pack(tree as Tree);
}

/** All leaves, the winner first, then those of the longest histories. */
export function allLeaves(revisions: Revisions): readonly TreeLeaf[] {
  const { rev, deleted } = revisions;
  if (revisions.tree === null) return [{ rev, deleted }];
  const others = leafRevisions(treeOf(revisions)).filter((leaf) => leaf.rev !== rev);
  others.sort((a, b) => generationOf(b.rev) - generationOf(a.rev) || (a.rev < b.rev ? 1 : -1));
  return [{ rev, deleted }, ...others];
}

/** The leaves that descend from a revision, itself included; empty for one that is not known. */
export function leavesFrom(revisions: Revisions, rev: string): readonly string[] {
  if (revisions.tree !== null) return latestOf(treeOf(revisions), rev);
  return isKnown(revisions, rev) ? [revisions.rev] : [];
}

/** Whether a revision is a leaf or an ancestor of one. */
export function isKnown(revisions: Revisions, rev: string): boolean {
  if (revisions.rev === rev) return true;
  if (revisions.tree !== null) return merging.revExists(treeOf(revisions), rev);
  const at = generationOf(revisions.rev) - 1 - generationOf(rev);
  return at >= 0 && revisions.line.slice(at * ID_LENGTH, (at + 1) * ID_LENGTH) === revIdOf(rev);
}

/** A leaf with its ancestors. */
export function pathTo(revisions: Revisions, rev: string): Path {
  const start = generationOf(rev);
  if (revisions.tree === null) return { start, ids: [revIdOf(rev), ...idsOf(revisions.line)] };
  const found = merging
    .rootToLeaf(treeOf(revisions))
    .find(({ pos, ids }) => `${pos + ids.length - 1}-${ids.at(-1)?.id}` === rev);
  return { start, ids: found?.ids.map(({ id }) => id).reverse() ?? [revIdOf(rev)] };
}

const idsOf = (line: string): string[] => line.match(/.{32}/g) ?? [];

type Tree = Parameters<typeof merging.merge>[0];

/** A tree that may be changed. */
function treeOf(revisions: Revisions): Tree & RevTree {
  if (revisions.tree !== null) return JSON.parse(revisions.tree) as Tree;
  return [branch(pathTo(revisions, revisions.rev), revisions.deleted)];
}

function branch({ start, ids: [leaf = '', ...ancestors] }: Path, deleted: boolean): Tree[number] {
  const state = { status: 'available', ...(deleted ? { deleted } : {}) };
  let node: Tree[number]['ids'] = [leaf, state, []];
  for (const id of ancestors) node = [id, { status: 'available' }, [node]];
  return { pos: start - ancestors.length, ids: node };
}

function pack(tree: Tree): Revisions {
  const rev = merging.winningRev({ rev_tree: tree });
  const leaves = leafRevisions(tree);
  const deleted = leaves.find((leaf) => leaf.rev === rev)?.deleted === true;
  const [only] = merging.rootToLeaf(tree);
  const ancestors = only?.ids.slice(0, -1).map(({ id }) => id) ?? [];
  if (leaves.length > 1 || !ancestors.every((id) => plainId.test(id))) {
    return { rev, deleted, line: '', tree: JSON.stringify(tree) };
  }
  return { rev, deleted, line: ancestors.reverse().join(''), tree: null };
}
