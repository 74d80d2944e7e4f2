import { describe, expect, it } from 'vitest';
import type { Summary } from '../../src/pages/answers.js';
import { changedParams } from '../../src/pages/job/changed-params.js';
import { filterOf, matches, searchParamsOf } from '../../src/pages/jobs/filter.js';
import {
  directionOf,
  inOrder,
  nextSort,
  sorted,
  sortOf,
  sortWords,
} from '../../src/pages/jobs/sort.js';
import { joined, firstPageOf, withBatch, withPage, type List } from '../../src/pages/jobs/list.js';

function job(id: string, more: Partial<Summary> = {}): Summary {
  return { id, rev: '1-a', owner: 'DEFAULT', status: 'running', attempts: 0, ...more };
}
const idsOf = ({ jobs }: List) => jobs.map(({ id }) => id);
const all = { wanted: () => true, hold: false };
const changed = (...jobs: readonly Summary[]) => ({
  changed: new Map(jobs.map((one) => [one.id, one])),
  removed: new Set<string>(),
});

describe('the list of jobs', () => {
  const list = firstPageOf({ jobs: [job('b', { start: 2 }), job('a', { start: 1 })], cursor: 'c' });

  it('changes a job where it stands', () => {
    const after = withBatch(list, changed(job('a', { status: 'failed' })), all);
    expect(idsOf(after)).toEqual(['b', 'a']);
    expect(after.jobs[1]?.status).toBe('failed');
  });

  it('puts new ones first, the newest before all, and what has not begun before those', () => {
    const after = withBatch(
      list,
      changed(job('c', { start: 3 }), job('d'), job('e', { start: 5 })),
      all,
    );
    expect(idsOf(after)).toEqual(['d', 'e', 'c', 'b', 'a']);
  });

  it('lets one go that is not like that any more, or was removed', () => {
    const wanted = ({ status }: Summary) => status === 'running';
    const after = withBatch(list, changed(job('a', { status: 'failed' })), { wanted, hold: false });
    expect(idsOf(after)).toEqual(['b']);
    const removed = { changed: new Map<string, Summary>(), removed: new Set(['b']) };
    expect(idsOf(withBatch(list, removed, all))).toEqual(['a']);
  });

  it('keeps new ones above while somebody reads, and counts each once', () => {
    const held = { ...all, hold: true };
    const once = withBatch(list, changed(job('c', { start: 3 })), held);
    const twice = withBatch(once, changed(job('c', { start: 3, attempts: 1 })), held);
    expect(idsOf(twice)).toEqual(['b', 'a']);
    expect(twice.above).toMatchObject([{ id: 'c', attempts: 1 }]);
    expect(idsOf(joined(twice))).toEqual(['c', 'b', 'a']);
    expect(joined(twice).above).toEqual([]);
  });

  it('adds older pages at the end, without those that are there', () => {
    const after = withPage(list, { jobs: [job('a'), job('z')] });
    expect(idsOf(after)).toEqual(['b', 'a', 'z']);
    expect(after.cursor).toBeUndefined();
  });
});

describe('the filter', () => {
  it('is the same after it was an address', () => {
    const text = 'status=failed%2Crunning&flow=etl&key=day%3D7&from=2030-01-01T08%3A00';
    expect(searchParamsOf(filterOf(new URLSearchParams(text))).toString()).toBe(text);
  });

  it('leaves out what an address may not say', () => {
    const search = new URLSearchParams('status=no,failed&flow=%20&x=1');
    expect(filterOf(search)).toEqual({ status: ['failed'] });
  });

  it.each([
    ['status=failed', { status: 'failed' as const }, { status: 'running' as const }],
    ['flow=f', { flow: 'f' }, { flow: 'g' }],
    ['owner=me', { owner: 'me' }, {}],
    ['tag=a,b', { tags: ['b', 'c', 'a'] }, { tags: ['a'] }],
    ['key=day=7', { keys: { day: 7 } }, { keys: { day: 8 } }],
    ['failure=E', { failure: { name: 'E', message: '' } }, {}],
    ['external_id=x', { external_id: 'x' }, {}],
    ['parent=p', { parent: 'p' }, { parent: 'q' }],
    ['from=2030-01-01T00:00', { start: Date.UTC(2031, 0) }, { start: Date.UTC(2029, 0) }],
    ['to=2030-01-01T00:00', { start: Date.UTC(2029, 0) }, { start: Date.UTC(2031, 0) }],
  ])('%s holds for some jobs and not for others', (text, fits, does_not) => {
    const filter = filterOf(new URLSearchParams(text));
    expect([matches(job('a', fits), filter), matches(job('a', does_not), filter)]).toEqual([
      true,
      false,
    ]);
  });
});

