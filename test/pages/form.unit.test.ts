import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftOf, valueOf, type FieldDraft } from '../../src/pages/form/drafts.js';
import { fieldForSchema, type Field, type GroupField } from '../../src/pages/form/fields.js';
import { mistakesOf } from '../../src/pages/form/mistakes.js';

const object = (properties: object, more: object = {}): object => ({
  type: 'object',
  properties,
  ...more,
});

function group(schema: object): GroupField {
  const field = fieldForSchema(schema, 'parameters');
  if (field.kind !== 'group') throw new Error(`It is ${field.kind}.`);
  return field;
}

/** The field of one key. */
function one(inner: object, more: object = {}): Field {
  const field = group(object({ key: inner }, more)).fields['key'];
  if (field === undefined) throw new Error('There is no field.');
  return field;
}

describe('fields of a schema', () => {
  it.each<readonly [object, object]>([
    [{ type: 'string' }, { kind: 'text', label: 'Key', required: false, long: false }],
    [
      { type: 'string', title: 'Name', description: 'Whose.' },
      { label: 'Name', description: 'Whose.' },
    ],
    [
      { type: 'string', maxLength: 500 },
      { kind: 'text', long: true, maxLength: 500 },
    ],
    [
      { type: 'string', format: 'date-time' },
      { kind: 'text', format: 'date-time' },
    ],
    [
      { type: 'string', writeOnly: true },
      { kind: 'text', format: 'password' },
    ],
    [{ type: ['string', 'null'] }, { kind: 'text', nullable: true }],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, { kind: 'text', nullable: true }],
    [
      { type: 'integer', minimum: 1 },
      { kind: 'number', integer: true, minimum: 1 },
    ],
    [
      { type: 'number', default: 2.5 },
      { kind: 'number', integer: false, initial: 2.5 },
    ],
    [{ type: 'boolean' }, { kind: 'flag' }],
    [
      { enum: ['a', 1] },
      {
        kind: 'choice',
        choices: [
          { label: 'a', value: 'a' },
          { label: '1', value: 1 },
        ],
      },
    ],
    [
      { oneOf: [{ const: 1, title: 'One' }, { const: 2 }] },
      {
        kind: 'choice',
        choices: [
          { label: 'One', value: 1 },
          { label: '2', value: 2 },
        ],
      },
    ],
    [{ const: 7 }, { kind: 'fixed', value: 7 }],
    [
      { type: 'array', items: { type: 'string' } },
      { kind: 'list', item: { kind: 'text' } },
    ],
    [{ type: 'array', uniqueItems: true, items: { enum: ['x'] } }, { kind: 'several' }],
    [
      { type: ['string', 'integer'] },
      { kind: 'variants', variants: [{ kind: 'text' }, { kind: 'number' }] },
    ],
    [
      { oneOf: [object({ kind: { const: 'card' } }), object({ kind: { const: 'bill' } })] },
      { kind: 'variants', variants: [{ label: 'Card' }, { label: 'Bill' }] },
    ],
    [{ minimum: 3 }, { kind: 'number' }],
    [{ properties: { a: { type: 'string' } } }, { kind: 'group' }],
  ])('%j', (schema, expected) => {
    expect(one(schema)).toMatchObject(expected);
  });

  it.each<readonly [object, string]>([
    [{}, 'what type it is'],
    [{ type: 'object' }, 'its keys'],
    [{ type: 'array' }, 'its items'],
    [{ type: 'array', prefixItems: [{}] }, 'its items'],
    [{ type: 'object', if: {}, properties: { a: {} } }, '"if"'],
    [{ type: 'string', not: { const: 'a' } }, '"not"'],
    [{ $ref: '#/$defs/nix' }, 'what it refers to'],
    [{ $ref: 'https://example.com/schema' }, 'what it refers to'],
    [{ oneOf: [{}], anyOf: [{}] }, '"oneOf" beside "anyOf"'],
  ])('%j is written as JSON, because of %s', (schema, why) => {
    expect(one(schema)).toMatchObject({ kind: 'json', why });
  });

  it('follow what a schema refers to and joins, also to a form within itself', () => {
    const schema = {
      type: 'object',
      properties: { boss: { $ref: '#/$defs/person' } },
      $defs: {
        named: { required: ['name'], properties: { name: { type: 'string' } } },
        person: {
          allOf: [{ $ref: '#/$defs/named' }],
          type: 'object',
          properties: { boss: { $ref: '#/$defs/person' }, 'first name': { type: 'string' } },
        },
      },
    };
    const boss = group(schema).fields['boss'];
    expect(boss).toMatchObject({
      kind: 'group',
      fields: {
        name: { required: true },
        'first name': { label: 'First name' },
        boss: { kind: 'group' },
      },
    });
    expect(JSON.stringify(boss)).toContain('how deep it goes');
  });

  it('have words for their names', () => {
    const fields = group(object({ first_name: {}, lastName: {}, URL: {}, 'a-b': {} })).fields;
    expect(Object.values(fields).map(({ label }) => label)).toEqual([
      'First name',
      'Last name',
      'URL',
      'A b',
    ]);
  });

  it('are none of a schema that says nothing about keys', () => {
    for (const schema of [
      undefined,
      true,
      {},
      { type: 'object' },
      { type: 'string' },
      { $ref: '#' },
    ]) {
      expect(fieldForSchema(schema).kind).not.toBe('group');
    }
  });
});

