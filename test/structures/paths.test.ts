import { describe, expect, it } from 'vitest';
import {
  isOfDecider,
  isUndoing,
  itemAround,
  repetitionsAround,
} from '../../src/structures/paths.js';

describe('isOfDecider', () => {
  it.each([
    ['0.activity.x', true],
    ['0.timer.continue', true],
    ['0.child.graph', true],
    ['0.news.2', true],
    ['0.continue', true],
    ['0.graph.x.continue', true],
    ['0.graph.continue.activity.7', true],
    ['0.decision.3', false],
    ['0.graph.continue', false],
    ['graph.continue', false],
    ['0.graph.activity.error', false],
    ['0.graph.timer.undo', false],
    ['0.graph.child.default', false],
    ['0.graph.news.on_success', false],
    ['0.activity.x.error', false],
    ['0.sequence.1', false],
    ['0.timer', false],
    ['', false],
  ])('tells what a decider began from a node of a graph of that name: %s', (path, expected) => {
    expect(isOfDecider(path)).toBe(expected);
  });
});

describe('isUndoing', () => {
  it.each([
    ['0.undo', true],
    ['0.graph.a.undo.error', true],
    ['0.activity.x.undo', true],
    ['0.graph.a', false],
  ])('knows what takes a step back: %s', (path, expected) => {
    expect(isUndoing(path)).toBe(expected);
  });
});

describe('the repetitions around a path', () => {
  it('are none of the nodes of graphs that are named like them', () => {
    expect(repetitionsAround('0.graph.map.loop.1.graph.loop.map.0')).toEqual([
      { path: '0.graph.map', number: 1, item: '0.graph.map.loop.1' },
      {
        path: '0.graph.map.loop.1.graph.loop',
        number: 0,
        item: '0.graph.map.loop.1.graph.loop.map.0',
      },
    ]);
  });

  it.each([
    ['0.map.7.sequence.1.loop.2.parallel.0', '0.map.7.sequence.1.loop.2'],
    ['0.sequence.1', undefined],
    ['0.map.07', undefined],
  ])('end with the innermost: %s', (path, item) => {
    expect(itemAround(path)).toBe(item);
  });
});
