import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { show, toJsonPath, toProblems } from '../../src/model/problems.js';

const text = z.string({ error: 'must be a text' });

function sentences(schema: z.ZodType, value: unknown): readonly string[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : toProblems(parsed.error.issues, value).map(({ message }) => message);
}

describe('toProblems', () => {
  it.each([
    'pass',
    'password',
    'client_secret',
    'accessToken',
    'key',
    'api_key',
    'authorization',
    'credentials',
    'params',
  ])('does not show a value under the key %s', (key) => {
    const schema = z.object({ [key]: z.number() });
    expect(sentences(schema, { [key]: 'hunter2' })).toEqual([
      `${key} must be a number; it is a string.`,
    ]);
    const inside = z.object({ [key]: z.object({ a: z.number() }) });
    expect(sentences(inside, { [key]: { a: 'hunter2' } })).toEqual([
      `${key}.a must be a number; it is a string.`,
    ]);
  });

  it.each(['keys', 'monkey', 'task'])('shows a value under the key %s', (key) => {
    expect(sentences(z.object({ [key]: z.number() }), { [key]: 'x' })).toEqual([
      `${key} must be a number; it is the string "x".`,
    ]);
  });

  it.each<[title: string, schema: z.ZodType, value: unknown, sentence: string]>([
    ['a kind', z.object({ a: z.boolean() }), { a: 1 }, 'a must be true or false; it is 1.'],
    ['a list', z.object({ a: z.array(text) }), { a: 1 }, 'a must be a list; it is 1.'],
    ['an object', z.object({ a: z.object({}) }), { a: [1] }, 'a must be an object; it is a list.'],
    [
      'a word',
      z.object({ a: z.enum(['x', 'y']) }),
      { a: 'z' },
      'a must be "x" or "y"; it is the string "z".',
    ],
    ['a least', z.object({ a: z.number().min(2) }), { a: 1 }, 'a must be 2 or more; it is 1.'],
    ['a most', z.object({ a: z.number().max(2) }), { a: 3 }, 'a must be 2 or less; it is 3.'],
    ['the document itself', z.object({}), 5, 'The document must be an object; it is 5.'],
    [
      'a pattern without words',
      z.object({ a: z.email() }),
      { a: 'x' },
      'a is not valid (Invalid email address); it is the string "x".',
    ],
  ])('has words for %s', (_title, schema, value, sentence) => {
    expect(sentences(schema, value)).toEqual([sentence]);
  });

  const either = z.union(
    [
      text,
      z.object({ a: text, c: z.exactOptional(text) }),
      z.object({ kind: z.exactOptional(z.literal('b')), b: text }),
      z.array(text),
    ],
    { error: 'must be one of four' },
  );

  it.each<[value: unknown, message: string]>([
    [5, 'x must be one of four; it is 5.'],
    [{}, 'x must be one of four; it is an object without keys.'],
    [{ c: 'y' }, 'x must be one of four; it is an object with the key "c".'],
    [{ a: 5 }, 'x.a must be a text; it is 5.'],
    [{ b: 5 }, 'x.b must be a text; it is 5.'],
    [{ kind: 'c', d: 1 }, 'x.kind must be "b"; it is the string "c".'],
    [['y', 5], 'x[1] must be a text; it is 5.'],
  ])('tells of a union only what is meant by %j', (value, message) => {
    expect(sentences(z.object({ x: either }), { x: value })).toEqual([message]);
  });
});

describe('show', () => {
  it.each([
    [null, 'null'],
    [5, '5'],
    [true, 'true'],
    ['', 'an empty string'],
    ['a "b"', 'the string "a \\"b\\""'],
    ['x'.repeat(41), 'a long string'],
    [[], 'an empty list'],
    [[1], 'a list'],
    [{}, 'an object without keys'],
    [{ a: 1, b: 2 }, 'an object with the keys "a", "b"'],
    [{ a: 1, b: 2, c: 3, d: 4, e: 5 }, 'an object with the keys "a", "b", "c", "d", …'],
  ])('pictures %j as %s', (value, picture) => {
    expect(show(value)).toBe(picture);
  });
});

describe('toJsonPath', () => {
  it.each([
    [[], ''],
    [['tasks', 'sequence', 1, 'task'], 'tasks.sequence[1].task'],
    [['params', 'mail-2'], 'params.mail-2'],
    [['stdio', 'a.b'], 'stdio["a.b"]'],
    [['stdio', ''], 'stdio[""]'],
  ])('writes %j as %s', (path, written) => {
    expect(toJsonPath(path)).toBe(written);
  });
});
