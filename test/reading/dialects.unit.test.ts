import { describe, expect, it } from 'vitest';
import { toFlow, toKeyedParams } from '../../src/reading/dialects.js';
import { parseDocument } from '../../src/reading/parse.js';
import { toTree } from '../../src/structures/to-tree.js';

const identity = { _id: 'f', _rev: '1-a' };

/** Flows as they stand in existing projects, of both generations. */
const older = {
  ...identity,
  type: 'flow',
  name: 'news',
  owner: 'DEFAULT',
  tasks: { structure: 'sequence', sequence: ['template', 'mail', 'mail'] },
  params: {
    template: { template: 'a.html' },
    'mail-2': { smtp: { host: 'mx2' } },
  },
  error: 'mail',
};
const newer = {
  ...identity,
  type: 'flow',
  name: 'news',
  owner: 'DEFAULT',
  tasks: {
    structure: 'sequence',
    sequence: [
      { task: 'template', name: 'fill', stdio: { body: 'data' } },
      { task: 'mail', params: { subject: 'News' }, guards: 'results.fill' },
      { task: 'mail', retry: 2, timeout: 5000, error: 'note' },
    ],
  },
  params: {
    tasks: {
      sequence: [{ params: { template: 'a.html' } }, null, { smtp: { host: 'mx2' } }],
    },
  },
  error: { name: 'mail', params: { to: 'ops' } },
};

describe('a flow of the older generation', () => {
  it('becomes a tree of entries with a handler as an object', () => {
    expect(parseDocument(older)).toMatchObject({
      kind: 'flow',
      ok: true,
      value: {
        tasks: {
          structure: 'sequence',
          sequence: [{ task: 'template' }, { task: 'mail' }, { task: 'mail' }],
        },
        params: older.params,
        error: { name: 'mail' },
      },
    });
  });
});

describe('a flow of the newer generation', () => {
  it('keeps its entries and gets its parameters by task and position', () => {
    const parsed = parseDocument(newer);
    expect(parsed).toMatchObject({
      ok: true,
      value: { tasks: newer.tasks, error: newer.error },
    });
    expect('value' in parsed && (parsed.value as { readonly params?: unknown }).params).toEqual({
      'template-0': { template: 'a.html' },
      'mail-2': { smtp: { host: 'mx2' } },
    });
  });
});

describe('toFlow', () => {
  it.each([
    ['a list', ['a', 'b']],
    ['a structure', { structure: 'sequence', sequence: ['a', { task: 'b' }] }],
    ['a structure without its word', { sequence: [{ task: 'a' }, 'b'] }],
  ])('reads tasks written as %s', (_title, tasks) => {
    const flow = toFlow({ type: 'flow', name: 'f', owner: 'o', tasks });
    expect(flow.tasks).toEqual({ structure: 'sequence', sequence: [{ task: 'a' }, { task: 'b' }] });
  });

  it.each([
    ['a name', 'sweep', [{ task: 'sweep' }]],
    [
      'an entry',
      { task: 'sweep', params: { all: true } },
      [{ task: 'sweep', params: { all: true } }],
    ],
    ['a list', ['sweep', 'note'], [{ task: 'sweep' }, { task: 'note' }]],
    ['a structure', { sequence: ['sweep'] }, [{ task: 'sweep' }]],
  ])('reads a cancel branch written as %s', (_title, cancel, sequence) => {
    const flow = toFlow({ type: 'flow', name: 'f', owner: 'o', tasks: [], cancel });
    expect(flow.cancel).toEqual({ structure: 'sequence', sequence });
  });

  it('adds nothing that was not written', () => {
    expect(toFlow({ type: 'flow', name: 'f', owner: 'o', tasks: [] })).toEqual({
      type: 'flow',
      name: 'f',
      owner: 'o',
      tasks: { structure: 'sequence', sequence: [] },
    });
  });
});

describe('toKeyedParams', () => {
  const tasks = toTree(['a', ['b'], 'a']);

  it('moves parameters by position to <task>-<n>, also into nested sequences', () => {
    const params = { tasks: { sequence: [{ x: 0 }, { x: 1 }, { x: 2 }] } };
    expect(toKeyedParams(params, tasks)).toEqual({
      'a-0': { x: 0 },
      'b-1': { x: 1 },
      'a-2': { x: 2 },
    });
  });

  it('lets a key that is there already win', () => {
    const params = { 'a-0': { x: 'mine' }, tasks: { sequence: [{ x: 'other' }] } };
    expect(toKeyedParams(params, tasks)).toEqual({ 'a-0': { x: 'mine' } });
  });

  it.each([
    ['no such list', { a: { x: 1 } }],
    ['a parameter called tasks that is no structure', { tasks: ['a'] }],
    ['a structure whose list is none', { tasks: { sequence: 'a' } }],
  ])('leaves parameters with %s as they are', (_title, params) => {
    expect(toKeyedParams(params, tasks)).toBe(params);
  });

  it('ignores entries for which there is no step', () => {
    expect(toKeyedParams({ tasks: { sequence: ['x', 5, null, { x: 3 }] } }, tasks)).toEqual({});
  });
});
