import { describe, expect, it } from 'vitest';
import {
  difference,
  expandParams,
  handlerParams,
  mapStdio,
  stepParams,
  strayParams,
} from '../../../src/decide/start/params.js';
import { leavesOf } from '../../../src/structures/tree.js';
import { flow, frozen, liveJob, task } from '../../support/builders.js';

/** One key for each layer from which the parameters of step `a-0` come, weakest first. */
const layers = [
  'task.params',
  'flow.params.a',
  'flow.params.a-0',
  'entry.params',
  'job.params.a',
  'job.params.a-0',
] as const;
type Layer = (typeof layers)[number];

/** The parameters of step `a-0` when every one of `given` says `value: <its name>`. */
function expanded(given: readonly Layer[], valueOf = (layer: Layer): unknown => layer) {
  const at = (layer: Layer, key: string): object =>
    given.includes(layer) ? { [key]: { value: valueOf(layer) } } : {};
  const entry = given.includes('entry.params')
    ? { params: { value: valueOf('entry.params') } }
    : {};
  const defined = flow([{ task: 'a', ...entry }], {
    params: { ...at('flow.params.a', 'a'), ...at('flow.params.a-0', 'a-0') },
  });
  const own = given.includes('task.params') ? { params: { value: valueOf('task.params') } } : {};
  const written = { ...at('job.params.a', 'a'), ...at('job.params.a-0', 'a-0') };
  const leaves = leavesOf(defined.tasks);
  return frozenExpand(written, leaves, defined, { a: task('a', own) })['a-0'];
}

const frozenExpand: typeof expandParams = (...given) => expandParams(...frozen(given));

describe('expandParams', () => {
  // Shows B-05.
  it.each(layers.map((layer, i) => [layer, layers.slice(0, i + 1)] as const))(
    'lets %s win over every weaker layer',
    (layer, given) => {
      expect(expanded(given)).toEqual({ value: layer });
    },
  );

  it.each([[null], [''], [0], [false], [[]], [[1, 2]]])(
    'takes %j of a stronger layer as a value',
    (value) => {
      const given = ['task.params', 'job.params.a'] as const;
      const weaker = { deep: [1, 2, 3] };
      expect(expanded(given, (layer) => (layer === 'task.params' ? weaker : value))).toEqual({
        value,
      });
    },
  );

  it('merges objects of all layers', () => {
    expect(expanded(layers, (layer) => ({ [layer]: 1 }))).toEqual({
      value: Object.fromEntries(layers.map((layer) => [layer, 1])),
    });
  });

  it('gives every step its own and keeps what the user wrote', () => {
    const defined = flow(['a', 'b', 'a']);
    const written = { a: { x: 1 }, 'a-2': { x: 3 }, free: [1] };
    const definitions = { a: task('a'), b: task('b') };
    expect(frozenExpand(written, leavesOf(defined.tasks), defined, definitions)).toEqual({
      ...written,
      'a-0': { x: 1 },
      'b-1': {},
      'a-2': { x: 3 },
    });
  });

  it('drops the key __proto__ wherever it stands', () => {
    const written = JSON.parse('{"__proto__": {"x": 1}, "a": {"__proto__": {"x": 1}}}') as object;
    const defined = flow(['a']);
    const params = expandParams({ ...written }, leavesOf(defined.tasks), defined, { a: task('a') });
    expect(JSON.stringify(params)).toBe('{"a":{},"a-0":{}}');
  });
});

describe('handlerParams', () => {
  it.each([
    ['the task', {}, undefined, {}, { from: 'task' }],
    ['the flow over the task', { h: { from: 'flow' } }, undefined, {}, { from: 'flow' }],
    ['the handler over the flow', { h: { from: 'flow' } }, { from: 'own' }, {}, { from: 'own' }],
    [
      'the job over all',
      { h: { from: 'flow' } },
      { from: 'own' },
      { h: { from: 'job' } },
      { from: 'job' },
    ],
  ])('takes them from %s', (_title, ofFlow, own, ofJob, params) => {
    const job = liveJob(flow(['a'], { params: ofFlow, error: 'h' }), {
      tasks: [task('h', { params: { from: 'task' } })],
    });
    const entry = { task: 'h', ...(own === undefined ? {} : { params: own }) };
    expect(handlerParams(frozen({ ...job, params: ofJob }), entry)).toEqual(params);
  });
});

describe('stepParams', () => {
  const [leaf] = leavesOf(flow(['a']).tasks);
  it.each([
    ['what stands in the job now', { 'a-0': { x: 1 } }, { x: 1 }],
    ['nothing when there is nothing', {}, {}],
    ['nothing when an edit left no object', { 'a-0': 'text' }, {}],
  ])('gives %s', (_title, params, given) => {
    const job = liveJob(flow(['a']), { params });
    expect(leaf && stepParams(job, leaf)).toEqual(given);
  });
});

