import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leavesOf } from '../../src/structures/tree.js';
import { toTree } from '../../src/structures/to-tree.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { tasksSchema } from '../../src/structures/schema.js';

const written = fc.letrec<{ node: WrittenNode; list: WrittenNode[] }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('a', 'b', 'c'),
    fc.record({ task: fc.constantFrom('a', 'b') }),
    fc.record({ task: fc.constant('a'), name: fc.constantFrom('x', 'y') }),
    tie('list'),
    tie('list').map((sequence) => ({ sequence })),
    tie('list').map((sequence) => ({ structure: 'sequence', sequence })),
  ),
  list: fc.array(tie('node'), { maxLength: 4 }),
}));

describe('toTree', () => {
  it('is idempotent', () => {
    fc.assert(
      fc.property(written.node, (node) => {
        const tree = toTree(node);
        expect(toTree(tree as unknown as WrittenNode)).toEqual(tree);
      }),
    );
  });

  it('gives trees that the schema of tasks takes as they are', () => {
    fc.assert(
      fc.property(written.node, (node) => {
        expect(tasksSchema.parse(toTree(node))).toEqual(toTree(node));
      }),
    );
  });

  it('is nested as deep as the schema of tasks says of what was written', () => {
    type Wrapping = (node: WrittenNode) => WrittenNode;
    const wrapping = fc.constantFrom<Wrapping>(
      (node) => [node],
      (node) => ({ sequence: [node] }),
      (node) => ({ parallel: [node], catch: [{ do: [] }] }),
      (node) => ({ task: 'a', catch: [{ do: node }] }),
      (node) => ({ try: [node], catch: [{ do: 'a' }] }),
      (node) => ({ choice: [{ when: 'x', then: node }], default: [['a']] }),
      (node) => ({ loop: { max: 1, do: [node] } }),
      (node) => ({ batch: ['a'], on_complete: [node] }),
      (node) => ({ graph: { parallel: [node], b: 'a' } }),
    );
    const isTaken = (tree: unknown): boolean => tasksSchema.safeParse(tree).success;
    fc.assert(
      fc.property(fc.array(wrapping, { minLength: 8, maxLength: 26 }), (all) => {
        const node = [all.reduce<WrittenNode>((inner, wrap) => wrap(inner), 'a')];
        expect(isTaken(node)).toBe(isTaken(toTree(node)));
      }),
      { numRuns: 60 },
    );
  });

  it('tells where what was written is nested too deep', () => {
    const inner = Array.from({ length: 11 }).reduce<WrittenNode>(
      (node) => ({ parallel: [node], catch: [{ do: [] }] }),
      { sequence: [{ sequence: ['a'] }] },
    );
    const [issue] = tasksSchema.safeParse([inner]).error?.issues ?? [];
    const path = Array.from({ length: 11 }).flatMap(() => ['parallel', 0]);
    expect(issue?.path).toEqual([0, ...path, 'sequence', 0]);
  });

  it.each<[string, WrittenNode, unknown]>([
    ['a name', 'a', [{ task: 'a' }]],
    ['an entry', { task: 'a', name: 'x' }, [{ task: 'a', name: 'x' }]],
    ['an empty list', [], []],
    ['a list in a list', [['a']], [{ structure: 'sequence', sequence: [{ task: 'a' }] }]],
  ])('makes a sequence of %s', (_title, node, sequence) => {
    expect(toTree(node)).toEqual({ structure: 'sequence', sequence });
  });

  it('keeps what else a structure carries', () => {
    expect(toTree({ sequence: [], note: 'x' })).toEqual({
      structure: 'sequence',
      sequence: [],
      note: 'x',
    });
  });
});

describe('leavesOf', () => {
  const tree = toTree(['a', ['b', { sequence: [{ task: 'a', name: 'again' }] }], [], 'c']);

  it('counts entries from the top, from 0, and says where they are', () => {
    const seen = leavesOf(tree).map(({ path, index, name, label }) => [path, index, name, label]);
    expect(seen).toEqual([
      ['0', 0, 'a', 'a-0'],
      ['1.sequence.0', 1, 'b', 'b-1'],
      ['1.sequence.1.sequence.0', 2, 'again', 'a-2'],
      ['3', 3, 'c', 'c-3'],
    ]);
  });

  it('puts a prefix before every path', () => {
    expect(leavesOf(toTree(['a', ['b']]), 'cancel').map(({ path }) => path)).toEqual([
      'cancel.sequence.0',
      'cancel.sequence.1.sequence.0',
    ]);
  });

  it('gives every entry a path and a label of its own, in the order of the definition', () => {
    fc.assert(
      fc.property(written.node, (node) => {
        const leaves = leavesOf(toTree(node));
        expect(leaves.map(({ index }) => index)).toEqual(leaves.map((_leaf, i) => i));
        expect(new Set(leaves.map(({ path }) => path)).size).toBe(leaves.length);
        expect(new Set(leaves.map(({ label }) => label)).size).toBe(leaves.length);
      }),
    );
  });
});
