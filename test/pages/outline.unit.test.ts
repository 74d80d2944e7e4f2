import { describe, expect, it } from 'vitest';
import { attemptsIn } from '../../src/pages/job/attempts.js';
import { drawnJob } from '../../src/pages/graph/picture-of.js';
import { stepPathOf, stepTree, stretchOf, type OutlineGroup } from '../../src/pages/job/outline.js';
import { countStates, outlineRows, type ItemChoice } from '../../src/pages/job/outline-rows.js';
import { axisLabel, marksIn, timescaleOf, withRoom } from '../../src/pages/job/timescale.js';

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
const each = (task: unknown) => ({ map: { over: 'list', do: task } });
/** Without tasks it is a document that cannot be drawn. */
const treeOf = (tasks: readonly unknown[] | undefined, steps: readonly object[]) => {
  const job = { state: 'calc-0', run: 1, steps, ...(tasks === undefined ? {} : { tasks }) };
  const labels = new Map([['1', 'for each of list']]);
  return stepTree(attemptsIn(job), job, { labels, states: drawnJob(job).states });
};
const seen = (
  tasks: readonly unknown[] | undefined,
  steps: readonly object[],
  opened: Readonly<Record<string, boolean>> = {},
  choices: Readonly<Record<string, ItemChoice>> = {},
): readonly string[] =>
  outlineRows(treeOf(tasks, steps), {
    opened: new Map(Object.entries(opened)),
    choices: new Map(Object.entries(choices)),
  }).map((row) => {
    const indent = '  '.repeat(row.depth);
    if (row.kind === 'chooser') return `${indent}chooser ${row.group.children.length}`;
    if (row.kind === 'more') return `${indent}more ${row.left}`;
    const { node } = row;
    const name = node.kind === 'step' ? node.name : node.label;
    return `${indent}${name} ${node.state}`;
  });