describe('parameters that were edited for a retry', () => {
  const before = { load: { table: 'a', password: '[secret]', deep: { x: 1, y: [1, 2] } }, n: 1 };

  it.each([
    ['nothing', before, {}],
    ['what is left out', { n: 2 }, { n: 2 }],
    [
      'an inner value',
      { ...before, load: { ...before.load, table: 'b' } },
      { load: { table: 'b' } },
    ],
    [
      'a list',
      { ...before, load: { ...before.load, deep: { x: 1, y: [3] } } },
      { load: { deep: { y: [3] } } },
    ],
    ['a new step', { ...before, mail: { to: 'x' } }, { mail: { to: 'x' } }],
    [
      'a secret',
      { ...before, load: { ...before.load, password: 'new' } },
      { load: { password: 'new' } },
    ],
  ])('are sent as what is different: %s', (_what, after, expected) => {
    expect(changedParams(before, after)).toEqual(expected);
  });

  it.each([
    ['no object', [1], /must be an object/],
    ['a secret is kept in a list', { ...before, list: ['[secret]'] }, /"list" holds a secret/],
  ])('are refused where %s', (_what, after, sentence) => {
    expect(() => changedParams(before, after)).toThrow(sentence);
  });
});

describe('the order of the list', () => {
  const sortFrom = (text: string) => sortOf(new URLSearchParams(text));

  it('is part of the address, unless it is the usual one', () => {
    for (const words of ['took', '-took', '-started', 'id', '-owner']) {
      expect(sortWords(sortFrom(`sort=${words}`))).toBe(words);
    }
    for (const words of ['', 'sort=started', 'sort=nothing']) {
      expect(sortFrom(words)).toBe(undefined);
    }
  });

  it('is that of a column, then its reverse, then the usual one', () => {
    const first = nextSort(undefined, 'took');
    const second = nextSort(first, 'took');
    expect([first, second, nextSort(second, 'took')].map(sortWords)).toEqual([
      'took',
      '-took',
      undefined,
    ]);
    const oldest = nextSort(undefined, 'started');
    expect(
      [oldest, nextSort(oldest, 'started'), nextSort(first, 'started')].map(sortWords),
    ).toEqual(['-started', undefined, undefined]);
  });

  it('is told to screen readers', () => {
    expect(directionOf(undefined, 'started')).toBe('descending');
    expect(directionOf(undefined, 'took')).toBe(undefined);
    expect(directionOf(sortFrom('sort=-took'), 'took')).toBe('ascending');
    expect(directionOf(sortFrom('sort=flow'), 'flow')).toBe('ascending');
  });

  it('puts the longest first, by the time until now of what has not ended, and what has no value last', () => {
    const jobs = [
      job('short', { start: 10, end: 20 }),
      job('new'),
      job('runs', { start: 50 }),
      job('long', { start: 0, end: 90 }),
    ];
    const ids = (words: string) => sorted(jobs, sortFrom(words), 100).map(({ id }) => id);
    expect(ids('sort=took')).toEqual(['long', 'runs', 'short', 'new']);
    expect(ids('sort=-took')).toEqual(['short', 'runs', 'long', 'new']);
    expect(ids('sort=-started')).toEqual(['long', 'short', 'runs', 'new']);
    expect(ids('')).toEqual(['short', 'new', 'runs', 'long']);
  });

  it('leaves rows where they are when it is told to, and puts new ones last', () => {
    const jobs = [job('c'), job('new'), job('a'), job('b')];
    expect(inOrder(jobs, ['a', 'gone', 'b', 'c']).map(({ id }) => id)).toEqual([
      'a',
      'b',
      'c',
      'new',
    ]);
  });

  it('puts names by alphabet, numbers in them by their size', () => {
    const jobs = [job('run-10'), job('run-9', { flow: 'etl' }), job('a', { flow: 'bill' })];
    const ids = (words: string) => sorted(jobs, sortFrom(words), 0).map(({ id }) => id);
    expect(ids('sort=id')).toEqual(['a', 'run-9', 'run-10']);
    expect(ids('sort=-id')).toEqual(['run-10', 'run-9', 'a']);
    expect(ids('sort=flow')).toEqual(['a', 'run-9', 'run-10']);
  });
});
