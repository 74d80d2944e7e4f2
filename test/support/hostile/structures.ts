import {
  flow,
  job,
  kind,
  list,
  nested,
  one,
  record,
  slow,
  type Kind,
  type Written,
} from './kind.js';

const map = (more: object): object => ({ structure: 'map', map: { do: 'noop', ...more } });

/** A job with a decider that answers with the value of an expression, each time. */
const decided = (expression: string): Written =>
  job({ tasks: [{ decider: 'jsonata', params: { expression } }] });

/** Structures that are wide, long, deep, or call themselves. */
const shapes: readonly Kind[] = [
  slow(
    kind('large map', 0, (n) => [
      job({
        tasks: [map({ over: 'params.l', tolerate: 1_000_000 })],
        params: { l: list(200 + n, (i) => i) },
      }),
    ]),
  ),
  kind('giant map', 3, (n) => [
    job({
      tasks: [map({ over: 'params.l' })],
      params: { l: list(one(n, 20_000, 24_000, 51_000), (i) => i) },
    }),
  ]),
  kind('giant written map', 3, (n) => [
    job({ tasks: [map({ over: list(10_001 + n, (i) => i) })] }),
  ]),
  slow(
    kind('map in a map', 0, (n) => [
      job({
        tasks: [
          map({
            over: 'params.l',
            do: map({ over: 'params.l', as: 'inner', do: map({ over: 'params.l', as: 'third' }) }),
          }),
        ],
        params: { l: list(6 + n, (i) => i) },
      }),
    ]),
  ),
  slow(
    kind('three nested maps', 3, (n) => [
      job({
        tasks: [
          map({
            over: 'params.l',
            do: map({ over: 'params.l', as: 'inner', do: map({ over: 'params.l', as: 'third' }) }),
          }),
        ],
        params: { l: list(300 + n, (i) => i) },
      }),
    ]),
  ),
  kind('giant sliced map', 3, (n) => [
    job({
      tasks: [map({ over: 'params.l', slice: 1 })],
      params: { l: list(20_000 + n, (i) => i) },
    }),
  ]),
  kind('many steps', 3, (n) => [job({ tasks: list(10_001 + n, () => 'noop') })]),
  kind('wide parallel', 3, (n) => [
    job({ tasks: [{ structure: 'parallel', parallel: list(10_001 + n, () => 'noop') }] }),
  ]),
  kind('wide parallel of waits', 3, (n) => [
    job({
      tasks: [
        {
          structure: 'parallel',
          parallel: list(2_001 + n, (i) => ({ wait: { signal: `s${i}`, timeout: 1 } })),
        },
      ],
    }),
  ]),
  slow(
    kind('parallel within the limit', 0, (n) => [
      job({ tasks: [{ structure: 'parallel', parallel: list(150 + n, () => 'noop') }] }),
    ]),
  ),
  kind('graph of all after all', 3, (n) => [
    job({
      tasks: [
        {
          structure: 'graph',
          graph: record(150 + n, (i) => [
            `n${i}`,
            { task: 'noop', after: list(i, (k) => `n${k}`) },
          ]),
        },
      ],
    }),
  ]),
  kind('graph in a circle', 3, (n) => [
    job({
      tasks: [
        {
          structure: 'graph',
          graph: record(500 + n, (i) => [
            `n${i}`,
            { task: 'noop', after: [`n${(i + 1) % (500 + n)}`] },
          ]),
        },
      ],
    }),
  ]),
  kind('many choices', 3, (n) => [
    job({
      tasks: [
        {
          structure: 'choice',
          choice: list(2_001 + n, (i) => ({ when: `params.x = ${i}`, then: 'noop' })),
        },
      ],
    }),
  ]),
  kind('long loop', [2, 3], (n) => [
    job({
      tasks: [{ structure: 'loop', loop: { while: 'true', max: one(n, 50, 20_000), do: 'noop' } }],
    }),
  ]),
  kind('loop in a loop', 0, (n) => [
    job({
      tasks: [
        nested(8 + (n % 3), 'noop', (inner) => ({
          structure: 'loop',
          loop: { while: 'false', max: 10_000, do: inner },
        })),
      ],
    }),
  ]),
  kind('deep structure', 3, (n) => [
    job({
      tasks: nested(100 + n, 'noop', (inner) => ({
        structure: one(n, 'sequence', 'parallel'),
        [one(n, 'sequence', 'parallel')]: [inner],
      })),
    }),
  ]),
  kind('deep lists', 3, (n) => [job({ tasks: nested(150 + n, 'noop', (inner) => [inner]) })]),
  slow(
    kind('self-calling flow', [2, 3], (n) => [
      flow(`self-${n}`, { tasks: [{ flow: `self-${n}` }] }),
      job({ flow: `self-${n}` }),
    ]),
  ),
  slow(
    kind('decider that answers much', 3, (n) => [
      decided(`[1..${20_000 + n}].{"schedule": "noop", "id": $string($)}`),
    ]),
  ),
  slow(
    kind('decider that begins much', [1, 3], (n) => [
      decided(`[1..${999 - n}].{"schedule": "nowhere"}`),
    ]),
  ),
  slow(
    kind('decider that asks in vain', 3, (n) => [
      decided(one(n, '{"cancel": "nobody"}', '{"schedule": "nowhere"}')),
    ]),
  ),
  kind('unknown keys of nodes', 3, (n) => [
    job({
      tasks: [
        { task: 'noop', ...record(6_000 + n, (i) => [`key${i}`, {}]) },
        { structure: 'none' },
      ],
    }),
  ]),
];

/** Definitions that change while jobs of them begin. */
const changing: readonly Kind[] = [
  kind('many definitions of one name', 3, (n) => [
    ...list(20, (i) => flow(`same-${n}`, { note: i })),
    job({ flow: `same-${n}` }),
  ]),
  slow(
    kind('large flow', 3, (n) => [
      flow(`large-${n}`, { tasks: list(3_000, () => ({ task: 'noop', params: { a: n } })) }),
      job({ flow: `large-${n}` }),
    ]),
  ),
  kind('handlers in a circle', 3, (n) => [
    ...list(10, (i) => ({
      ...{ type: 'task', owner: 'hostile', name: `circle-${n}-${i}`, plugin: 'noop' },
      error: `circle-${n}-${(i + 1) % 10}`,
    })),
    job({ tasks: [`circle-${n}-0`] }),
  ]),
  kind('many tasks', 3, (n) => [job({ tasks: list(3_000, (i) => `nowhere-${n}-${i}`) })]),
];

export const structures: readonly Kind[] = [...shapes, ...changing];
