import { job, kind, list, one, record, slow, type Kind, type Written } from './kind.js';

/** A job that is under way, by its document alone. */
const live = (more: object): Written =>
  job({
    ...{ state: '$$ready', start: 1, steps: [], run: 1, tasks: ['noop'] },
    ...{ definitions: {}, flow_definition: { type: 'flow', name: 'x', owner: 'hostile' } },
    ...more,
  });
const forged = (name: string, fate: Kind['fate'], more: (n: number) => object): Kind =>
  kind(name, fate, (n) => [live(more(n))]);

const step = (more: object): object => ({
  ...{ index: 0, path: '0', name: 'noop', task: 'noop', plugin: 'noop', attempt: 1, run: 1 },
  ...{ phase: 'main', state: '$$active', pid: 1, engine: 'engine:nobody', claim: 'c' },
  ...{ accepted: 1, start: 1, params: {} },
  ...more,
});
const ended = (i: number): object =>
  step({ path: String(i), index: i, state: '$$complete', exit: 0, end: 2, claim: `c${i}` });

const pair = (i: number): readonly [string, number] => [`p${i}`, i];

/** Jobs in which somebody wrote what only engines write. */
const jobs: readonly Kind[] = [
  forged('forged steps', [3, 'refused'], (n) => ({
    steps: one<unknown>(n, 'none', [null], {}, [[]], [7]),
  })),
  forged('forged state', 'refused', (n) => ({
    state: one<unknown>(n, '$$none', '', 7, 'noop-9', '$$active'),
  })),
  forged('forged slice', 3, (n) => ({
    slice: one<unknown>(n, {}, [], 'x', { path: 'x', total: 1, before: [] }),
  })),
  forged('forged claims', [1, 3], (n) => ({
    steps: [step(one<object>(n, { claim: 7 }, { engine: 'e' }, { attempt: 1e308 }))],
  })),
  forged('forged definitions', 3, (n) => ({
    definitions: one<unknown>(n, { noop: 7 }, [], 'x', { noop: { type: 'task', name: 'other' } }),
  })),
  forged('forged flow', 3, (n) => ({
    flow_definition: one<unknown>(n, 7, {}, { name: 'x', owner: {} }),
  })),
  forged('forged due', 3, (n) => ({ next_due: one<unknown>(n, 'soon', -1, 1e308, {}) })),
  forged('forged clocks', 3, (n) =>
    one<object>(n, { held_ms: 1e308 }, { held_since: 'x' }, { timed_from: -5 }, { start: 'x' }),
  ),
  forged('forged runs', 3, (n) =>
    one<object>(n, { run: 1e308 }, { run: 0 }, { first_run: 9 }, { restarts: -1 }),
  ),
  forged('forged parent', 3, (n) => ({
    parent: one<unknown>(n, 'x', { job: 'nowhere', step: 'x', root: 'nowhere' }, { job: {} }, []),
  })),
  forged('forged signals', 3, (n) => ({
    signals: one<unknown>(
      n,
      [null],
      'x',
      list(6_000, (i) => ({ id: `s${i}`, name: 'x', at: i })),
    ),
  })),
  forged('forged requests', 3, (n) => ({
    requests: one<unknown>(
      n,
      [null],
      'x',
      list(6_000, (i) => ({ id: `r${i}`, action: 'note' })),
    ),
  })),
  forged('forged problems', 3, (n) => ({
    problems: one<unknown>(
      n,
      'x',
      [null],
      list(6_000, (i) => ({ path: `p${i}`, message: 'm' })),
    ),
  })),
  forged('many forged steps', 0, (n) => ({
    tasks: list(100, () => 'noop'),
    steps: list(one(n, 6_001, 19_000), (i) => ended(i % 100)),
  })),
  forged('too many forged steps', 3, (n) => ({
    tasks: list(100, () => 'noop'),
    steps: list(one(n, 22_000, 40_000), (i) => ended(i % 100)),
  })),
  forged('many wrong steps', 3, (n) => ({
    steps: [...list(5_000, () => ended(0)), ...list(15_000, () => one<unknown>(n, 7, {}, null))],
  })),
  forged('many forged entries', 3, (n) =>
    one<object>(
      n,
      { definitions: record(50_000, (i) => [`d${i}`, n]) },
      { signals: list(100_000, (i) => ({ id: `s${i}`, name: 'x', at: i })) },
      { problems: list(100_000, () => ({ path: '', message: '' })) },
      { requests: list(1_000_000, () => n) },
      { redo: list(100_000, () => ({ from: '0', run: 1 })) },
      { also_started: list(1_000_000, (i) => i) },
      { slice: { path: '0', total: 1, before: list(20_000, () => ended(0)) } },
    ),
  ),
  forged('many forged params', 3, (n) =>
    one<object>(
      n,
      { params: record(150_000, pair) },
      { steps: [step({ params: record(150_000, pair) })] },
      { definitions: { noop: { type: 'task', name: 'noop', params: record(60_000, pair) } } },
      { flow_definition: { type: 'flow', name: 'x', owner: 'x', params: record(60_000, pair) } },
    ),
  ),
  forged('forged locks', 3, (n) => ({
    locked: one<unknown>(n, 'x', { target: 'lock:x' }, { target: 7 }),
  })),
  forged('forged map', [1, 3], (n) => ({
    tasks: [{ structure: 'map', map: { over: [1, 2], do: 'noop' } }],
    steps: [
      step({
        ...{ path: '0', name: 'map', task: 'map', state: '$$complete', exit: 0, end: 2 },
        result: one<unknown>(
          n,
          { items: list(20_000, (i) => i) },
          { items: 'x' },
          { items: [1], slice: 0 },
          7,
        ),
      }),
    ],
  })),
  kind('forged end', 'refused', (n) => [
    job({
      state: one(n, '$$complete', '$$cancelled'),
      exit: one<unknown>(n, 'x', 0, -1),
      retry: one<unknown>(n, true, {}, 'x', { from: 'nowhere' }),
    }),
  ]),
  slow(
    kind('forged retry of a large job', 'told', (n) => [
      job({
        state: '$$complete',
        exit: 2,
        retry: true,
        tasks: ['noop'],
        steps: list(5_000 + n, (i) => ended(i)),
      }),
    ]),
  ),
];