describe('the steps of a job as an outline', () => {
  const tasks = ['echo', each('calc')];
  const many = [
    step('0', '$$complete', { name: 'echo' }),
    mark('1', ['a', 'b', 'c', 'd']),
    step('1.map.0'),
    step('1.map.1', '$$error'),
    step('1.map.2', '$$error'),
  ];

  it('shows a map as one row, and what failed in it when it is opened', () => {
    expect(seen(tasks, many)).toEqual(['echo done', 'for each of list failed']);
    expect(seen(tasks, many, { 1: true })).toEqual([
      'echo done',
      'for each of list failed',
      '  chooser 4',
      '  item 1 failed',
      '  item 2 failed',
    ]);
  });

  it('shows items by state and by number, with those that have not begun', () => {
    const open = { 1: true };
    const items = (choice: ItemChoice) => seen(tasks, many, open, { 1: choice }).slice(3);
    expect(items({ state: 'all' })).toHaveLength(4);
    expect(items({ state: 'pending' })).toEqual(['  item 3 pending']);
    expect(items({ number: 2 })).toEqual(['  item 2 failed']);
    expect(items({ number: 9 })).toEqual([]);
    expect(items({ state: 'all', most: 1 })).toEqual(['  item 0 done', '  more 3']);
    const [, group] = treeOf(tasks, many) as readonly [unknown, OutlineGroup];
    expect(group.children.map((item) => (item as { value?: unknown }).value)).toEqual([
      ...['a', 'b', 'c', 'd'],
    ]);
    expect(countStates(group.children)).toEqual([
      ['failed', 2],
      ['done', 1],
      ['pending', 1],
    ]);
  });

  it('opens items of several steps, and maps in maps', () => {
    const inner = { sequence: ['calc', each('calc')] };
    const nested = [
      step('0'),
      mark('1', [1]),
      step('1.map.0.sequence.0'),
      mark('1.map.0.sequence.1', [1, 2]),
      step('1.map.0.sequence.1.map.1', '$$active'),
    ];
    const opened = { 1: true, '1.map.0': true, '1.map.0.sequence.1': true };
    expect(seen(['calc', each(inner)], nested, opened)).toEqual([
      'calc done',
      'for each of list active',
      '  item 0 active',
      '    calc done',
      '    map active',
      '      chooser 2',
      '      item 0 pending',
      '      item 1 active',
    ]);
  });

  it('opens few nodes beside each other by itself, and not many', () => {
    const beside = (count: number) => [
      [{ parallel: Array.from({ length: count }, () => 'calc') }],
      Array.from({ length: count }, (_, i) => step(`0.parallel.${i}`)),
    ];
    const [fewTasks, few] = beside(2);
    expect(seen(fewTasks, few as readonly object[])).toHaveLength(3);
    const [wideTasks, wide] = beside(60);
    expect(seen(wideTasks, wide as readonly object[])).toEqual(['parallel done']);
  });

  it('has the states of the graph: what a handler made good, what was cancelled or left out', () => {
    const tried = [each({ task: 'calc', error: 'help' })];
    const steps = [
      mark('0', [1]),
      step('0.map.0', '$$error'),
      step('0.map.0.error'),
      step('0.map.1', '$$error', { due: 99 }),
    ];
    expect(seen(tried, [mark('0', [1, 2]), ...steps.slice(1)])).toEqual(['map retrying']);
    expect(seen(tried, steps.slice(0, 3), { 0: true, '0.map.0': true })).toEqual([
      'map done',
      '  item 0 recovered',
      '    calc recovered',
      '    calc done',
    ]);
    expect(seen(['calc', 'calc'], [step('0', '$$skipped'), step('1', '$$cancelled')])).toEqual([
      'calc skipped',
      'calc cancelled',
    ]);
    const undone = [step('0'), step('1', '$$error'), step('0.undo')];
    expect(seen([{ task: 'calc', undo: 'calc' }, 'calc'], undone)[0]).toBe('calc undone');
  });

  it('reads the steps alone where the tasks cannot be drawn', () => {
    const steps = [step('graph.a'), step('0.slice.3', '$$waiting'), step('2', '$$odd')];
    expect(seen(undefined, steps, { 0: true })).toEqual([
      'graph waiting',
      '  calc done',
      'slice waiting',
      '  slice 3 waiting',
      'calc pending',
    ]);
  });

  it('knows which step stands for an item, and how long a structure took', () => {
    const [, map] = treeOf(tasks, many);
    if (map === undefined) throw new Error('There is no map.');
    expect(stepPathOf(map)).toBe('1.map.1');
    expect(stretchOf(map)).toEqual({ start: 10, end: 20 });
    const [open] = treeOf(tasks, [step('1.map.0', '$$active')]);
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

  it('cuts several waits of the same length, and one of seconds beside steps of milliseconds', () => {
    const busy = [0, 10_010, 20_020, 30_030].map((from) => [from, from + 10] as const);
    expect(timescaleOf([0, 30_040], busy).breaks).toHaveLength(3);
    expect(
      timescaleOf(
        [0, 3_020],
        [
          [0, 10],
          [3_010, 3_020],
        ],
      ).shownMs,
    ).toBe(20);
  });

  it('has marks before and behind a wait that is cut, however long it was', () => {
    const day = 86_400_000;
    const range = [0, 30 * day] as const;
    const busy = [
      [0, 50_000],
      [30 * day - 50_000, 30 * day],
    ] as const;
    const marks = marksIn(timescaleOf(range, busy), range, 1);
    expect(marks.map(({ at }) => at)).toEqual([0, 30_000, 30 * day - 20_000]);
    expect(marks.map(({ text }) => text)).toEqual(['0', '30 s', '+30 s']);
    const short = marksIn(timescaleOf([5, 605], [[5, 605]]), [5, 605], 1);
    expect(short.map(({ text }) => text)).toEqual([
      ...['0', '0.1 s', '0.2 s', '0.3 s', '0.4 s', '0.5 s', '0.6 s'],
    ]);
  });

  it('tells marks behind a long wait apart, if need be by the time since the wait', () => {
    const after = (waitMs: number) => {
      const range = [0, waitMs + 110] as const;
      const busy = [[waitMs, waitMs + 110]] as const;
      return marksIn(timescaleOf(range, busy), range, 1).map(({ text }) => text);
    };
    const seconds = ['32.02 s', '32.04 s', '32.06 s', '32.08 s', '32.1 s'];
    expect(after(32_000)).toEqual(['0', ...seconds]);
    const since = ['+20 ms', '+40 ms', '+60 ms', '+80 ms', '+0.1 s'];
    expect(after(7_200_000)).toEqual(['0', ...since]);
  });

  it.each([
    ['all where there is room', 800, [], ['0', '20 ms', '40 ms', '60 ms', '80 ms']],
    ['not what would cover the one before', 150, [], ['0', '20 ms', '60 ms']],
    ['not what would cover the length of a wait', 800, [0.21], ['0', '40 ms', '60 ms', '80 ms']],
    ['nothing where there is no room at all', 10, [], []],
  ] as const)('shows of the marks %s', (_title, width, waits, expected) => {
    const texts = ['0', '20 ms', '40 ms', '60 ms', '80 ms'];
    const labels = texts.map((text, i) => axisLabel(i, text, i / 5, width));
    const others = waits.map((place) => axisLabel(place, '⋯ 29 s', place, width));
    expect(withRoom(labels, others).map(({ text }) => text)).toEqual(expected);
  });

  it('has a mark at the right end stand before its place', () => {
    expect(axisLabel(1, '9 s', 1, 100)).toMatchObject({ to: 100, isBefore: true });
    expect(axisLabel(1, '9 s', 0, 100)).toMatchObject({ from: 0, isBefore: false });
  });

  it('does not cut what is short, or no longer than the rest', () => {
    expect(timescaleOf([0, 900], [[0, 10]]).breaks).toEqual([]);
    expect(timescaleOf([0, 60_000], [[0, 40_000]]).breaks).toEqual([]);
  });
});
