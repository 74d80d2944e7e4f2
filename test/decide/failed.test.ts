import { describe, expect, it } from 'vitest';
import { t0, task } from '../support/builders.js';
import { story } from './story.js';

describe('a flow that failed', () => {
  it('ends with exit and failure of the step, and nothing behind it begins', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    told.fail('Broken', { exit: 9 });
    expect(told.trail).toEqual(['a#1 $$error']);
    expect(told.job).toMatchObject({
      state: '$$complete',
      exit: 9,
      end: t0,
      failure: { name: 'Broken', step: 'a' },
    });
  });

  it('has exit 130 when its step was stopped though nobody cancelled the job', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.end({ kind: 'cancelled' });
    expect(told.ending).toEqual({ state: '$$complete', exit: 130, failure: 'Cancelled' });
  });
});

describe('the retry of a flow', () => {
  it('goes on at the step that failed', () => {
    const told = story({ steps: ['a', 'b', 'c'], flow: { retry: 1 } });
    told.go();
    told.done();
    told.fail();
    expect(told.last).toMatchObject({ task: 'b', run: 2, attempt: 2, state: '$$active' });
    told.done();
    told.done();
    expect(told.trail).toEqual([
      'a#1 $$complete',
      'b#1 $$error',
      'b#2 $$complete',
      'c#1 $$complete',
    ]);
    expect(told.ending).toMatchObject({ exit: 0 });
  });

  it('gives the step its retries again', () => {
    const told = story({ steps: [{ task: 'a', retry: 1 }], flow: { retry: 1 } });
    told.go();
    while (told.job.state !== '$$complete') told.fail();
    expect(told.steps.map(({ run }) => run)).toEqual([1, 1, 2, 2]);
  });

  it('comes before the handler of the flow', () => {
    const told = story({ steps: ['a'], flow: { retry: 1, error: 'h' } });
    told.go();
    told.fail();
    told.fail();
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$error', 'h#1 $$active']);
  });

  it('waits as the setting says when it names no delay', () => {
    const told = story({ steps: ['a'], flow: { retry: 1 }, world: { retryDelayMs: 40 } });
    told.go();
    told.at(100).fail();
    expect(told.liveJob).toMatchObject({ run: 2, resume_at: t0 + 140 });
  });

  it('waits its delay, which grows', () => {
    const told = story({ steps: ['a'], flow: { retry: { limit: 2, delay: 100, factor: 3 } } });
    told.go();
    expect(told.at(10).fail()).toMatchObject({
      kind: 'write',
      job: { run: 2, resume_at: t0 + 110, held_ms: 100, next_due: t0 + 110 },
    });
    told.at(110).go();
    expect(told.job).not.toHaveProperty('next_due');
    expect(told.at(120).fail()).toMatchObject({ job: { resume_at: t0 + 420, held_ms: 400 } });
  });

  it('runs the handler of a step again', () => {
    const told = story({ steps: [{ task: 'a', error: 'h' }, 'b'], flow: { retry: 1 } });
    told.go();
    for (let i = 0; i < 3; i += 1) told.fail();
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$error', 'a#2 $$error', 'h#2 $$active']);
    told.done();
    expect(told.trail.at(-1)).toBe('b#1 $$active');
  });

  it('does not repeat what was recovered or may fail', () => {
    const told = story({
      steps: [{ task: 'a', error: 'h' }, { task: 'b', optional: true }, 'c'],
      flow: { retry: 1 },
    });
    told.go();
    told.fail();
    told.done();
    told.fail();
    told.fail();
    expect(told.trail).toEqual([
      'a#1 $$error',
      'h#1 $$complete',
      'b#1 $$error',
      'c#1 $$error',
      'c#2 $$active',
    ]);
  });

  it.each([
    ['a failure with exit 3', { limit: 9 }, { exit: 3 }],
    ['what the plugin calls not retryable', { limit: 9 }, { retryable: false }],
    ['what `never` names', { limit: 9, never: ['Broken'] }, {}],
    ['what `on` does not name', { limit: 9, on: ['Other'] }, {}],
  ])('does not repeat %s', (_title, retry, more) => {
    const told = story({ steps: ['a'], flow: { retry } });
    told.go();
    told.fail('Broken', more);
    expect(told.trail).toEqual(['a#1 $$error']);
  });
});

describe('the error handler of a flow', () => {
  const handled = (exit?: number) => {
    const told = story({ steps: ['a', 'b'], flow: { error: 'h' } });
    told.go();
    told.fail();
    told.done('handled', exit);
    return told;
  };

  it('runs once, and the job keeps exit and failure of the step', () => {
    const told = handled();
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$complete']);
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Broken' });
  });

  it('is waited for', () => {
    const told = story({ steps: ['a'], flow: { error: 'h' } });
    told.go();
    told.fail();
    expect(told.decide()).toMatchObject({ kind: 'wait' });
  });

  it.each([
    [0, undefined],
    [7, 'Broken'],
  ])('may set the exit of the job to %i', (exit, failure) => {
    expect(handled(exit).ending).toEqual({ state: '$$complete', exit, failure });
  });

  it('may fail, which changes nothing', () => {
    const told = story({ steps: ['a'], flow: { error: 'h' } });
    told.go();
    told.fail();
    told.fail('Worse');
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Broken' });
  });

  it('may be a task of the flow itself', () => {
    const told = story({ steps: ['a', 'b'], flow: { error: 'b' } });
    told.go();
    told.fail();
    expect(told.last).toMatchObject({ task: 'b', phase: 'error', path: 'error' });
    told.fail();
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Broken' });
  });

  it('may have a handler of its own', () => {
    const told = story({ steps: ['a'], flow: { error: 'h' }, tasks: [task('h', { error: 'g' })] });
    told.go();
    told.fail();
    told.fail();
    expect(told.last).toMatchObject({ task: 'g', path: 'error.error' });
    told.done();
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Broken' });
  });

  it('may be a flow', () => {
    const told = story({
      steps: ['a'],
      flow: { error: 'h' },
      tasks: [task('h', { flow: 'inner' })],
    });
    told.go();
    expect(told.fail()).toMatchObject({
      kind: 'spawn',
      children: [{ _id: 'j:error:1', flow: 'inner' }],
    });
  });

  it('does not run when the flow succeeds', () => {
    const told = story({ steps: ['a'], flow: { error: 'h' } });
    told.go();
    told.done();
    expect(told.trail).toEqual(['a#1 $$complete']);
  });
});
