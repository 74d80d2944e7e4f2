import { describe, expect, it } from 'vitest';
import { t0, task } from '../../support/builders.js';
import { begun, story } from '../story.js';

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
  // Shows E-15.
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
    const told = story({ steps: ['a'], flow: { retry: 1 }, world: { retry: { delay: 40 } } });
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

  // Shows E-12.
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

  // Shows E-13.
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

describe('a structure that handles the failure of a flow', () => {
  const steps = [{ parallel: ['a', 'b'] }];
  const sequence = { sequence: ['h', { parallel: ['i', 'j'] }] };

  it('begins when all of the flow is at rest, and leaves the failure as it is', () => {
    const told = begun(steps, { flow: { error: sequence } });
    told.broke('a');
    expect(told.running).toEqual(['b']);
    told.did('b');
    expect(told.live).toMatchObject({ path: 'error.sequence.0', phase: 'error' });
    told.did('h', 1);
    expect(told.running).toEqual(['i', 'j']);
    told.did('i').did('j');
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Broken' });
  });

  // Shows F-11.
  it('may be a list, or one entry of any kind', () => {
    const told = begun(['a'], { flow: { error: [{ delay: 500 }, 'h'] } });
    told.fail();
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 500 });
    told.at(500).go();
    expect(told.live).toMatchObject({ task: 'h', path: 'error.sequence.1' });
    const entry = begun(['a'], { flow: { error: { task: 'h', retry: 1, name: 'tell' } } });
    entry.fail();
    entry.fail();
    expect(entry.live).toMatchObject({ name: 'tell', attempt: 2 });
  });

  it('hands on results, and knows those of the flow', () => {
    const params = { of: '{{results.a}} {{results.h}}' };
    const told = begun(['a', 'b'], { flow: { error: ['h', { task: 'i', params }] } });
    told.did('a', 1).broke('b').did('h', 2);
    expect(told.live.params).toEqual({ of: '1 2' });
  });

  it('cancels in it what is not needed any more', () => {
    const race = { parallel: [{ wait: { signal: 'x' } }, { delay: 9 }], join: 'any' };
    const told = begun(['a'], { flow: { error: { ...race, cancel_rest: true } } });
    told.fail();
    told.at(9).go();
    expect(told.ending).toMatchObject({ exit: 2, failure: 'Broken' });
    expect(told.steps.slice(1).map(({ state }) => state)).toEqual(['$$cancelled', '$$complete']);
  });

  it('ends with the exit that its last step set', () => {
    const told = begun(['a'], { flow: { error: ['h', 'i', 'j'] } });
    told.fail();
    told.done(undefined, 7);
    told.done(undefined, 8);
    told.done();
    expect(told.ending).toEqual({ state: '$$complete', exit: 8, failure: 'Broken' });
  });

  it('is cancelled with the job', () => {
    const told = begun(['a'], { flow: { error: sequence, cancel: 'c' } });
    told.fail();
    told.edit({ cancel: true }).stopped();
    expect(told.running).toEqual(['c']);
    told.done();
    expect(told.ending).toMatchObject({ exit: 130, failure: 'Cancelled' });
  });

  it('begins anew in the next run of the flow', () => {
    const told = begun(['a'], { flow: { error: ['h', 'i'] } });
    told.fail();
    told.did('h').did('i');
    told.ask('retry').fail('Other');
    expect(told.live).toMatchObject({ task: 'h', attempt: 2, run: 2 });
  });

  it('has callbacks of batches in its own phase', () => {
    const told = begun(['a'], { flow: { error: { batch: ['h'], on_complete: 'i' } } });
    told.fail();
    told.did('h');
    expect(told.live).toMatchObject({ task: 'i', phase: 'error', path: 'error.on_complete' });
  });
});

describe('"error_result": "handler"', () => {
  const error_result = 'handler' as const;

  // Shows D-04.
  it.each([
    ['a task', 'h'],
    ['a structure', ['h']],
  ])('has the job succeed when its handler, %s, does', (_title, error) => {
    const told = begun(['a'], { flow: { error, error_result } });
    told.fail();
    told.done();
    expect(told.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('has it end with the exit that the handler sets', () => {
    const told = begun(['a'], { flow: { error: 'h', error_result } });
    told.fail();
    told.done(undefined, 7);
    expect(told.ending).toEqual({ state: '$$complete', exit: 7, failure: 'Broken' });
  });

  it('has it fail as the handler does', () => {
    const told = begun(['a'], { flow: { error: 'h', error_result } });
    told.fail();
    told.fail('Worse', { exit: 9 });
    expect(told.ending).toEqual({ state: '$$complete', exit: 9, failure: 'Worse' });
  });
});