describe('what is filled in', () => {
  const schema = object(
    {
      text: { type: 'string' },
      count: { type: 'integer', default: 3 },
      flag: { type: 'boolean' },
      must: { type: 'boolean' },
      pick: { enum: ['a', null, { x: 1 }] },
      many: { type: 'array', uniqueItems: true, items: { enum: ['x', 'y', 'z'] } },
      list: { type: 'array', items: { type: 'number' } },
      inner: object({ a: { type: 'string' }, b: { const: 1 } }, { required: ['a', 'b'] }),
      way: {
        oneOf: [
          object({ kind: { const: 'card' }, no: { type: 'string' } }, { required: ['kind', 'no'] }),
          object({ kind: { const: 'bill' } }, { required: ['kind'] }),
        ],
      },
      free: { type: 'object' },
      none: { type: ['string', 'null'] },
    },
    { required: ['must', 'none'] },
  );
  const field = group(schema);

  it('begins with what the schema says, and leaves out what nobody touched', () => {
    expect(valueOf(field, draftOf(field))).toEqual({ count: 3, must: false, none: null });
  });

  it.each<readonly [object]>([
    [{ text: 'a', count: 1, flag: false, must: true, none: 'x' }],
    [{ must: false, pick: null, many: ['x', 'z'], list: [1, 2.5], none: null, count: 3 }],
    [{ must: false, pick: { x: 1 }, inner: { a: 'b', b: 1 }, none: null, count: 3 }],
    [{ must: false, way: { kind: 'card', no: '1' }, free: { any: [1] }, none: null, count: 3 }],
    [{ must: false, way: { kind: 'bill' }, none: null, count: 3 }],
    [{ must: false, none: null, count: 3, unknown: { kept: true } }],
  ])('gives back a document as it was: %j', (document) => {
    const draft = draftOf(field, document);
    expect(valueOf(field, draft)).toEqual(document);
    expect(mistakesOf(field, draft, 'params')).toEqual({});
  });

  it('keeps what is no number or JSON, so that it can be told', () => {
    const parts = { ...(draftOf(field) as { parts: object }).parts, count: '1x', free: '{' };
    const draft = { parts, rest: {} } as FieldDraft;
    expect(valueOf(field, draft)).toMatchObject({ count: '1x', free: '{' });
    expect(mistakesOf(field, draft, 'params')).toMatchObject({
      'params.count': 'It must be a number.',
      'params.free': expect.stringMatching(/^It must be JSON/) as string,
    });
  });
});