describe('strayParams', () => {
  it.each([
    ['a step by name', 'a', false],
    ['a step by position', 'b-1', false],
    ['an error handler', 'h', false],
    ['a parameter that the flow declares', 'declared', false],
    ['a key that the flow has', 'shared', false],
    ['a step at another position', 'a-1', true],
    ['nothing', 'free', true],
  ])('looks at a key that names %s', (_title, key, stray) => {
    const schema = { properties: { declared: {} } };
    const defined = flow(['a', 'b'], { params: { shared: {} }, schema });
    const definitions = { a: task('a'), b: task('b'), h: task('h') };
    const problems = strayParams({ [key]: {} }, leavesOf(defined.tasks), defined, definitions);
    expect(problems.map(({ path }) => path)).toEqual(stray ? [`params.${key}`] : []);
  });

  it('knows the keys that an expression or a template of the flow reads', () => {
    const over = {
      map: { over: 'params.list', do: { task: 'a', params: { x: '{{job.params.y}}' } } },
    };
    const defined = flow([over]);
    const problems = strayParams({ list: [], y: 1, z: 2 }, [], defined, {});
    expect(problems.map(({ path }) => path)).toEqual(['params.z']);
  });

  it.each([
    ['a list of paths', { key: ['customer', 'order.id'] }],
    ['an expression', { key: 'params.customer & params.order.id' }],
  ])('knows the keys that make a job unique, as %s', (_title, unique) => {
    const written = { customer: 'c', order: { id: 1 }, custom: 2 };
    const problems = strayParams(written, [], { ...flow([]), unique }, {});
    expect(problems.map(({ path }) => path)).toEqual(['params.custom']);
  });

  it.each([
    [true, []],
    [false, ['params.free']],
    [{}, ['params.free']],
  ])(
    'knows any key where the schema has additionalProperties %j',
    (additionalProperties, stray) => {
      const defined = flow(['a'], { schema: { additionalProperties } });
      const problems = strayParams({ free: 1 }, leavesOf(defined.tasks), defined, { a: task('a') });
      expect(problems.map(({ path }) => path)).toEqual(stray);
    },
  );

  it('says where steps find a stray key', () => {
    const [problem] = strayParams({ free: 1 }, [], { ...flow([]) }, {});
    expect(problem?.message).toContain('{{job.params.free}}');
  });
});

describe('mapStdio', () => {
  const map = (stdio: Record<string, string>, source: unknown, params = {}) => {
    const [leaf] = leavesOf(flow([{ task: 'a', stdio }]).tasks);
    if (leaf === undefined) throw new Error('The flow has no steps.');
    return mapStdio(frozen(params), leaf, frozen(source));
  };

  // Shows G-04.
  it.each([
    ['a key', { x: 'y' }, { x: 1 }, {}, { y: 1 }],
    [
      'a path to a path',
      { 'x.0.z': 'p.q' },
      { x: [{ z: 1 }] },
      { p: { r: 2 } },
      { p: { q: 1, r: 2 } },
    ],
    ['over what was written', { x: 'y' }, { x: 1 }, { y: 5 }, { y: 1 }],
    ['an explicit null', { x: 'y' }, { x: null }, { y: 5 }, { y: null }],
    ['an explicit 0', { x: 'y' }, { x: 0 }, { y: 5 }, { y: 0 }],
    ['the whole result as stdout', { stdout: 'y' }, [1, 2], {}, { y: [1, 2] }],
    ['the key stdout when there is one', { stdout: 'y' }, { stdout: 'text' }, {}, { y: 'text' }],
    ['an empty result as stdout', { stdout: 'y' }, null, {}, { y: null }],
  ])('maps %s', (_title, stdio, source, params, mapped) => {
    expect(map(stdio, source, params)).toEqual({ ok: true, params: mapped });
  });

  it.each([
    ['a key that is not there', { x: 'y' }, { z: 1 }],
    ['an inherited key', { constructor: 'y' }, {}],
    ['a key of nothing', { x: 'y' }, undefined],
    ['stdout of nothing', { stdout: 'y' }, undefined],
  ])('fails for %s', (_title, stdio, source) => {
    const mapped = map(stdio, source);
    expect(mapped).toMatchObject({ ok: false, failure: { name: 'MappingError' } });
  });
});

describe('difference', () => {
  const hostile = JSON.parse('{"__proto__": {"url": "evil"}, "a": 1}') as Record<string, unknown>;

  it.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
    ['the same', { a: { b: [1] } }, { a: { b: [1] } }, {}],
    ['another value at some depth', { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { c: 2 } }],
    ['an empty object where there was nothing', { a: {} }, {}, { a: {} }],
    ['an empty object over an object', { a: {} }, { a: { b: 1 } }, {}],
    ['a key of every object', { constructor: 1 }, {}, { constructor: 1 }],
    ['what merging drops', hostile, {}, { a: 1 }],
  ])('tells %s', (_what, params, defaults, own) => {
    const found = difference(params, defaults);
    expect(found).toEqual(own);
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
  });
});
