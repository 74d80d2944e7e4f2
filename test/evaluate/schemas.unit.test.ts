import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { checkSchema, readSchema } from '../../src/evaluate/schemas.js';

type Json = Readonly<Record<string, unknown>>;

function problems(schema: Json, params: unknown): string[] {
  const read = readSchema(schema);
  if (!read.ok) throw new Error(read.reason);
  return read.problemsOf(params).map(({ path, message }) => `${path} | ${message}`);
}
const property = (schema: Json): Json => ({ properties: { x: schema } });
const encrypted = `tws:v1:${'a'.repeat(22)}:${'a'.repeat(16)}:${'a'.repeat(22)}:aa`;

describe('a schema of parameters', () => {
  it.each<[string, Json, unknown, string[]]>([
    ['a type', property({ type: 'number' }), { x: 'a' }, ['params.x | params.x must be number.']],
    ['a key that is missing', { required: ['a/b'] }, {}, ['params.a/b | params.a/b is missing.']],
    ['a type of the whole', { type: 'string' }, {}, ['params | params must be string.']],
    [
      'a key that is not known',
      property({ additionalProperties: false }),
      { x: { y: 1 } },
      ['params.x | params.x.y is not known.'],
    ],
    [
      'a place in a list',
      property({ items: { enum: [1] } }),
      { x: [1, 2] },
      ['params.x[1] | params.x[1] must be one of [1].'],
    ],
    [
      'an item that comes twice',
      property({ uniqueItems: true }),
      {
        x: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      },
      ['params.x | params.x must not have the same item twice.'],
    ],
    ['lists whose items may come twice', property({ uniqueItems: false }), { x: [1, 1] }, []],
    [
      'draft 2020-12',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'null' }] },
      [1],
      ['params[0] | params[0] must be null.'],
    ],
  ])('tells %s, without the value', (_title, schema, params, expected) => {
    expect(problems(schema, params)).toEqual(expected);
  });

  it.each<[string, Json, unknown]>([
    ['a template', property({ type: 'number' }), { x: '{{job.params.n}}' }],
    ['an encrypted text', property({ maxLength: 8 }), { x: encrypted }],
    ['an encrypted value', property({ type: 'string' }), { x: { $enc: encrypted } }],
    [
      'a value inside a choice',
      { anyOf: [{ required: ['y'] }, property({ const: 1 })] },
      { x: '{{y}}' },
    ],
    [
      'the text inside an encrypted value',
      property({ properties: { $enc: { type: 'null' } } }),
      { x: { $enc: encrypted } },
    ],
  ])('waits with %s until it is known', (_title, schema, params) => {
    expect(problems(schema, params)).toEqual([]);
  });

  it.each<[string, Json, RegExp]>([
    ['an unknown type', { type: 'nonsense' }, /type/],
    ['a pattern that is none', property({ pattern: '(' }), /the pattern "\(": missing closing/],
    ['a pattern that could take long', property({ pattern: '(a)\\1' }), /invalid escape/],
    ['a reference to nowhere', property({ $ref: 'https://example.com/x.json' }), /resolve/],
    ['a promise of an answer', { $async: true }, /\$async/],
  ])('is refused for %s', (_title, schema, reason) => {
    expect(checkSchema(schema)).toMatch(reason);
  });

  it('is read once', () => {
    expect(readSchema({ required: ['once'] })).toBe(readSchema({ required: ['once'] }));
  });

  it('that refers to itself without end is a problem, not the end of the process', () => {
    expect(problems({ $ref: '#' }, {})).toEqual([expect.stringMatching(/^params \| .*cannot be/)]);
  });

  it('takes no long time for patterns and lists made to be slow', () => {
    const schema = { properties: { x: { pattern: '^(a+)+$' }, y: { uniqueItems: true } } };
    const y = Array.from({ length: 20_000 }, (_, i) => ({ i }));
    const begun = performance.now();
    expect(problems(schema, { x: `${'a'.repeat(50)}!`, y })).toHaveLength(1);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});
