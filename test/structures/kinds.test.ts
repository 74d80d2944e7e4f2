import { describe, expect, it } from 'vitest';
import { isStructure, type Node, type Structure } from '../../src/model/tree.js';
import { kindOf, nodeKinds, structureKinds } from '../../src/structures/kinds.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { tasksSchema } from '../../src/structures/schema.js';
import { toTree } from '../../src/structures/to-tree.js';
import { childrenOf, hasNoSteps, namesIn } from '../../src/structures/tree.js';

/** One structure of each kind, with an entry `a` in it. */
const one: Readonly<Record<string, WrittenNode>> = {
  sequence: { sequence: ['a'] },
  parallel: { parallel: ['a'] },
  batch: { batch: ['a'], on_complete: 'b' },
  graph: { graph: { x: 'a' } },
  choice: { choice: [{ when: 'true', then: 'a' }], default: 'b' },
  map: { map: { over: [1], do: 'a' } },
  loop: { loop: { max: 2, do: 'a' } },
  catch: { try: 'a', catch: [{ do: 'b' }] },
};

const treeOf = (written: WrittenNode): Structure => toTree([written]);
const only = (written: WrittenNode): Node => {
  const [child] = childrenOf(treeOf(written), '');
  return child?.node as Node;
};

describe('a kind of structure', () => {
  it.each(Object.keys(structureKinds))('has an example here: %s', (word) => {
    expect(Object.keys(one)).toContain(word);
  });

  it.each(Object.entries(one))(
    'knows its schema, its stored form and its children: %s',
    (word, written) => {
      expect(tasksSchema.safeParse([written]).success).toBe(true);
      const node = only(written);
      expect(node).toMatchObject({ structure: word });
      if (!isStructure(node)) return;
      expect(toTree(node as unknown as WrittenNode)).toEqual(node);
      expect(childrenOf(node, '0')[0]?.node).toMatchObject({ task: 'a' });
      expect(kindOf(node).words(node).label).not.toBe('');
      expect(nodeKinds).toContain(word);
    },
  );

  it.each(Object.entries(one))('refuses what only other kinds read: %s', (_word, written) => {
    const { error } = tasksSchema.safeParse([{ ...(written as object), after: ['b'] }]);
    const told = JSON.stringify(error?.issues);
    expect(told).toContain('must stand in a node of a \\"graph\\": nothing else reads it');
  });

  it('says whether what it repeats may have to wait for others', () => {
    const isLimited = (written: WrittenNode): unknown => {
      const node = only(written) as Structure;
      return kindOf(node).repeats?.isLimited(node);
    };
    expect(isLimited({ map: { over: [1], do: 'a', limit: 1 } })).toBe(true);
    expect(isLimited({ map: { over: [1], do: 'a' } })).toBe(false);
    expect(isLimited({ loop: { max: 2, do: 'a' } })).toBe(false);
    expect(isLimited({ sequence: ['a'] })).toBeUndefined();
  });
});

/** A graph in which a node begins as soon as an empty one before it is done. */
const oneIsEnough = (sequence: readonly WrittenNode[]): WrittenNode => ({
  graph: { x: [], y: 'a', z: { sequence, after: ['x', 'y'], join: 'any', cancel_rest: true } },
});

describe('a tree', () => {
  it('has the names of its entries, and of the structures that have one', () => {
    const written = ['a', { parallel: ['b', { task: 'c', name: 'd' }], name: 'both' }];
    expect(namesIn(toTree(written))).toEqual(['a', 'both', 'b', 'd']);
  });

  it.each<[boolean, string, WrittenNode]>([
    [true, 'empty lists', { parallel: [[], { graph: {} }] }],
    [true, 'what is not needed', { parallel: [[], 'a'], join: 'any', cancel_rest: true }],
    [true, 'what is not tried', { sequence: [], catch: [{ do: 'a' }] }],
    [true, 'the callback of another end', { batch: [], on_failure: 'a' }],
    [true, 'a node that another one replaces', oneIsEnough([])],
    [false, 'a node after one that is enough', oneIsEnough(['b'])],
    [false, 'a callback', { batch: [], on_complete: 'a' }],
    [false, 'something beside what is enough', { parallel: [[], 'a'], join: 'any' }],
    [false, 'an entry', { sequence: ['a'] }],
    [false, 'a condition', { sequence: [], when: 'true' }],
    [false, 'something to find out', { map: { over: [], do: [] } }],
  ])('has no steps (%s) with %s', (has, _of, written) => {
    expect(hasNoSteps(only(written))).toBe(has);
  });
});

describe('a delay', () => {
  it.each([
    ['100', true],
    [' 100 ', true],
    ['2030-01-01T00:00:00Z', true],
    ['{{params.until}}', true],
    ['99999999999999999999', false],
    ['soon', false],
  ])('may be written as the text %s: %s', (delay, isRight) => {
    expect(tasksSchema.safeParse([{ delay }]).success).toBe(isRight);
  });
});