/** Documents beside jobs that are not what they say. */
const others: readonly Kind[] = [
  kind('forged engine', 0, (n) => [
    {
      type: 'engine',
      ...one<object>(
        n,
        { state: 'running' },
        { state: 7, plugins: 'x' },
        { plugins: list(50_000, String) },
      ),
      renewed: 1e15,
    },
    job({ tasks: ['noop'] }),
  ]),
  kind('forged control', 0, (n) => [
    { type: 'engine-control', engine: one<unknown>(n, {}, 7, 'engine:nobody'), enabled: 'no' },
    job({ tasks: ['noop'] }),
  ]),
  kind('forged lock', 0, (n) => [
    {
      type: 'lock',
      kind: one(n, 'target', 'pattern', 'permit', 'x'),
      job: one<unknown>(n, 7, 'nowhere'),
      target: '.*',
      pattern: '(',
      owner: 'hostile',
    },
    job({ tasks: ['noop'] }),
  ]),
  kind('unknown type', 0, (n) => [
    { type: one<unknown>(n, 'nothing', 7, null, {}, '__proto__'), huge: list(30_000, (i) => i) },
    job({ tasks: ['noop'] }),
  ]),
  kind('forged events', 0, (n) => [
    ...list(20, (i) => ({
      type: 'event',
      name: one<unknown>(n, 'x', 7, {}),
      key: i,
      data: record(500, (k) => [`k${k}`, i]),
    })),
    job({ tasks: ['noop'] }),
  ]),
  slow(
    kind('signals to one job', 'told', (n, id) => [
      ...list(20, (i) => ({ type: 'signal', job: `${id}-20`, name: `s${i % 7}`, data: { n, i } })),
      job({ tasks: [{ wait: { signal: 's1', timeout: 60_000 } }] }),
    ]),
  ),
  slow(
    kind('requests to one job', 'told', (n, id) => [
      ...list(20, (i) => ({
        ...{ type: 'request', job: `${id}-20`, action: one(i, 'note', 'skip', 'retry', 'nothing') },
        ...{ text: 'x'.repeat(100 + n), from: 'nowhere', step: 'nowhere' },
      })),
      job({ tasks: ['noop'] }),
    ]),
  ),
  kind('huge signal', 1, (n, id) => [
    { type: 'signal', job: `${id}-1`, name: 'x', data: list(51_000 + n, (i) => i) },
    job({ tasks: [{ wait: { signal: 'x', timeout: 100 } }] }),
  ]),
  slow(
    kind('huge note', 0, (n, id) => [
      { type: 'request', job: `${id}-1`, action: 'note', text: 'x'.repeat(1_100_000 + n) },
      job({ tasks: ['noop'] }),
    ]),
  ),
  slow(
    kind('huge result', 0, (n) => [
      job({
        tasks: [
          { task: 'jsonata', params: { expression: `[1..${20_000 + n}]` } },
          'noop',
          { task: 'noop', params: { a: '{{results.jsonata}}' } },
        ],
      }),
    ]),
  ),
];

export const forgeries: readonly Kind[] = [...jobs, ...others];
