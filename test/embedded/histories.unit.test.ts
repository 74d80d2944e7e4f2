import fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  firstRevision,
  generationOf,
  isKnown,
  leavesFrom,
  allLeaves,
  pathTo,
  withEdit,
  withPath,
  type Revisions,
} from '../../src/embedded/storage/sqlite/histories.js';

const limit = 6;
const idOf = (n: number): string => n.toString(16).padStart(32, '0');

/** Edits of leaves, each named by a number that is taken modulo the number of leaves. */
const edits = fc.array(
  fc.record({ leaf: fc.nat(9), branches: fc.boolean(), deleted: fc.boolean() }),
  {
    maxLength: 25,
  },
);

/** Makes edits, and remembers every path that was ever there. */
function grow(made: readonly { leaf: number; branches: boolean; deleted: boolean }[]) {
  let revisions: Revisions = firstRevision(`1-${idOf(1)}`, false);
  const paths = new Map([[revisions.rev, [idOf(1)]]]);
  made.forEach(({ leaf, branches, deleted }, n) => {
    const leaves = allLeaves(revisions);
    const parent = leaves[leaf % leaves.length]?.rev ?? revisions.rev;
    const id = idOf(n + 2);
    const rev = `${generationOf(parent) + 1}-${id}`;
    const older = paths.get(parent) ?? [];
    paths.set(rev, [id, ...older]);
    if (!branches) {
      revisions = withEdit(revisions, { rev, parent, deleted }, limit);
      return;
    }
    // A sibling of the leaf: it was made elsewhere.
    const [, ...above] = older;
    const start = generationOf(parent);
    paths.delete(rev);
    paths.set(`${start}-${id}`, [id, ...above]);
    revisions = withPath(revisions, { path: { start, ids: [id, ...above] }, deleted }, limit);
  });
  return { revisions, paths };
}

test('a line and a tree answer the same of the same revisions', () => {
  fc.assert(
    fc.property(edits, (made) => {
      const { revisions, paths } = grow(made);
      const leaves = allLeaves(revisions);
      expect(leaves[0]).toEqual({ rev: revisions.rev, deleted: revisions.deleted });
      expect(revisions.tree === null).toBe(leaves.length === 1);
      for (const { rev } of leaves) {
        const { start, ids } = pathTo(revisions, rev);
        expect(start).toBe(generationOf(rev));
        expect(ids).toEqual((paths.get(rev) ?? []).slice(0, ids.length));
        expect(ids.length).toBe(Math.min(limit, paths.get(rev)?.length ?? 0));
        ids.forEach((id, i) => {
          expect(isKnown(revisions, `${start - i}-${id}`)).toBe(true);
          expect(leavesFrom(revisions, `${start - i}-${id}`)).toContain(rev);
        });
      }
      expect(isKnown(revisions, `1-${idOf(0xfff)}`)).toBe(false);
      expect(leavesFrom(revisions, `1-${idOf(0xfff)}`)).toEqual([]);
    }),
  );
});

test('a leaf that lives wins, then the longest history, then the higher id', () => {
  const at = (start: number, id: string, deleted = false) => ({
    path: { start, ids: [id.repeat(32)] },
    deleted,
  });
  const all = [at(1, 'a'), at(1, 'b'), at(5, 'c', true), at(2, 'a')];
  const revisions = all.reduce<Revisions | undefined>(
    (before, next) => withPath(before, next, limit),
    undefined,
  );
  expect(allLeaves(revisions as Revisions).map((leaf) => leaf.rev[0])).toEqual([
    '2',
    '5',
    '1',
    '1',
  ]);
});

test.each(['x', 'a,b', '0'.repeat(31), 'Z'.repeat(32)])(
  'an ancestor that is called %s is kept',
  (odd) => {
    const path = { start: 2, ids: [idOf(1), odd] };
    const copied = withPath(undefined, { path, deleted: false }, limit);
    expect(pathTo(copied, copied.rev)).toEqual(path);
    const next = withEdit(
      copied,
      { rev: `3-${idOf(2)}`, parent: copied.rev, deleted: false },
      limit,
    );
    expect(pathTo(next, next.rev)).toEqual({ start: 3, ids: [idOf(2), idOf(1), odd] });
    expect(isKnown(next, `1-${odd}`)).toBe(true);
  },
);
