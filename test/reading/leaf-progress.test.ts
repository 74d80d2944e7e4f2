import { describe, expect, it } from 'vitest';
import { task } from '../support/builders.js';
import { story } from '../decide/story.js';

describe('the error handler of a step', () => {
  // Shows E-12.
  it.each([
    ['stands in the task', ['a'], [task('a', { error: 'h' })]],
    ['stands in the entry', [{ task: 'a', error: 'h' }], []],
    [
      'stands in the entry before the task',
      [{ task: 'a', error: 'h' }],
      [task('a', { error: 'g' })],
    ],
  ])('%s and recovers the step', (_title, steps, tasks) => {
    const told = story({ steps: [...steps, 'b'], tasks });
    told.go();
    told.fail();
    expect(told.last).toMatchObject({
      task: 'h',
      phase: 'error',
      path: '0.error',
      index: 0,
      attempt: 1,
    });
    told.done('saved');
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$complete', 'b#1 $$active']);
    told.done();
    expect(told.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('runs after the last retry only', () => {
    const told = story({ steps: [{ task: 'a', error: 'h', retry: 1 }] });
    told.go();
    told.fail();
    told.fail();
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$error', 'h#1 $$active']);
  });

  it('gives its result to the steps behind', () => {
    const told = story({
      steps: [
        { task: 'a', error: 'h' },
        { task: 'b', params: { x: '{{results.a}}' } },
      ],
    });
    told.go();
    told.fail();
    told.done('saved');
    expect(told.live.params).toEqual({ x: 'saved' });
  });

  it('that fails leaves the step failed, with the failure of the step', () => {
    const told = story({ steps: [{ task: 'a', error: 'h' }, 'b'] });
    told.go();
    told.fail();
    told.fail('Worse');
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$error']);
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Broken' });
  });

  it('comes before the handler of the flow, which comes when it fails', () => {
    const told = story({ steps: [{ task: 'a', error: 'h' }], flow: { error: 'f1' } });
    told.go();
    told.fail();
    told.fail();
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$error', 'f1#1 $$active']);
  });

  it('may be handled itself', () => {
    const told = story({
      steps: [{ task: 'a', error: 'h' }, 'b'],
      tasks: [task('h', { error: 'g' })],
    });
    told.go();
    told.fail();
    told.fail();
    expect(told.last).toMatchObject({ task: 'g', path: '0.error.error' });
    told.done();
    expect(told.trail.at(-1)).toBe('b#1 $$active');
  });

  // Shows E-14.
  it('never handles itself, however the job was edited', () => {
    const told = story({ steps: [{ task: 'a', error: 'h' }] });
    told.go();
    const definitions = { a: task('a', { error: 'h' }), h: task('h', { error: 'a' }) };
    told.edit({ definitions }).fail();
    told.fail();
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$error']);
    expect(told.ending).toMatchObject({ exit: 2, failure: 'Broken' });
  });

  it('never is the task that failed, however the job was edited', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.edit({ definitions: { a: task('a', { error: 'a' }) } }).fail();
    expect(told.trail).toEqual(['a#1 $$error']);
  });

  it('handles each step at its own place', () => {
    const told = story({ steps: ['a', 'a'], tasks: [task('a', { error: 'h' })] });
    told.go();
    told.fail();
    told.done();
    told.fail();
    expect(told.last).toMatchObject({ path: '1.error', index: 1 });
    expect(told.job).toMatchObject({ state: 'h-1' });
  });

  it('is handed back and begins again like any step', () => {
    const told = story({ steps: [{ task: 'a', error: 'h' }] });
    told.go();
    told.fail();
    told.end({ kind: 'released' });
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$cancelled', 'h#2 $$active']);
  });
});

describe('an optional step', () => {
  // Shows E-20, X-10.
  it.each([
    ['by its entry', { optional: true }, {}],
    ['by its task', {}, { optional: true }],
  ])('may fail, %s', (_title, entry, of) => {
    const told = story({ steps: [{ task: 'a', ...entry }, 'b'], tasks: [task('a', of)] });
    told.go();
    told.fail();
    expect(told.trail).toEqual(['a#1 $$error', 'b#1 $$active']);
    told.done();
    expect(told.ending).toMatchObject({ exit: 0 });
  });

  it('is tried again and handled first', () => {
    const told = story({ steps: [{ task: 'a', optional: true, retry: 1, error: 'h' }, 'b'] });
    told.go();
    for (let i = 0; i < 3; i += 1) told.fail();
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$error', 'h#1 $$error', 'b#1 $$active']);
  });

  it('is not optional when its entry says so', () => {
    const told = story({
      steps: [{ task: 'a', optional: false }, 'b'],
      tasks: [task('a', { optional: true })],
    });
    told.go();
    told.fail();
    expect(told.ending).toMatchObject({ exit: 2 });
  });

  it('that was taken out of the definitions is not optional', () => {
    const told = story({ steps: ['a', 'b'], tasks: [task('a', { optional: true })] });
    told.go();
    told.edit({ definitions: {} }).fail();
    expect(told.trail).toEqual(['a#1 $$error']);
  });
});

describe('an entry of a built-in kind', () => {
  it.each([
    ['wait', { wait: { signal: 's', timeout: 10 } }],
    ['delay', { delay: 'nonsense' }],
  ])('named %s takes nothing from a task of that name', (name, node) => {
    const told = story({
      steps: [node, name],
      tasks: [task(name, { error: 'h', optional: true, retry: 9, undo: 'u' })],
    });
    told.go();
    told.at(10).go();
    expect(told.trail).toEqual([name === 'wait' ? 'wait#1 $$timeout' : 'delay#1 $$error']);
    expect(told.ending.state).toBe('$$complete');
  });

  it('may have a handler, be optional and be tried again by itself', () => {
    const wait = { wait: { signal: 's', timeout: 10 } };
    const told = story({
      steps: [{ ...wait, retry: 1, error: 'h' }, { ...wait, optional: true }, 'z'],
    });
    told.go();
    told.at(10).go();
    told.at(20).go();
    expect(told.trail).toEqual(['wait#1 $$timeout', 'wait#2 $$timeout', 'h#1 $$active']);
    told.done('saved');
    told.at(40).go();
    expect(told.trail.slice(3)).toEqual(['wait#1 $$timeout', 'z#1 $$active']);
  });
});

describe('what was undone', () => {
  it('is done again in the next run, and once only', () => {
    const told = story({ steps: [{ task: 'a', undo: 'u' }, 'b', 'c'] });
    told.go();
    told.done();
    told.done();
    told.fail();
    told.done();
    expect(told.ending).toMatchObject({ exit: 2 });
    told.ask('retry');
    expect(told.running).toEqual(['a']);
    told.done();
    expect(told.running).toEqual(['c']);
    told.done();
    expect(told.trail).toEqual([
      'a#1 $$complete',
      'b#1 $$complete',
      'c#1 $$error',
      'u#1 $$complete',
      'a#2 $$complete',
      'c#2 $$complete',
    ]);
  });
});
