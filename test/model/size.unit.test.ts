import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/model/parse.js';
import { countValues, sizeProblem, sizes } from '../../src/model/size.js';

const list = (length: number, value: unknown = 0): readonly unknown[] =>
  Array.from({ length }, () => value);
const keys = (length: number): object =>
  Object.fromEntries(list(length).map((value, i) => [`k${i}`, value]));
const values = (most: number): string => `has more than ${most} values`;

describe('a document that a user writes', () => {
  it.each<[title: string, doc: object, path: string, message: string]>([
    ['a list in params', { params: { l: list(60_000) } }, 'params', values(50_000)],
    ['keys in params', { params: keys(30_000) }, 'params', values(50_000)],
    ['text in params', { params: { a: 'x'.repeat(2e6) } }, 'params', 'characters of text'],
    ['a long key', { params: { ['x'.repeat(2e6)]: 1 } }, 'params', 'characters of text'],
    ['tags', { tags: list(20_000, 't') }, 'tags', values(10_000)],
    ['a key of its own', { mine: list(20_000) }, 'mine', values(10_000)],
    ['steps', { tasks: list(3_000, 'a') }, 'tasks', 'a list of more than 2000 nodes'],
    ['values of a structure', { tasks: list(1_500, keys(9)) }, 'tasks', values(10_000)],
    ['depth', { params: deep(300) }, 'params', 'is nested deeper than 200 levels'],
    [
      'all together',
      Object.fromEntries(list(30).map((_, i) => [`mine${i}`, list(4_000)])),
      '',
      'The document has more than 100000 values',
    ],
  ])('is refused for its size: %s', (_title, doc, path, message) => {
    expect(sizeProblem(doc as Record<string, unknown>, false)).toEqual({
      path,
      message: expect.stringContaining(message) as string,
    });
  });

  it.each<[title: string, doc: object]>([
    ['a list to go over', { params: { l: list(40_000) } }],
    [
      'a list that a map is given in the flow',
      { tasks: [{ map: { over: list(5_000), do: 'a' } }] },
    ],
    ['parameters of steps', { tasks: [{ task: 'a', params: { l: list(5_000) } }] }],
    ['a long text', { params: { a: 'x'.repeat(1e6) } }],
  ])('may have %s', (_title, doc) => {
    expect(sizeProblem(doc as Record<string, unknown>, false)).toBeUndefined();
  });
});

describe('a job that is under way', () => {
  it('may be of any size, for engines have written into it', () => {
    const doc = { steps: list(5_000, keys(5)), params: { l: list(60_000) }, data: deep(300) };
    expect(sizeProblem(doc, true)).toBeUndefined();
    expect(sizeProblem(doc, false)).toBeDefined();
  });

  it('is refused with more steps than an engine can look through', () => {
    expect(sizeProblem({ steps: list(sizes.steps) }, true)).toBeUndefined();
    expect(sizeProblem({ steps: list(sizes.steps + 1) }, true)).toMatchObject({ path: 'steps' });
  });
});

it('a final job is read whatever its size', () => {
  const doc = { _id: 'j', _rev: '1-a', type: 'job', state: '$$complete', result: list(200_000) };
  expect(parseDocument(doc)).toMatchObject({ ok: true });
  expect(parseDocument({ ...doc, state: undefined })).toMatchObject({ ok: false });
});

it.each(['work/email/5/1/x', 'lease/x'])(
  'the answer "%s" of a worker is read whatever its size',
  (name) => {
    const doc = { _id: 's', _rev: '1-a', type: 'signal', job: 'j', data: 'x'.repeat(2e6) };
    expect(parseDocument({ ...doc, name })).toMatchObject({ ok: true });
    expect(parseDocument({ ...doc, name: 'go' })).toMatchObject({ ok: false });
  },
);

it('values are counted up to a bound', () => {
  expect(countValues({ a: [1, 'x', null], b: {} }, 100)).toBe(8);
  expect(countValues(list(1_000), 100)).toBe(101);
});

function deep(levels: number): object {
  return list(levels).reduce<object>((a) => ({ a }), {});
}
