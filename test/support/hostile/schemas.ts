import { flow, job, kind, list, nested, one, record, slow, type Kind } from './kind.js';

/** A job of a flow with this schema; `given` are its parameters. */
function checked(
  name: string,
  fate: Kind['fate'],
  of: (n: number) => object,
  given?: object,
): Kind {
  return kind(`schema: ${name}`, fate, (n) => {
    const flowName = `schema-${name.replaceAll(' ', '-')}-${n}`;
    const params = given ?? { a: `${'a'.repeat(30)}b`, list: list(500, (i) => i) };
    return [flow(flowName, { schema: of(n) }), job({ flow: flowName, params })];
  });
}

/** A definition that names the next one twice: 2^50 paths through it. */
const doubling = (n: number): object => ({
  title: `doubling ${n}`,
  definitions: record(50, (i) => {
    const next = i === 49 ? {} : { $ref: `#/definitions/d${i + 1}` };
    return [`d${i}`, { allOf: [next, { ...next }] }];
  }),
  $ref: '#/definitions/d0',
});

const hardlyRated = { limit: 1_000, per: 100, key: '[step.path]' };

/** Schemas that take long to compile or to check, or give many errors. */
export const schemas: readonly Kind[] = [
  slow(checked('doubling', 3, doubling)),
  checked('wide', [3, 'told'], (n) => ({
    title: `wide ${n}`,
    properties: record(500, (i) => [`p${i}`, { type: 'string', minLength: i }]),
  })),
  checked('very wide', 3, (n) => ({
    title: `very wide ${n}`,
    properties: record(8_000, (i) => [`p${i}`, { type: 'string', minLength: i }]),
  })),
  checked('pattern', [3, 'told'], (n) => ({
    properties: { a: { pattern: one(n, '^(a+)+$', '(a|a)*$', '^(a|aa)+$', '((a*)*)*$') } },
  })),
  checked('pattern that counts', 3, (n) => ({
    properties: { a: { pattern: `^((a{1,100}){1,100}){1,${10 + n}}$` } },
  })),
  checked('refers to itself', 3, (n) => ({
    title: `loop ${n}`,
    definitions: { a: { $ref: '#/definitions/b' }, b: { $ref: '#/definitions/a' } },
    $ref: '#/definitions/a',
  })),
  checked('refers elsewhere', 3, (n) => ({ $ref: `http://127.0.0.1:1/schema-${n}.json` })),
  slow(
    checked(
      'unique items',
      [0, 3],
      (n) => ({ title: `unique ${n}`, properties: { list: { uniqueItems: true } } }),
      {
        list: list(12_000, (i) => ({ i })),
      },
    ),
  ),
  checked('huge choice', 3, (n) => ({
    properties: { a: { enum: list(3_000, (i) => `value ${i} ${n}`) } },
  })),
  slow(
    checked(
      'many alternatives',
      3,
      (n) => ({
        title: `alternatives ${n}`,
        properties: {
          list: {
            items: {
              anyOf: list(200, (i) => ({
                properties: { [`k${i}`]: { const: i } },
                required: [`k${i}`],
              })),
            },
          },
        },
      }),
      { list: list(2_000, (i) => ({ [`z${i}`]: i })) },
    ),
  ),
  slow(
    checked(
      'many errors',
      3,
      (n) => ({ title: `errors ${n}`, properties: { list: { items: { type: 'string' } } } }),
      {
        list: list(20_000, (i) => i),
      },
    ),
  ),
  checked('many missing', 3, (n) => ({ required: list(5_000, (i) => `key-${i}-${n}`) })),
  slow(
    checked(
      'unknown keys',
      3,
      (n) => ({
        title: `closed ${n}`,
        properties: { list: { items: { additionalProperties: false } } },
      }),
      {
        list: list(5_000, (i) => ({ [`key ${i}`]: i })),
      },
    ),
  ),
  checked('deep', [3, 'told'], (n) => ({
    ...(nested(60, { const: n }, (a) => ({ properties: { a } })) as object),
  })),
  checked('no schema', 3, (n) =>
    one(n, { type: 'nothing' }, { properties: 7 }, { $async: true }, { allOf: {} }),
  ),
  checked('keys of prototypes', 3, (n) => ({
    title: `prototypes ${n}`,
    properties: JSON.parse(
      '{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}',
    ) as object,
    required: ['toString'],
  })),
  kind('rate of nothing', 3, (n) => [
    flow(`unrated-${n}`, { rate: { limit: one<unknown>(n, 0, -1, 1e9, 'x'), per: 1 } }),
    job({ flow: `unrated-${n}` }),
  ]),
  kind('rate by a wrong key', 3, (n) => [
    flow(`keyed-${n}`, { rate: { limit: 1, per: 1, key: one(n, '(', '$x()', '$error("no")') } }),
    job({ flow: `keyed-${n}` }),
  ]),
  kind('rate of a wide structure', 0, (n) => [
    { type: 'task', owner: 'hostile', name: `rated-${n}`, plugin: 'noop', rate: hardlyRated },
    job({ tasks: [{ structure: 'parallel', parallel: list(40, () => `rated-${n}`) }] }),
  ]),
  slow(
    kind('schema: of a task', 3, (n) => [
      { type: 'task', owner: 'hostile', name: `checked-${n}`, plugin: 'noop', schema: doubling(n) },
      job({ tasks: [`checked-${n}`] }),
    ]),
  ),
  slow(
    kind('schema: of a plugin', 3, (n) => [
      job({
        tasks: [
          {
            task: 'patterned',
            params: { text: `${'a'.repeat(40 + n)}b`, list: list(3_000, (i) => ({ i })) },
          },
        ],
      }),
    ]),
  ),
];
