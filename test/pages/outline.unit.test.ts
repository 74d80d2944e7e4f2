import { describe, expect, it } from 'vitest';
import { attemptsIn } from '../../src/pages/job/attempts.js';
import { stepPathOf, stepTree, stretchOf, type OutlineGroup } from '../../src/pages/job/outline.js';
import { outlineRows, type ItemChoice } from '../../src/pages/job/outline-rows.js';
import { timescaleOf } from '../../src/pages/job/timescale.js';

const step = (path: string, state = '$$complete', more: object = {}) => ({
  ...{ path, name: 'calc', task: 'calc', attempt: 1, run: 1, state, accepted: 10, start: 10 },
  ...(state === '$$active' || state === '$$waiting' ? {} : { end: 20 }),
  ...(state === '$$error' ? { failure: { name: 'E', message: 'No.' } } : {}),
  ...more,
});
const mark = (path: string, items: readonly unknown[]) => ({
  ...step(path, '$$complete', { structure: 'map', name: 'map' }),
  result: { items },
});
const treeOf = (...steps: readonly object[]) =>
  stepTree(attemptsIn({ steps }), { steps }, new Map([['1', 'for each of list']]));
const seen = (
  steps: readonly object[],
  opened: Readonly<Record<string, boolean>> = {},
  choices: Readonly<Record<string, ItemChoice>> = {},
): readonly string[] =>
  outlineRows(treeOf(...steps), {
    opened: new Map(Object.entries(opened)),
    choices: new Map(Object.entries(choices)),
  }).map((row) => {
    const indent = '  '.repeat(row.depth);
    if (row.kind === 'chooser') return `${indent}chooser ${row.group.children.length}`;
    if (row.kind === 'more') return `${indent}more ${row.left}`;
    const { node } = row;
    const name = node.kind === 'step' ? node.name : node.label;
    return `${indent}${name} ${node.tone}`;
  });

describe('the steps of a job as an outline', () => {
  const many = [
    step('0', '$$complete', { name: 'echo' }),
    mark('1', ['a', 'b', 'c', 'd']),
    step('1.map.0'),
    step('1.map.1', '$$error'),
    step('1.map.2', '$$error'),
  ];

  it('shows a map as one row, and what failed in it when it is opened', () => {
    expect(seen(many)).toEqual(['echo succeeded', 'for each of list failed']);
    expect(seen(many, { 1: true })).toEqual([
      'echo succeeded',
      'for each of list failed',
      '  chooser 4',
      '  item 1 failed',
      '  item 2 failed',
    ]);
  });

  it('shows items by state and by number, with those that have not begun', () => {
    const open = { 1: true };
    const items = (choice: ItemChoice) => seen(many, open, { 1: choice }).slice(3);
    expect(items({ tone: 'all' })).toHaveLength(4);
    expect(items({ tone: 'queued' })).toEqual(['  item 3 queued']);
    expect(items({ number: 2 })).toEqual(['  item 2 failed']);
    expect(items({ number: 9 })).toEqual([]);
    expect(items({ tone: 'all', most: 1 })).toEqual(['  item 0 succeeded', '  more 3']);
    const [, group] = treeOf(...many) as readonly [unknown, OutlineGroup];
    expect(group.children.map((item) => (item as { value?: unknown }).value)).toEqual([
      ...['a', 'b', 'c', 'd'],
    ]);
  });

  it('opens items of several steps, and maps in maps', () => {
    const nested = [
      mark('1', [1]),
      step('1.map.0.sequence.0'),
      mark('1.map.0.sequence.1', [1, 2]),
      step('1.map.0.sequence.1.map.1'),
    ];
    const opened = { 1: true, '1.map.0': true, '1.map.0.sequence.1': true };
    expect(seen(nested, opened)).toEqual([
      'for each of list succeeded',
      '  item 0 succeeded',
      '    calc succeeded',
      '    map succeeded',
      '      chooser 2',
      '      item 0 queued',
      '      item 1 succeeded',
    ]);
  });

  it('opens few nodes beside each other by itself, and not many', () => {
    const beside = (count: number) =>
      Array.from({ length: count }, (_, i) => step(`0.parallel.${i}`));
    expect(seen(beside(2))).toHaveLength(3);
    expect(seen(beside(60))).toEqual(['parallel succeeded']);
    expect(seen([step('graph.a'), step('graph.b')])[0]).toBe('graph succeeded');
  });

  it('takes a failure that a handler made good for none', () => {
    const steps = [
      step('0.loop.0', '$$error'),
      step('0.loop.0.error'),
      step('0.loop.1', '$$error', { due: 99 }),
    ];
    expect(seen(steps)).toEqual(['loop waiting']);
    expect(seen(steps.slice(0, 2))).toEqual(['loop succeeded']);
    expect(seen([step('0.slice.3', '$$waiting')], { 0: true })).toContain('  slice 3 waiting');
    expect(seen([step('0', '$$skipped')])).toEqual(['calc cancelled']);
  });

  it('knows which step stands for an item, and how long a structure took', () => {
    const [, map] = treeOf(...many);
    if (map === undefined) throw new Error('There is no map.');
    expect(stepPathOf(map)).toBe('1.map.1');
    expect(stretchOf(map)).toEqual({ start: 10, end: 20 });
    const [open] = treeOf(step('1.map.0', '$$active'));
    expect(open && stretchOf(open)).toEqual({ start: 10 });
  });
});

describe('the axis of the timeline', () => {
  it('has places from 0 to 1, in proportion', () => {
    const { place, breaks } = timescaleOf([0, 1_000], [[0, 1_000]]);
    expect(breaks).toEqual([]);
    expect([-5, 0, 250, 1_000, 2_000].map(place)).toEqual([0, 0, 0.25, 1, 1]);
  });

  it('cuts long waits short', () => {
    const scale = timescaleOf(
      [0, 3_700_000],
      [
        [0, 50_000],
        [3_650_000, 3_700_000],
      ],
    );
    expect(scale.breaks).toEqual([{ from: 50_000, to: 3_650_000 }]);
    expect(scale.shownMs).toBe(100_000);
    expect(scale.place(50_000)).toBeCloseTo(0.475);
    expect(scale.place(3_650_000)).toBeCloseTo(0.525);
    expect(scale.place(3_700_000)).toBeCloseTo(1);
  });

  it('does not cut what is short, or no longer than the rest', () => {
    expect(timescaleOf([0, 4_000], [[0, 10]]).breaks).toEqual([]);
    expect(timescaleOf([0, 60_000], [[0, 40_000]]).breaks).toEqual([]);
  });
});
