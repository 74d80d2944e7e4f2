import { describe, expect, test } from 'vitest';
import { readDesign } from '../../src/store/design-source.js';
import { readTriggered } from '../../src/model/trigger.js';
import { parseDocument } from '../../src/reading/parse.js';
import { statusOf } from '../../src/reading/status.js';
import { compileDesign } from './design-function.js';
import type { ViewName } from '../../src/store/views.js';

const views = { ...(await readDesign()).views, ...(await readDesign('search')).views };

/** What a map emits for a document, as `[key, value]`. */
function mapped(view: string, doc: object): readonly (readonly [unknown, unknown])[] {
  const rows: [unknown, unknown][] = [];
  const emit = (key: unknown, value: unknown): void => {
    rows.push([key, value]);
  };
  const map = compileDesign<(doc: object) => void>(views[view]?.map ?? '', { emit });
  map(doc);
  return rows;
}

const job = { _id: 'j', type: 'job', flow: 'daily', owner: 'me' };
const ended = { ...job, state: '$$complete', exit: 0, steps: [] };
const last = 8_640_000_000_000_000;
const ISO = '2026-11-21T10:00:00Z';

describe('maps', () => {
  // Shows L-08.
  test.each<[ViewName, object, readonly (readonly [unknown, unknown])[]]>([
    ['tasks', { type: 'task', name: 'a' }, [['a::DEFAULT', 'a']]],
    ['tasks', { type: 'task', name: 'a', owner: 'me', plugin: 'http' }, [['a::me', 'http']]],
    ['tasks', { type: 'flow', name: 'a', owner: 'me' }, []],
    ['flows', { type: 'flow', name: 'f', owner: 'me' }, [['f::me', true]]],
    ['flows', { type: 'flow', name: 'f', owner: 'me', enabled: false }, [['f::me', false]]],
    ['flows', { type: 'flow', name: 'f' }, []],
    ['jobs', job, [['daily::me', { state: '', exit: null }]]],
    ['jobs', { ...job, owner: undefined }, [['daily::DEFAULT', { state: '', exit: null }]]],
    ['jobs', { type: 'job', owner: 'me', tasks: [] }, [['::me', { state: '', exit: null }]]],
    [
      'jobs',
      { ...job, state: '$$complete', exit: 2 },
      [['daily::me', { state: '$$complete', exit: 2 }]],
    ],
    ['awake', job, [['', null]]],
    ['awake', { ...job, state: 'a-1' }, [['a-1', null]]],
    ['awake', { ...job, state: '$$ready', next_due: 5 }, []],
    ['awake', { ...job, state: '$$ready', next_due: 1e300 }, [['$$ready', null]]],
    ['awake', { ...job, exec_after: '2030-01-01T00:00:00Z' }, [['', null]]],
    ['awake', { ...ended }, []],
    ['awake', { ...job, state: '$$cancelled', exit: 130, failure: {} }, []],
    ['awake', { ...job, state: '$$complete', steps: [] }, [['$$complete', null]]],
    ['awake', { ...job, state: '$$complete', exit: 0, failure: null }, [['$$complete', null]]],
    ['awake', { ...ended, retry: false }, []],
    ['awake', { ...ended, retry: 'x' }, [['$$complete', null]]],
    ['awake', { ...ended, paused: true }, [['$$complete', null]]],
    ['awake', { ...ended, cancel: true }, [['$$complete', null]]],
    ['awake', { ...ended, state: '$$cancelled', cancel: true, paused: false }, []],
    ['unfinished', job, [[[''], 'daily::me']]],
    ['unfinished', { ...job, state: 'a-1' }, [[['a-1'], 'daily::me']]],
    ['unfinished', { ...job, state: 7 }, [[[''], 'daily::me']]],
    ['unfinished', { ...job, state: '$$complete' }, []],
    ['unfinished', { ...job, state: '$$cancelled' }, []],
    ['due', { type: 'event', event: 'paid' }, [[0, 'event']]],
    ['due', { type: 'event', event: 'paid', triggered: { at: 1 } }, []],
    ['due', { type: 'event' }, []],
    ['due', { type: 'gathering', next_due: 7 }, [[7, 'gathering']]],
    ['due', { type: 'gathering', next_due: 7, starting: {} }, [[0, 'gathering']]],
    ['due', { type: 'gathering' }, []],
    ['triggers', { type: 'flow', on: { event: 'paid' } }, [[['event', 'paid'], null]]],
    [
      'triggers',
      { type: 'flow', on: [{ event: 'a' }, null, { event: 7 }, { event: 'b' }, { event: 'a' }] },
      [
        [['event', 'a'], null],
        [['event', 'b'], null],
      ],
    ],
    ['triggers', { type: 'flow', on: 'paid' }, []],
    [
      'triggers',
      { type: 'event', triggered: { gathered: [{ into: 'g' }, null, { into: 7 }, { into: 'h' }] } },
      [
        [['gathered', 'g'], null],
        [['gathered', 'h'], null],
      ],
    ],
    ['triggers', { type: 'event', triggered: { gathered: 'g' } }, []],
    ['triggers', { type: 'event' }, []],
    ['triggers', { type: 'job', on: { event: 'paid' } }, []],
    ['due', job, []],
    ['due', { ...job, exec_after: 5 }, [[5, '']]],
    ['due', { ...job, exec_after: ISO }, [[Date.parse(ISO), '']]],
    ['due', { ...job, exec_after: 'soon' }, []],
    ['due', { ...job, state: '$$ready', exec_after: 5 }, []],
    ['due', { ...job, state: 'a-0', exec_after: 5, next_due: 7 }, [[7, 'a-0']]],
    ['due', { ...job, state: '$$complete', next_due: 7 }, []],
    ['failed', { ...job, state: '$$complete', exit: 0, end: 1 }, []],
    [
      'failed',
      { ...job, state: '$$complete', exit: 2, end: 1, failure: { name: 'X' } },
      [[['daily', 1], { exit: 2, failure: 'X' }]],
    ],
    [
      'failed',
      { ...job, state: '$$cancelled', exit: 130, end: 1 },
      [[['daily', 1], { exit: 130, failure: null }]],
    ],
    ['failed', { ...job, state: 'a-1', exit: 2 }, []],
    ['children', { ...job, parent: { job: 'p' } }, [['p', { state: '', exit: null }]]],
    ['children', { ...job, parent: 'p' }, []],
    ['requests', { type: 'request', job: 'j', action: 'cancel' }, [['j', 'cancel']]],
    ['requests', { type: 'request', action: 'cancel' }, []],
    ['refused', { type: 'request', job: 'j', refused: 'No.' }, [['request', 'No.']]],
    [
      'refused',
      { type: 'signal', failure: { name: 'InvalidRequest', message: 'Bad.' } },
      [['signal', 'Bad.']],
    ],
    ['refused', { type: 'signal', job: 'j', name: 'x', failure: { name: 'Mine' } }, []],
    ['refused', { type: 'request', job: 'j', action: 'cancel' }, []],
    ['refused', { type: 'job', refused: 'No.' }, []],
    [
      'refused',
      { type: 'event', failure: { name: 'InvalidEvent', message: 'Bad.' } },
      [['event', 'Bad.']],
    ],
    [
      'events',
      { type: 'event', event: 'paid', key: '7' },
      [
        [
          ['paid', '7'],
          [null, null],
        ],
      ],
    ],
    [
      'events',
      { type: 'event', event: 'paid', triggered: { at: 1, until: 2 } },
      [
        [
          ['paid', ''],
          [1, 2],
        ],
      ],
    ],
    [
      'triggers',
      { type: 'event', event: 'paid', triggered: { at: 1, until: 2 } },
      [[['expires', 2], null]],
    ],
    ['triggers', { type: 'event', event: 'paid', triggered: { until: 2, starting: [{}] } }, []],
    ['events', { type: 'event', event: 'paid', key: 7 }, []],
    ['engines', { type: 'engine', host: 'h', state: 'running' }, [['h', 'running']]],
    ['engines', { type: 'engine' }, [['', '']]],
    ['engines', { type: 'engine-control', engine: '*' }, [['*', 'control']]],
    [
      'search',
      job,
      [
        [
          ['all', last],
          ['daily', 'me', 'queued', null, null],
        ],
        [
          ['status', 'queued', last],
          ['daily', 'me', 'queued', null, null],
        ],
        [
          ['owner', 'me', last],
          ['daily', 'me', 'queued', null, null],
        ],
        [
          ['flow', 'daily', last],
          ['daily', 'me', 'queued', null, null],
        ],
      ],
    ],
    [
      'search',
      {
        type: 'job',
        tasks: [],
        state: '$$complete',
        exit: 2,
        start: 5,
        end: 9,
        failure: { name: 'Refused' },
        tags: ['a', 'b', 'a', 7],
        keys: { order: 12, deep: {}, sure: true },
        external_id: 'x-1',
        parent: { job: 'p' },
      },
      [
        ['all', 5],
        ['status', 'failed', 5],
        ['owner', 'DEFAULT', 5],
        ['failure', 'Refused', 5],
        ['external_id', 'x-1', 5],
        ['parent', 'p', 5],
        ['tag', 'a', 5],
        ['tag', 'b', 5],
        ['key', 'order', '12', 5],
        ['key', 'sure', 'true', 5],
      ].map((key) => [key, ['', 'DEFAULT', 'failed', 'Refused', null]]),
    ],
    [
      'figures',
      job,
      [
        [['', 'queued'], 0],
        [['me', 'queued'], 0],
      ],
    ],
    [
      'figures',
      { ...job, state: 'a-0', start: 5, steps: [{ state: '$$active' }] },
      [
        [['', 'running'], 0],
        [['me', 'running'], 0],
      ],
    ],
    [
      'figures',
      { ...job, state: '$$complete', exit: 0, start: 1000, end: 86_400_000 + 3_600_000 + 1 },
      [
        [['', 'succeeded', 1, 25, 1500], 90_000_001 - 1000],
        [['me', 'succeeded', 1, 25, 1500], 90_000_001 - 1000],
      ],
    ],
    [
      'figures',
      { ...job, state: '$$cancelled' },
      [
        [['', 'cancelled'], 0],
        [['me', 'cancelled'], 0],
      ],
    ],
    [
      'locks',
      { type: 'lock', kind: 'pattern', key: '^a', job: 'j', at: 5 },
      [[['pattern', '^a'], { job: 'j', at: 5 }]],
    ],
    [
      'locks',
      { type: 'lock', kind: 'permit', key: 'f::me', job: 'j', at: 7 },
      [[['permit', 'f::me'], { job: 'j', at: 7 }]],
    ],
    ['locks', { type: 'lock', key: 'a', job: 'j' }, [[['target', 'a'], { job: 'j', at: 0 }]]],
    ['locks', { type: 'lock', key: 'a' }, []],
    ['locks', { type: 'lock', job: 'j' }, []],
    [
      'jobs_by_key',
      {
        ...{ type: 'job', flow: 'f', state: '$$complete', exit: 0, start: 5 },
        keys: { order: 7, who: 'ada', is: true, list: [1], none: null },
      },
      [
        [
          ['order', 7, 5],
          ['f', 'DEFAULT', '$$complete', 0],
        ],
        [
          ['who', 'ada', 5],
          ['f', 'DEFAULT', '$$complete', 0],
        ],
        [
          ['is', true, 5],
          ['f', 'DEFAULT', '$$complete', 0],
        ],
      ],
    ],
    [
      'jobs_by_key',
      { type: 'job', keys: { a: 1 } },
      [
        [
          ['a', 1, null],
          ['', 'DEFAULT', '', null],
        ],
      ],
    ],
    [
      'inbox',
      {
        ...{ type: 'job', state: 'wait-0' },
        steps: [
          {
            state: '$$waiting',
            path: '0',
            attempt: 1,
            form: { assignee: ['ann'], group: ['g'], due: 5 },
          },
          { state: '$$waiting', path: '1', attempt: 2, form: {} },
          { state: '$$complete', path: '2', attempt: 1, form: {} },
          { state: '$$waiting', path: '3', attempt: 1 },
          null,
        ],
      },
      [
        [
          ['all', '', 5],
          ['DEFAULT', '0', 1],
        ],
        [
          ['user', 'ann', 5],
          ['DEFAULT', '0', 1],
        ],
        [
          ['group', 'g', 5],
          ['DEFAULT', '0', 1],
        ],
        [
          ['all', '', 4_320_000_000_000_000],
          ['DEFAULT', '1', 2],
        ],
        [
          ['anyone', '', 4_320_000_000_000_000],
          ['DEFAULT', '1', 2],
        ],
      ],
    ],
    [
      'inbox',
      {
        ...{ _id: 'j', type: 'job', state: 'wait-0', flow_definition: { name: 'f', owner: 'me' } },
        steps: [
          {
            ...{ state: '$$waiting', path: '0', name: 'n', attempt: 1, signal: 's', accepted: 3 },
            form: { title: 'T', due: 5, timers: [], links: [], schema: { type: 'object' } },
          },
        ],
      },
      [
        [
          ['all', '', 5],
          ['DEFAULT', '0', 1],
        ],
        [
          ['form', 'j', '0'],
          {
            ...{ job: 'j', flow: 'f', owner: 'me', title: 'T', due: 5, path: '0', step: 'n' },
            ...{ attempt: 1, signal: 's', since: 3, form: { type: 'object' } },
          },
        ],
        [
          ['anyone', '', 5],
          ['DEFAULT', '0', 1],
        ],
      ],
    ],
    ['inbox', { type: 'job', state: '$$complete', steps: [{ state: '$$waiting', form: {} }] }, []],
    ['inbox', { type: 'job', steps: 7 }, []],
    ['inbox', { type: 'task' }, []],
    ['jobs_by_key', { type: 'job', keys: ['a'] }, []],
    ['jobs_by_key', { type: 'task', keys: { a: 1 } }, []],
  ])('%s of %j', (view, doc, rows) => {
    expect(mapped(view, doc)).toEqual(rows);
  });

  /** Rows of one document whose single values are odd. */
  const most: Readonly<Record<string, number>> = { search: 4, figures: 2 };
  const odd = [null, 7, '', [], {}, true];
  const keys = [
    'job',
    'action',
    'host',
    'name',
    'owner',
    'plugin',
    'flow',
    'state',
    'exit',
    'end',
    'failure',
    'parent',
    'exec_after',
    'next_due',
  ];
  test.each(Object.keys(views))('%s takes any malformed document', (view) => {
    for (const type of [...odd, 'task', 'flow', 'job', 'request', 'engine', 'lock']) {
      for (const value of odd) {
        const doc = { type, ...Object.fromEntries(keys.map((key) => [key, value])) };
        expect(mapped(view, doc).length).toBeLessThanOrEqual(most[view] ?? 1);
        if (view === 'jobs' && type === 'job') expect(mapped(view, doc)).toHaveLength(1);
      }
    }
  });
});