describe('mistakes', () => {
  it.each<readonly [object, unknown, string | undefined]>([
    [{ type: 'string', minLength: 2 }, 'a', '2 or more characters; it has 1'],
    [{ type: 'string', maxLength: 2 }, 'a€c', 'at most 2 characters; it has 3'],
    [{ type: 'string', maxLength: 2 }, '😀😀', undefined],
    [{ type: 'string', pattern: '^[0-9]{5}$' }, '123', 'of the form ^[0-9]{5}$'],
    [{ type: 'string', pattern: '(' }, 'a', undefined],
    [{ type: 'string', format: 'email' }, 'ada', 'a mail address'],
    [{ type: 'string', format: 'email' }, 'ada@example.com', undefined],
    [{ type: 'string', format: 'uri' }, 'example', 'an address'],
    [{ type: 'string', format: 'date' }, '2026-02-30x', 'a date'],
    [{ type: 'string', format: 'uuid' }, 'x', 'a UUID'],
    [{ type: 'integer' }, 1.5, 'a whole number'],
    [{ type: 'number', minimum: 1 }, 0, '1 or more'],
    [{ type: 'number', maximum: 1 }, 2, '1 or less'],
    [{ type: 'number', exclusiveMinimum: 1 }, 1, 'more than 1'],
    [{ type: 'number', exclusiveMaximum: 1 }, 1, 'less than 1'],
    [{ type: 'number', multipleOf: 0.1 }, 0.3, undefined],
    [{ type: 'number', multipleOf: 0.1 }, 0.35, 'a multiple of 0.1'],
    [{ type: 'array', items: { type: 'string' }, minItems: 2 }, ['a'], '2 or more; it has 1'],
    [
      { type: 'array', items: { type: 'string' }, uniqueItems: true },
      ['a', 'a'],
      'same item twice',
    ],
    [
      { type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] }, maxItems: 1 },
      ['a', 'b'],
      'at most 1',
    ],
  ])('%j with %j: %s', (schema, value, message) => {
    const field = one(schema);
    const found = mistakesOf(field, draftOf(field, value), 'params.key')['params.key'];
    if (message === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(message);
  });

  it('have the path of their input, as the server writes it', () => {
    const field = group(
      object(
        {
          a: { type: 'string' },
          list: { type: 'array', items: object({ '0': { type: 'integer' } }, { required: ['0'] }) },
          way: { oneOf: [object({ no: { type: 'string' } }, { required: ['no'] })] },
        },
        { required: ['a', 'way'] },
      ),
    );
    const found = mistakesOf(field, draftOf(field, { list: [{}, { '0': 1 }] }), 'params');
    expect(Object.keys(found).sort()).toEqual(['params.a', 'params.list[0][0]', 'params.way.no']);
  });

  it('are found before the server finds them, and only then', () => {
    const schema = object(
      {
        n: { type: 'integer', minimum: 2, exclusiveMaximum: 9 },
        s: { type: 'string', minLength: 1, maxLength: 4, pattern: '^[a-c]*$' },
        l: {
          type: 'array',
          items: { type: 'number', multipleOf: 2 },
          minItems: 1,
          maxItems: 2,
          uniqueItems: true,
        },
      },
      { required: ['n'] },
    );
    const check = new Ajv2020({ strict: false, logger: false }).compile(schema);
    const field = group(schema);
    const document = fc.record(
      {
        n: fc.oneof(fc.integer({ min: 0, max: 10 }), fc.constant(2.5)),
        s: fc.string({ unit: fc.constantFrom('a', 'b', 'd'), minLength: 1, maxLength: 5 }),
        l: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(document, (given) => {
        const found = mistakesOf(field, draftOf(field, given), 'params');
        expect([given, Object.keys(found).length === 0]).toEqual([given, check(given)]);
      }),
      { numRuns: 500 },
    );
  });
});
