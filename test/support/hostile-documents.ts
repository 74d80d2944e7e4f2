/** A document as somebody could store it. */
export type HostileDocument = Readonly<Record<string, unknown>> & { readonly _id: string };

/** What is wrong with a document, as the `n`-th of its kind; all jobs are of the owner `hostile`. */
type Kind = (n: number) => readonly Readonly<Record<string, unknown>>[];

const job = (more: object): Readonly<Record<string, unknown>> => ({
  type: 'job',
  owner: 'hostile',
  ...more,
});
const list = <T>(length: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length }, (_, i) => make(i));
const flow = (name: string, more: object): Readonly<Record<string, unknown>> => ({
  type: 'flow',
  owner: 'hostile',
  name,
  tasks: ['noop'],
  ...more,
});
const nested = (depth: number, inner: unknown): unknown =>
  Array.from({ length: depth }).reduce<unknown>((value) => ({ a: value }), inner);
const expression =
  (text: string): Kind =>
  () => [job({ tasks: [{ task: 'jsonata', params: { expression: text } }] })];
const condition =
  (text: string): Kind =>
  () => [job({ tasks: [{ structure: 'choice', choice: [{ when: text, then: 'noop' }] }] })];
const template =
  (text: string, params: object = {}): Kind =>
  () => [job({ tasks: [{ task: 'noop', params: { text } }], params })];
const schema =
  (of: (n: number) => object): Kind =>
  (n) => [
    flow(`schema-${n}`, { schema: of(n) }),
    job({ flow: `schema-${n}`, params: { a: 'a'.repeat(30) + 'b', list: list(500, (i) => i) } }),
  ];
const live =
  (more: object): Kind =>
  () => [job({ state: '$$ready', start: 1, steps: [], tasks: ['noop'], definitions: {}, ...more })];

/** Schemas that take long to compile or to check. */
const doubling = (n: number): object => ({
  title: `doubling ${n}`,
  definitions: Object.fromEntries(
    list(50, (i) => {
      const next = i === 49 ? {} : { $ref: `#/definitions/d${i + 1}` };
      return [`d${i}`, { allOf: [next, { ...next }] }];
    }),
  ),
  $ref: '#/definitions/d0',
});
const wide = (n: number): object => ({
  title: `wide ${n}`,
  properties: Object.fromEntries(list(4_000, (i) => [`p${i}`, { type: 'string', minLength: i }])),
});

const kinds: Readonly<Record<string, Kind>> = {
  'endless recursion': expression('($f := function($n) { $f($n + 1) }; $f(1))'),
  'endless product': expression('[1..3000].([1..3000].($ * 2))'),
  'endless condition': condition('$count([1..5000].([1..5000])) > 0'),
  'catastrophic expression': condition('$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", /^(a+)+$/)'),
  'forged salt': (n) => [
    job({
      tasks: ['noop'],
      params: { noop: { secret: `tws:v1:${Buffer.alloc(60, n).toString('base64')}` } },
    }),
  ],
  'doubling schema': schema(doubling),
  'wide schema': schema(wide),
  'catastrophic pattern': schema((n) => ({
    title: `pattern ${n}`,
    properties: { a: { pattern: '^(a+)+$' } },
  })),
  'nested template': template('{{#if job}}'.repeat(300) + '{{/if}}'.repeat(300)),
  'looping template': template(
    '{{#each job.params.l}}{{#each ../job.params.l}}x{{/each}}{{/each}}',
    { l: list(2_000, (i) => i) },
  ),
  'many tags': template('{{job._id}} '.repeat(5_000)),
  'giant list': () => [
    job({
      tasks: [{ structure: 'map', map: { over: 'params.l', do: 'noop', tolerate: 1_000_000 } }],
      params: { l: list(2_000, (i) => i) },
    }),
  ],
  'deep nesting': () => [job({ tasks: ['noop'], params: { noop: nested(400, 1) } })],
  'deep structure': () => [
    job({
      tasks: Array.from({ length: 100 }).reduce<unknown>(
        (inner) => ({ structure: 'sequence', sequence: [inner] }),
        'noop',
      ),
    }),
  ],
  'odd types': (n) => [
    job({ tasks: [1, null, {}, [], true, 'x'][n % 6] }),
    job({ flow: [n], params: 'text', priority: {}, tags: 7 }),
  ],
  'forged steps': live({ steps: 'none' }),
  'forged slice': live({ slice: {} }),
  'forged claims': live({
    steps: [{ index: 0, path: '0', name: 'noop', task: 'noop', state: '$$active', claim: 7 }],
  }),
  'prototype keys': () => [
    JSON.parse(
      '{"type":"job","owner":"hostile","tasks":[{"task":"noop","params":{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}}],"params":{"__proto__":{"polluted":true}}}',
    ) as Readonly<Record<string, unknown>>,
  ],
  'self-calling flow': (n) => [
    flow(`self-${n}`, { tasks: [{ flow: `self-${n}` }] }),
    job({ flow: `self-${n}` }),
  ],
  'ten thousand parameters': () => [
    job({
      tasks: ['noop'],
      params: { noop: Object.fromEntries(list(10_000, (i) => [`p${i}`, `${i} {{job._id}}`])) },
    }),
  ],
};

/** So many documents of all kinds, a few of which need a flow beside them: the jobs come last. */
export function hostileDocuments(count: number): readonly HostileDocument[] {
  const all = Object.entries(kinds);
  const documents: HostileDocument[] = [];
  for (let n = 0; documents.length < count; n += 1) {
    const [name, make] = all[n % all.length] as (typeof all)[number];
    const made = make(n).map((document, i) => ({
      ...document,
      _id: `hostile-${n}-${i}-${name.replaceAll(' ', '-')}`,
    }));
    documents.push(...made);
  }
  return [...documents].sort((a, b) => Number(a['type'] === 'job') - Number(b['type'] === 'job'));
}