describe('the status of a searched job', () => {
  const live = { ...job, state: 'a-0', start: 1 };
  test.each<[string, object]>([
    ['queued', job],
    ['queued', { ...job, state: '$$ready' }],
    ['scheduled', { ...job, exec_after: ISO }],
    ['scheduled', { ...live, next_due: 7, steps: [] }],
    ['waiting', { ...live, next_due: 7, steps: [{ state: '$$error' }] }],
    ['waiting', { ...live, steps: [{ state: '$$waiting' }] }],
    ['running', { ...live, steps: [{ state: '$$ready' }, { state: '$$waiting' }] }],
    ['running', { ...live, steps: [{ state: '$$complete' }] }],
    ['paused', { ...live, state: '$$paused' }],
    ['succeeded', { ...live, state: '$$complete', exit: 0 }],
    ['failed', { ...live, state: '$$complete', exit: 4 }],
    ['cancelled', { ...live, state: '$$cancelled', exit: 130 }],
  ])('is %s for %j, as it is counted', (status, doc) => {
    expect(mapped('search', doc)[1]?.[0]).toContain(status);
    expect(mapped('figures', doc)[0]?.[0]).toContain(status);
    expect(statusOf(doc as Record<string, unknown>, 0)).toBe(status);
  });
});

describe('the map of what is due', () => {
  const one = { job: 'j', flow: 'f', owner: 'o', entry: 0 };
  const rule = { by: 'batch', period: 1_000, size: 3 };
  const joining = { into: 'gathering:f:o:x', flow: 'f', owner: 'o', entry: 0, ...rule };
  const event = { type: 'event', event: 'paid' };
  test.each<[string, object]>([
    ['one that nobody has decided', event],
    ['one with a key', { ...event, key: '' }],
    ['one with a key that is no text', { ...event, key: 1 }],
    ['one whose key is null', { ...event, key: null }],
    ['one without a type', { type: 'event' }],
    ...['', ' ', 'a::b', '$$a', 'a$$', 'a\nb', 'a\u0085', '\u2028', '__proto__', 7].map(
      (name): [string, object] => [
        `one of type ${JSON.stringify(name)}`,
        { ...event, event: name },
      ],
    ),
    ...[
      ...[null, false, 0, '', 'x', [], {}, { at: 1 }, { at: 1, starting: [] }],
      { at: 1, starting: [one] },
      { at: 1, starting: {} },
      { starting: [one] },
      ...[{}, null, { ...one, job: 1 }, { ...one, flow: '' }, { ...one, owner: undefined }].map(
        (wrong) => ({ at: 1, starting: [one, wrong] }),
      ),
      ...[-1, 0.5, '0', 3].map((entry) => ({ at: 1, starting: [{ ...one, entry }] })),
      { at: 1, gathering: [joining] },
      { at: 1, starting: [one], gathering: [joining] },
      { at: 1, gathered: [joining] },
      { at: 1, gathering: {} },
      { at: 1, gathering: [] },
      ...[
        ...[{}, null, { into: 1 }, { flow: '' }, { owner: 7 }, { entry: -1 }, { entry: 0.5 }],
        ...[
          { by: 'x' },
          { period: -1 },
          { period: '1' },
          { size: 0 },
          { size: 1.5 },
          { size: '1' },
        ],
        ...[{ max: 'x' }, { max: 5 }, { max: -1 }, { key: 1 }, { key: 'k' }, { params: {} }],
      ].map((wrong) => ({ at: 1, gathering: [wrong && { ...joining, ...wrong }] })),
    ].map((triggered): [string, object] => [
      `one that has started ${JSON.stringify(triggered)}`,
      { ...event, triggered },
    ]),
  ])('lists of events those that engines have to read: %s', (_title, given) => {
    const doc = { _id: 'e', _rev: '1-e', ...given };
    const read = readTriggered((given as { triggered?: unknown }).triggered);
    const isOpen =
      read === undefined ||
      (read !== 'unreadable' && [...(read.starting ?? []), ...(read.gathering ?? [])].length > 0);
    const parsed = parseDocument(doc);
    const isDue = parsed.kind === 'event' && parsed.ok && isOpen;
    expect(mapped('due', doc)).toEqual(isDue ? [[0, 'event']] : []);
  });
});
