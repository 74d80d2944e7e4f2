import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differences, isSameJson, mergeEdits } from '../../src/model/three-way.js';
import { stateOf, type StoredDefinition } from '../../src/pages/definitions/stored.js';
import { flowOf, flowsOf, meant, tasksOf, usesOfTasks } from '../../src/pages/definitions/uses.js';
import { stepParamsSchema } from '../../src/pages/form/step-schema.js';

describe('two changes of one definition', () => {
  const base = { name: 'f', timeout: 1, params: { a: 1, b: 2 }, tasks: ['x', { task: 'y' }] };

  it.each<readonly [string, object, object, object]>([
    [
      'of different keys',
      { ...base, timeout: 2 },
      { ...base, retry: 3 },
      { ...base, timeout: 2, retry: 3 },
    ],
    [
      'deep in one object',
      { ...base, params: { a: 9, b: 2 } },
      { ...base, params: { a: 1, b: 8, c: 7 } },
      { ...base, params: { a: 9, b: 8, c: 7 } },
    ],
    [
      'of different steps',
      { ...base, tasks: ['x', { task: 'y', retry: 1 }] },
      { ...base, tasks: ['z', { task: 'y' }] },
      { ...base, tasks: ['z', { task: 'y', retry: 1 }] },
    ],
    [
      'one of which removes',
      { name: 'f', params: base.params, tasks: base.tasks },
      { ...base, name: 'g' },
      { name: 'g', params: base.params, tasks: base.tasks },
    ],
  ])('%s both come into it', (_title, mine, theirs, both) => {
    expect(mergeEdits(base, mine, theirs)).toEqual({ value: both, conflicts: [] });
  });

  it('at the same place are told, and whoever is preferred there is taken', () => {
    const mine = { ...base, timeout: 2, tasks: ['x', 'mine', 'too'] };
    const theirs = { ...base, timeout: 3, tasks: ['theirs'], params: { b: 2 } };
    const conflicts = [
      { path: 'timeout', mine: 2, theirs: 3 },
      { path: 'tasks', mine: mine.tasks, theirs: theirs.tasks },
    ];
    expect(mergeEdits(base, mine, theirs)).toEqual({
      value: { ...mine, params: { b: 2 } },
      conflicts,
    });
    const chosen = mergeEdits(base, mine, theirs, (path) =>
      path === 'timeout' ? 'theirs' : 'mine',
    );
    expect(chosen).toEqual({ value: { ...mine, timeout: 3, params: { b: 2 } }, conflicts });
  });

  it('that are one change come into it unchanged, whatever it is', () => {
    const json = fc.jsonValue();
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(isSameJson(mergeEdits(before, after, before).value, after)).toBe(true);
        expect(isSameJson(mergeEdits(before, before, after).value, after)).toBe(true);
        expect(mergeEdits(before, after, after).conflicts).toEqual([]);
        expect(differences(before, after).length === 0).toBe(isSameJson(before, after));
      }),
    );
  });

  it('are told by the places that differ', () => {
    const now = { ...base, timeout: 2, params: { a: 1 }, tasks: ['x', { task: 'z' }] };
    expect(differences(base, now)).toEqual([
      { path: 'timeout', before: 1, after: 2 },
      { path: 'params.b', before: 2, after: undefined },
      { path: 'tasks[1].task', before: 'y', after: 'z' },
    ]);
  });
});

const stored = (
  kind: string,
  name: string,
  owner: string,
  document: object = {},
): StoredDefinition => ({
  id: `${kind}:${owner}:${name}`,
  rev: '1-a',
  name,
  owner,
  document: { type: kind, name, owner, ...document },
});

describe('what a flow names', () => {
  const value = {
    name: 'f',
    owner: 'me',
    tasks: [
      'a',
      { parallel: [{ task: 'b', error: 'fix' }, { wait: { signal: 's' } }, { flow: 'child' }] },
      { task: 'c', undo: 'back' },
    ],
    cancel: 'tidy',
    error: { name: 'tell' },
  };
  const flow = flowOf(value);

  it('are its steps, and what handles and undoes them', () => {
    if (flow === undefined) throw new Error('It is no flow.');
    expect(tasksOf(flow)).toEqual(['a', 'b', 'fix', 'c', 'back', 'tidy', 'tell']);
    expect(flowsOf(flow)).toEqual(['child']);
    expect(flowOf({ name: 'f' })).toBeUndefined();
    expect(flowOf(undefined)).toBeUndefined();
  });

  it('is used by who means exactly that one', () => {
    const own = stored('task', 'a', 'me');
    const all = stored('task', 'a', 'DEFAULT');
    const handled = stored('task', 'b', 'you', { error: 'a' });
    const tasks = [own, all, handled];
    const flows = [stored('flow', 'f', 'me', value), stored('flow', 'g', 'you', { tasks: ['a'] })];
    const names = (task: StoredDefinition): readonly string[] =>
      (usesOfTasks({ flows, tasks }).get(task.id) ?? []).map(
        ({ by, kind }) => `${kind} ${by.name}`,
      );
    expect(names(own)).toEqual(['flow f']);
    expect(names(all)).toEqual(['flow g', 'task b']);
    expect(meant(tasks, 'a', 'else')).toBe(all);
  });

  it('is found with one reading of each flow, however many tasks there are', () => {
    let reads = 0;
    const tasks = Array.from({ length: 30 }, (_, n) => stored('task', `t${n}`, 'me'));
    const flows = tasks.map(({ name }): StoredDefinition => {
      const one = stored('flow', `f-${name}`, 'me', { tasks: [name] });
      return {
        ...one,
        get document() {
          reads += 1;
          return one.document;
        },
      };
    });
    expect(usesOfTasks({ flows, tasks }).size).toBe(30);
    expect(reads).toBe(30);
  });

  it('tells what parameters a job may give to its steps', () => {
    if (flow === undefined) throw new Error('It is no flow.');
    const task = stored('task', 'a', 'DEFAULT', { params: { to: 'x', count: 1 } });
    const { properties } = stepParamsSchema(flow, [task]) as { properties: Record<string, object> };
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(['a', 'a-0', 'b', 'c']));
    expect(Object.keys(properties)).not.toContain('child');
    expect(properties['a']).toMatchObject({
      properties: { to: { type: 'string' }, count: { type: 'number' } },
    });
  });

  it('runs, waits or fails as its keys say', () => {
    expect([{}, { paused: true }, { enabled: false, paused: true }].map(stateOf)).toEqual([
      'enabled',
      'paused',
      'disabled',
    ]);
  });
});
