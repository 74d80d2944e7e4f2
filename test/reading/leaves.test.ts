import { describe, expect, it } from 'vitest';
import { leavesIn, nodeAt } from '../../src/reading/entries.js';
import { flow } from '../support/builders.js';

describe('leavesIn', () => {
  const { tasks } = flow(['a', ['b']]);

  it('finds entries in order and by path', () => {
    const { list, at } = leavesIn(tasks);
    expect(list.map(({ path }) => path)).toEqual(['0', '1.sequence.0']);
    expect(at('1.sequence.0')).toBe(list[1]);
  });

  it('remembers a tree, for the prefix that was asked for', () => {
    const first = leavesIn(tasks);
    expect(leavesIn(tasks)).toBe(first);
    const { list } = leavesIn(tasks, 'cancel');
    expect(list.map(({ path }) => path)).toEqual([
      'cancel.sequence.0',
      'cancel.sequence.1.sequence.0',
    ]);
    expect(leavesIn(tasks).list).toEqual(first.list);
  });
});

describe('nodeAt', () => {
  const { tasks } = flow(['a', ['b']]);

  it.each([
    ['the root', '', 'sequence'],
    ['an entry', '1.sequence.0', 'b'],
    ['nothing below an entry', '0.activity.x', undefined],
    ['nothing where the tree has none', '7', undefined],
  ])('finds %s', (_title, path, name) => {
    const node = nodeAt(tasks, path);
    expect(node && ('task' in node ? node.task : node.structure)).toBe(name);
  });
});
