import { describe, expect, it } from 'vitest';
import { createNewLines, jobLog } from '../../src/cli/job-log.js';
import { createJobSorter, isSearchOrder, jobOrderOf } from '../../src/cli/job-sort.js';
import { momentOf } from '../../src/cli/since-flag.js';

const now = Date.parse('2030-01-31T12:00:00Z');
const job = (id: string, more: object = {}) => ({ _id: id, _rev: '1-a', type: 'job', ...more });

describe('the order of jobs', () => {
  const jobs = [
    job('new', { flow: 'b' }),
    job('short', { flow: 'c', state: '$$complete', exit: 0, start: 5, end: 10 }),
    job('long', { flow: 'a', state: '$$complete', exit: 2, start: 1, end: 9 }),
  ];

  it.each([
    ['started', ['short', 'long', 'new']],
    ['-started', ['long', 'short', 'new']],
    ['ended', ['short', 'long', 'new']],
    ['took', ['long', 'short', 'new']],
    ['-took', ['short', 'long', 'new']],
    ['flow', ['long', 'new', 'short']],
    ['-flow', ['short', 'new', 'long']],
    ['status', ['long', 'new', 'short']],
  ])('by %s is %j', (key, expected) => {
    const order = jobOrderOf(key);
    if (order === undefined) throw new Error(key);
    const sorter = createJobSorter(order, 3, now);
    for (const one of jobs) sorter.add(one);
    expect(sorter.first().map(({ _id }) => _id)).toEqual(expected);
  });

  it('keeps the first ones of many', () => {
    const sorter = createJobSorter({ key: 'ended', isReversed: true }, 2, now);
    for (let end = 3_000; end > 0; end -= 1) sorter.add(job(String(end), { start: 0, end }));
    expect(sorter.first().map(({ _id }) => _id)).toEqual(['1', '2']);
    expect(sorter.count()).toBe(3_000);
  });

  it('is that of the search when the newest come first', () => {
    expect(
      ['started', '-started', 'took']
        .map((key) => jobOrderOf(key))
        .map((order) => order && isSearchOrder(order)),
    ).toEqual([true, false, false]);
    expect(jobOrderOf('name')).toBeUndefined();
  });
});

describe('a moment in the past', () => {
  it.each([
    ['30s', now - 30_000],
    ['2h', now - 7_200_000],
    ['7d', now - 604_800_000],
    ['2030-01-31T08:00Z', Date.parse('2030-01-31T08:00Z')],
    ['2030-01-31', Date.parse('2030-01-31T00:00')],
    ['yesterday', undefined],
    ['2h ago', undefined],
    ['2030-13-45', undefined],
  ])('is read from %s', (text, expected) => {
    expect(momentOf(text, now)).toBe(expected);
  });
});

describe('the lines that a job has logged', () => {
  const line = (at: number, message: string) => ({ at, message });
  const steps = [
    { name: 'load', path: '0', attempt: 1, log: [line(1, 'one'), line(5, 'five')] },
    { name: 'save', path: '1', attempt: 2, log: [line(3, 'three'), 'no line'] },
    { name: 'quiet', path: '2' },
  ];
  const all = (): boolean => true;

  it('come by time, with their step and attempt', () => {
    expect(jobLog(job('j', { steps }), all)).toEqual([
      { at: 1, step: 'load', path: '0', attempt: 1, message: 'one' },
      { at: 3, step: 'save', path: '1', attempt: 2, message: 'three' },
      { at: 5, step: 'load', path: '0', attempt: 1, message: 'five' },
    ]);
    expect(jobLog(job('j', { steps }), ({ path }) => path === '1')).toHaveLength(1);
    expect(jobLog(job('j', { steps: 'none' }), all)).toEqual([]);
  });

  it('are new once, also when older ones are gone from the step', () => {
    const lines = createNewLines(all);
    const of = (...log: readonly object[]) =>
      lines(job('j', { steps: [{ name: 'load', path: '0', log }] })).map(({ message }) => message);
    expect(of(line(1, 'a'), line(2, 'b'))).toEqual(['a', 'b']);
    expect(of(line(1, 'a'), line(2, 'b'))).toEqual([]);
    expect(of(line(2, 'b'), line(3, 'c'))).toEqual(['c']);
    expect(of(line(9, 'x'), line(10, 'y'))).toEqual(['x', 'y']);
  });
});
