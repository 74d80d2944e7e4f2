import { describe, expect, it } from 'vitest';
import type { Found } from '../../../src/decide/world.js';
import { snapshot } from '../../../src/decide/start/snapshot.js';
import type { Flow } from '../../../src/model/flow.js';
import type { Task } from '../../../src/model/task.js';
import { flow, frozen, task, world } from '../../support/builders.js';

const taken = (defined: Flow, tasks: readonly Task[]) =>
  snapshot(frozen(defined), 'DEFAULT', world({ tasks }));

describe('snapshot', () => {
  it('takes every task that can come to run', () => {
    const defined = flow(['a', [{ task: 'b', error: 'own' }, 'a']], {
      error: 'last',
      cancel: { sequence: ['undo'] },
    });
    const tasks = [
      task('a', { error: 'h1' }),
      task('b', { error: 'unused' }),
      ...['own', 'last', 'undo', 'h1', 'h2', 'unused'].map((name) => task(name)),
    ];
    const result = taken(defined, tasks);
    if (result.kind !== 'taken') throw new Error(result.kind);
    expect(Object.keys(result.definitions).sort()).toEqual(
      ['a', 'b', 'h1', 'last', 'own', 'undo', 'unused'].sort(),
    );
  });

  it('takes a task with the most inconvenient name', () => {
    const result = taken(flow(['__proto__', 'constructor']), [
      task('__proto__', { error: 'constructor' }),
      task('constructor'),
    ]);
    if (result.kind !== 'taken') throw new Error(result.kind);
    expect(Object.keys(result.definitions)).toEqual(['__proto__', 'constructor']);
  });

  const problem = { path: 'x', message: 'x is wrong.' };
  const wrong: readonly [string, Found<Task>, string, RegExp][] = [
    ['is missing', { kind: 'absent' }, 'TaskMissing', /"a".*step 0 of the flow/],
    ['is twice there', { kind: 'ambiguous', ids: ['p', 'q'] }, 'TaskAmbiguous', /p, q/],
    [
      'is not valid',
      { kind: 'invalid', id: 'p', problems: [problem] },
      'InvalidTask',
      /x is wrong/,
    ],
    [
      'has several problems',
      { kind: 'invalid', id: 'p', problems: [problem, problem, problem] },
      'InvalidTask',
      /2 more/,
    ],
  ];
  it.each(wrong)('says when a task %s', (_title, found, name, message) => {
    const result = snapshot(flow(['a']), 'DEFAULT', world({ task: () => found }));
    expect(result).toMatchObject({
      kind: 'wrong',
      failure: { name, message: expect.stringMatching(message) as string },
    });
  });

  it.each([
    ['the flow', flow(['a'], { error: 'zzz' }), '"error" of the flow'],
    ['a step', flow(['a', { task: 'a', error: 'zzz' }]), '"error" of step 1'],
    ['a task', flow(['b']), '"error" of task b'],
    ['the cancel branch', flow(['a'], { cancel: 'zzz' }), 'step cancel.sequence.0'],
  ])('names the place of a missing task: %s', (_title, defined, at) => {
    const result = taken(defined, [task('a'), task('b', { error: 'zzz' })]);
    expect(result).toMatchObject({ failure: { message: expect.stringContaining(at) as string } });
  });

  it('names the tasks nobody has asked the store for, each once', () => {
    const result = snapshot(
      flow(['a', 'b', 'a']),
      'o',
      world({ task: () => ({ kind: 'unknown' }) }),
    );
    expect(result).toEqual({ kind: 'unknown', names: ['a', 'b'] });
  });

  it.each([
    ['a task that handles itself', flow(['a']), [task('a', { error: 'a' })], 'a -> a'],
    [
      'two tasks that handle each other',
      flow(['a']),
      [task('a', { error: 'b' }), task('b', { error: 'a' })],
      'a -> b -> a',
    ],
    ['a step that names its own task', flow([{ task: 'a', error: 'a' }]), [task('a')], 'a -> a'],
    [
      'a circle behind the handler of a step',
      flow([{ task: 'a', error: 'b' }]),
      [task('a'), task('b', { error: 'c' }), task('c', { error: 'b' })],
      'a -> b -> c -> b',
    ],
    [
      'a circle behind the handler of the flow',
      flow(['a'], { error: 'h' }),
      [task('a'), task('h', { error: 'h' })],
      'h -> h',
    ],
    [
      'a circle in the cancel branch',
      flow(['a'], { cancel: 'u' }),
      [task('a'), task('u', { error: 'u' })],
      'u -> u',
    ],
  ])('refuses %s', (_title, defined, tasks, names) => {
    expect(taken(defined, tasks)).toMatchObject({
      kind: 'wrong',
      failure: { name: 'HandlerCycle', message: expect.stringContaining(`(${names})`) as string },
    });
  });

  // Shows A-07.
  it('accepts one handler for many steps, and a step that is also a handler', () => {
    const tasks = [task('a', { error: 'h' }), task('b', { error: 'h' }), task('h')];
    expect(taken(flow(['a', 'b', 'h'], { error: 'h' }), tasks)).toMatchObject({ kind: 'taken' });
  });
});
