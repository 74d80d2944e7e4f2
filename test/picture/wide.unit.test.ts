import { describe, expect, it } from 'vitest';
import { foldedPicture } from '../../src/picture/fold.js';
import { layout } from '../../src/picture/layout.js';
import { pictureOf } from '../../src/picture/picture-of.js';
import { toTree } from '../../src/structures/to-tree.js';
import type { WrittenNode } from '../../src/structures/kind.js';

const drawn = (...steps: readonly WrittenNode[]) => pictureOf(toTree([...steps]));
const beside = (count: number): WrittenNode => ({
  parallel: Array.from({ length: count }, (_, i) => ({ task: 'a', name: `branch-${i}` })),
});

describe('many nodes beside each other', () => {
  it('stand in several lines, in order, in the frame of their structure', () => {
    const laid = layout(drawn('a', beside(60), 'b'));
    expect(laid.width).toBeLessThan(1_100);
    const branches = laid.nodes.filter(({ label }) => label.startsWith('branch-'));
    expect(branches).toHaveLength(60);
    const [first, second] = branches;
    expect(second?.x).toBeGreaterThan(first?.x ?? Infinity);
    expect(new Set(branches.map(({ y }) => y)).size).toBeGreaterThan(5);
    const frame = laid.frames.find(({ path, kind }) => path === '1' && kind === 'parallel');
    if (frame === undefined) throw new Error('There is no frame.');
    for (const { x, y } of branches) {
      expect(Math.abs(x - frame.x)).toBeLessThan(frame.width / 2);
      expect(Math.abs(y - frame.y)).toBeLessThan(frame.height / 2);
    }
    const places = new Set(branches.map(({ x, y }) => `${x} ${y}`));
    expect(places.size).toBe(60);
    expect(laid.edges.length).toBeLessThan(10);
  });

  it('are in one line while they are few, or have more edges than two', () => {
    const few = layout(drawn(beside(8)));
    expect(few.frames.map(({ kind }) => kind)).toEqual(['parallel']);
    const handled = Array.from({ length: 9 }, () => ({ task: 'a', error: 'h' }));
    expect(layout(drawn({ parallel: handled })).frames).toHaveLength(1);
    const chosen = { choice: Array.from({ length: 9 }, () => ({ when: 'x', then: 'a' })) };
    expect(layout(drawn(chosen)).frames).toEqual([]);
  });
});

describe('a folded structure', () => {
  const picture = drawn(
    'a',
    { parallel: ['b', { map: { over: [1], do: ['c', 'd'] } }, { parallel: ['x', 'y'] }] },
    'e',
  );
  const idsOf = (...paths: readonly string[]) =>
    foldedPicture(picture, new Set(paths)).nodes.map(({ id }) => id);

  it('is its head alone, with the edges that led in and out', () => {
    const folded = foldedPicture(picture, new Set(['1']));
    expect(folded.nodes.map(({ id }) => id)).toEqual(['#begin', '0', '1', '2', '#end']);
    expect(folded.edges.map(({ from, to }) => `${from} ${to}`).toSorted()).toEqual([
      ...['#begin 0', '0 1', '1 2', '2 #end'],
    ]);
    expect(folded.frames).toEqual([]);
    expect(folded.nodes[2]).not.toHaveProperty('frame');
    expect(() => layout(folded)).not.toThrow();
  });

  it('stays in the frame around it, and hides what is folded in it', () => {
    const inner = foldedPicture(picture, new Set(['1.parallel.1']));
    expect(inner.nodes.find(({ id }) => id === '1.parallel.1')?.frame).toBe('1#frame');
    expect(inner.nodes.map(({ id }) => id)).not.toContain('1.parallel.1.map.*.sequence.0');
    expect(idsOf('1', '1.parallel.1')).toEqual(idsOf('1'));
    expect(foldedPicture(picture, new Set())).toBe(picture);
  });
});

describe('nodes of a graph', () => {
  it('are called by their keys, and say which task they run', () => {
    const { nodes } = drawn({
      graph: { extract: 'noop', load: { task: 'noop', name: 'own', after: ['extract'] } },
    });
    expect(nodes.map(({ label, detail }) => [label, detail])).toEqual([
      ['begin', undefined],
      ['graph', undefined],
      ['extract', 'noop'],
      ['own', 'noop'],
      ['end', undefined],
    ]);
  });
});
