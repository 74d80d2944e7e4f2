import { job, kind, list, nested, one, record, type Kind } from './kind.js';

/** A job that does nothing, with a value that is strange or huge. */
const odd = (name: string, fate: Kind['fate'], more: (n: number) => object): Kind =>
  kind(name, fate, (n) => [job({ tasks: ['noop'], ...more(n) })]);

const parsed = (json: string): object => JSON.parse(json) as object;

/** Huge values. */
const huge: readonly Kind[] = [
  odd('long text in params', 3, (n) => ({ params: { noop: { text: 'x'.repeat(1_100_000 + n) } } })),
  odd('long list in params', 3, (n) => ({ params: { noop: { l: list(51_000 + n, (i) => i) } } })),
  odd('many keys in params', 3, (n) => ({
    params: { noop: record(26_000 + n, (i) => [`k${i}`, i]) },
  })),
  odd('many empty values in params', 3, (n) => ({ params: { l: list(51_000 + n, () => ({})) } })),
  odd('params of no step', 'told', (n) => ({
    params: record(5_000 + n, (i) => [`nowhere-${i}`, i]),
  })),
  odd('huge keys', 3, (n) => ({ keys: record(6_000 + n, (i) => [`k${i}`, i]) })),
  odd('huge tags', 3, (n) => ({ tags: list(11_000 + n, (i) => `t${i}`) })),
  odd('huge labels', 3, (n) => ({ labels: list(11_000 + n, (i) => `t${i}`) })),
  odd('huge notes', 3, (n) => ({ notes: list(6_000 + n, (i) => ({ text: `t${i}` })) })),
  odd('huge data', 3, (n) => ({ data: record(26_000 + n, (i) => [`k${i}`, [i]]) })),
  odd('huge notify', 3, (n) => ({ notify: list(6_000 + n, () => ({ on: 'end' })) })),
  odd('huge unknown key', 3, (n) => ({ anything: list(11_000 + n, (i) => [i]) })),
  odd('many unknown keys', 3, (n) => record(51_000 + n, (i) => [`anything-${i}`, i])),
  odd('one unknown key of many', 0, (n) => record(3_000 + n, (i) => [`anithyng${i}`, i])),
  odd('long names', 3, (n) => ({ tasks: ['x'.repeat(one(n, 100_000, 1_000_000))] })),
  odd('long owner', 0, (n) => ({ owner: 'o'.repeat(one(n, 100_000, 1_000_000)) })),
  odd('long target', 3, (n) => ({ target: 't'.repeat(200_000 + n) })),
  odd('long locks', [3, 'refused'], (n) => ({
    locks: one(n, '(a+)+'.repeat(5_000), `a{1,1000}`.repeat(4), '('.repeat(50_000)),
  })),
  odd('long external id', 0, (n) => ({ external_id: 'e'.repeat(200_000 + n) })),
  odd('deep params', 3, (n) => ({ params: { noop: nested(400 + n, 1, (a) => ({ a })) } })),
  // How deep `JSON.stringify` goes depends on who calls it: the writer may refuse these.
  odd('deep lists in params', [3, 'refused'], (n) => ({
    params: { noop: { a: nested(3_000 + n, 1, (a) => [a]) } },
  })),
];

/** Values of the wrong type, or at the border of it. */
const strange: readonly Kind[] = [
  odd('odd steps', 'refused', (n) => ({ tasks: one<unknown>(n, 1, null, {}, [null], true, 'x') })),
  odd('odd fields', 3, (n) =>
    one<object>(
      n,
      { params: 'text' },
      { priority: {} },
      { tags: 7 },
      { keys: [] },
      { parent: 'x' },
      { cancel: 3 },
    ),
  ),
  odd('numbers', [0, 3], (n) => ({
    ...one<object>(
      n,
      { priority: 1e308 },
      { retry_delay: -0 },
      { exec_after: 1e308 },
      { expires: 1e21 },
      { priority: 0.5 },
      { retry_delay: 9e15 },
    ),
    params: { noop: { a: 1e308, b: -0, c: 5e-324, d: 9_007_199_254_740_991 } },
  })),
  odd('times', 3, (n) => ({
    exec_after: one(
      n,
      '2026-13-45T99:99:99Z',
      '+275760-09-13T00:00:00.001Z',
      '0000',
      `2026-01-01T00:00:00.${'0'.repeat(100_000)}Z`,
      '2026-01-01',
    ),
  })),
  odd('timeouts', 3, (n) => ({
    tasks: [{ task: 'noop', timeout: one(n, 1e308, -1, 9e15, 0.5, 1e21) }],
  })),
  odd('retries', 3, (n) => ({
    tasks: [
      {
        task: 'noop',
        retry: one<unknown>(
          n,
          1e308,
          { limit: 1e21 },
          { limit: 3, factor: 1e308, delay: -1 },
          'always',
        ),
      },
    ],
  })),
  odd('broken text', 0, (n) => ({
    tags: [one(n, '\ud800', '\udfff\ud800', '\u0000', '\u202e\u0007\u001b[2J')],
    params: { noop: { ['\ud800']: '\udc00', text: '{{job.tags.[0]}}' } },
  })),
  odd('prototype keys', 'told', () =>
    parsed(
      '{"params": {"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": 1}}, "noop": {"__proto__": {"polluted": 1}, "hasOwnProperty": 1, "toString": null}}}',
    ),
  ),
  kind('prototype names', 3, (n) => [
    job({ tasks: [{ task: one(n, '__proto__', 'constructor', 'toString', 'hasOwnProperty') }] }),
  ]),
  odd('forged salt', 3, (n) => ({
    params: { noop: { secret: `tws:v${1 + (n % 2)}:${Buffer.alloc(60, n).toString('base64')}` } },
  })),
  odd('many forged salts', 3, (n) => ({
    params: {
      noop: record(2_000, (i) => [`s${i}`, `tws:v1:${Buffer.alloc(60, n + i).toString('base64')}`]),
    },
  })),
  kind('forged salt in a task', 3, (n) => [
    {
      ...{ type: 'task', owner: 'hostile', name: `sealed-${n}`, plugin: 'noop' },
      params: record(50, (i) => [`s${i}`, `tws:v1:${Buffer.alloc(60, n + i).toString('base64')}`]),
    },
    job({ tasks: [`sealed-${n}`] }),
  ]),
  odd('circular locks', 0, (n) => ({ target: `a-${n}`, locks: '.*' })),
];

export const values: readonly Kind[] = [...huge, ...strange];
