import { describe, expect, it } from 'vitest';
import { parseDocument, parseInPieces } from '../../src/reading/parse.js';
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
    expect(sizeProblem(doc as Record<string, unknown>)).toEqual({
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
    expect(sizeProblem(doc as Record<string, unknown>)).toBeUndefined();
  });
});

const live = {
  ...{ _id: 'j', _rev: '1-a', type: 'job', state: '$$ready', start: 1, steps: [], run: 1 },
  ...{ tasks: ['a'], definitions: {}, flow_definition: { type: 'flow', name: 'f', owner: 'o' } },
};
const step = {
  ...{ index: 0, path: '0', name: 'a', task: 'a', plugin: 'a', attempt: 1, run: 1, phase: 'main' },
  ...{ state: '$$complete', pid: 1, engine: 'engine:e', claim: 'c', params: {}, accepted: 1 },
  ...{ start: 1, end: 2, exit: 0 },
};
const signal = { id: 's', name: 'go', at: 1 };

describe('a job that is under way', () => {
  it.each<[title: string, more: object]>([
    ['as many steps as engines write, and some', { steps: list(sizes.live.entries, step) }],
    ['parameters of flow and job', { params: keys(50_000), data: deep(300) }],
    ['as many signals as it may be sent', { signals: list(5_000, { ...signal, data: keys(9) }) }],
    ['a definition as large as a document', { definitions: { a: task({ l: list(40_000) }) } }],
    ['what nobody reads', { mine: list(500_000) }],
  ])('may have %s', (_title, more) => {
    expect(parseDocument({ ...live, ...more })).toMatchObject({ ok: true });
  });

  it.each<[title: string, more: object, path: string]>([
    ['steps', { steps: list(sizes.live.entries + 1, step) }, 'steps'],
    ['signals', { signals: list(50_000, signal) }, 'signals'],
    ['numbers', { also_started: list(50_000) }, 'also_started'],
    ['definitions', { definitions: keys(50_000) }, 'definitions'],
    ['keys in params', { params: keys(200_000) }, 'params'],
    ['names', { tags: list(20_000, 't') }, 'tags'],
    ['nodes', { tasks: list(40, list(1_900, 'a')) }, 'tasks'],
    ['parameters in a step', { steps: [{ ...step, params: keys(200_000) }] }, 'steps[0]'],
    [
      'parameters in a definition',
      { definitions: { a: task(keys(60_000)) } },
      'definitions.a.params',
    ],
    [
      'parameters in its flow',
      { flow_definition: { params: keys(60_000) } },
      'flow_definition.params',
    ],
    ['steps in a slice', { slice: { before: list(50_000, step) } }, 'slice.before'],
    ['keys in a slice', { slice: keys(20_000) }, 'slice'],
    ['keys', keys(20_000), ''],
  ])('is refused for its size: %s', (_title, more, path) => {
    expect(parseDocument({ ...live, ...more })).toMatchObject({ ok: false, problems: [{ path }] });
  });

  it('is read in pieces when it is long, as a whole when it is not', () => {
    const pauses = (steps: readonly unknown[]): number =>
      [...parseInPieces({ ...live, steps })].length;
    expect(pauses(list(100, step))).toBe(0);
    expect(pauses(list(20_000, step))).toBeGreaterThan(50);
  });

  it('is refused for the first entries that are wrong, however many there are', () => {
    const parsed = parseDocument({ ...live, steps: [...list(6_000, step), ...list(10_000, 7)] });
    expect(parsed).toMatchObject({ ok: false, problems: { 0: { path: 'steps[6000]' } } });
    expect(parsed).not.toHaveProperty('problems.1000');
  });
});

function task(params: object): object {
  return { type: 'task', name: 'a', params };
}

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
