import { describe, expect, it } from 'vitest';
import { t0, task } from '../../support/builders.js';
import { story } from '../story.js';

describe('the retry policy of a step', () => {
  const once = { limit: 1, delay: 70 };
  it.each([
    ['stands in its entry', { retry: once }, {}, {}, 70],
    ['stands in its task', {}, { retry: once }, {}, 70],
    ['stands in its entry before its task', { retry: once }, { retry: 9 }, {}, 70],
    ['takes its delay from the flow', { retry: 1 }, {}, { retry: { delay: 30 } }, 30],
    ['takes its own delay first', { retry: once }, {}, { retry: { delay: 30 } }, 70],
    [
      'takes a delay of 0 as a delay',
      { retry: { limit: 1, delay: 0 } },
      {},
      { retry: { delay: 30 } },
      0,
    ],
  ])('%s', (_title, entry, of, flow, delayMs) => {
    const told = story({ steps: [{ task: 'a', ...entry }], tasks: [task('a', of)], flow });
    told.go();
    told.at(100).fail();
    expect(told.steps[0]).toMatchObject({ state: '$$error', due: t0 + 100 + delayMs });
    told.at(100 + delayMs).go();
    expect(told.trail).toContain('a#2 $$active');
  });

  // Shows E-10.
  it.each([
    ['the setting where nothing else says one', {}, {}, 40],
    ['the job before the setting', {}, { retry_delay: 50 }, 50],
    ['the flow before the job', { retry: { delay: 30 } }, { retry_delay: 50 }, 30],
    ['the flow before the setting, also with 0', { retry: { delay: 0 } }, {}, 0],
  ])('takes its delay from %s', (_title, flow, job, delayMs) => {
    const around = { retry: { delay: 40 } };
    const told = story({ steps: [{ task: 'a', retry: 1 }], flow, job, world: around });
    told.go();
    told.at(100).fail();
    expect(told.steps[0]).toMatchObject({ state: '$$error', due: t0 + 100 + delayMs });
  });

  it('of a handler stands in its task', () => {
    const told = story({ steps: [{ task: 'a', error: 'h' }], tasks: [task('h', { retry: 1 })] });
    told.go();
    told.fail();
    told.fail();
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$error', 'h#2 $$active']);
  });

  it('of a step in the cancel branch stands in its entry', () => {
    const told = story({ steps: ['a'], flow: { cancel: { sequence: [{ task: 'u', retry: 1 }] } } });
    told.go();
    told.edit({ cancel: true }).done();
    told.fail();
    expect(told.trail.at(-1)).toBe('u#2 $$active');
  });

  // Shows E-07.
  it.each([
    ['makes three attempts of two retries', 2, 3],
    ['makes one attempt of none', 0, 1],
  ])('%s', (_title, retry, attempts) => {
    const told = story({ steps: [{ task: 'a', retry }] });
    told.go();
    while (told.job.state !== '$$complete') told.fail();
    expect(told.steps.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: attempts }, (_, i) => i + 1),
    );
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Broken' });
  });

  // Shows E-08.
  it('counts errors and timeouts alike', () => {
    const told = story({ steps: [{ task: 'a', retry: 1 }] });
    told.go();
    told.fail();
    told.end({ kind: 'timeout', timeoutMs: 5 });
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$timeout']);
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'StepTimeout' });
  });

  it.each([
    ['a failure with exit 3', { exit: 3 }],
    ['what the plugin calls not retryable', { retryable: false }],
  ])('does not try %s again', (_title, more) => {
    const told = story({ steps: [{ task: 'a', retry: 5 }] });
    told.go();
    told.fail('Broken', more);
    expect(told.trail).toEqual(['a#1 $$error']);
  });

  // Shows E-03, X-02.
  it.each([
    ['within', 299, 2],
    ['over', 301, 1],
  ])('stops at the total_timeout of the task: a failure %s it', (_title, ms, attempts) => {
    const told = story({
      steps: [{ task: 'a', retry: 9 }],
      tasks: [task('a', { total_timeout: 300 })],
    });
    told.go();
    told.at(ms).fail();
    expect(told.steps).toHaveLength(attempts);
  });

  it('has no total when total_timeout is 0', () => {
    const told = story({
      steps: [{ task: 'a', retry: 1 }],
      tasks: [task('a', { total_timeout: 0 })],
    });
    told.go();
    told.at(1e4).fail();
    expect(told.steps).toHaveLength(2);
  });

  it('counts the total from now when no attempt says since when', () => {
    const told = story({ steps: [{ task: 'a', retry: { limit: 1, total: 5 } }] });
    told.go();
    const { accepted, ...step } = told.live;
    told
      .edit({ steps: [step] })
      .at(900)
      .fail();
    expect(accepted).toBe(t0);
    expect(told.steps).toHaveLength(2);
  });

  it('gives jobs that fail together different waits', () => {
    const dueOf = (id: string): unknown => {
      const retry = { limit: 1, delay: 10_000, jitter: true };
      const told = story({ steps: [{ task: 'a', retry }], job: { _id: id } });
      told.go();
      told.fail();
      return told.last['due'];
    };
    expect(new Set(['j1', 'j2', 'j3', 'j4'].map(dueOf)).size).toBe(4);
    expect(dueOf('j1')).toBe(dueOf('j1'));
  });
});

describe('an attempt that was handed back', () => {
  it('uses up no retry', () => {
    const told = story({ steps: [{ task: 'a', retry: 1 }] });
    told.go();
    for (let i = 0; i < 5; i += 1) told.end({ kind: 'released' });
    told.fail();
    expect(told.trail).toHaveLength(7);
    expect(told.fail()).toMatchObject({ job: { exit: 2 } });
  });

  it('begins again even without retries', () => {
    const told = story({ steps: ['a'] });
    told.go();
    expect(told.end({ kind: 'released' })).toMatchObject({ kind: 'claim' });
    expect(told.trail).toEqual(['a#1 $$cancelled', 'a#2 $$active']);
  });
});

describe('an attempt whose engine was lost', () => {
  it('uses up no retry', () => {
    const told = story({ steps: [{ task: 'a', retry: 1 }] });
    told.go();
    told.restart();
    told.restart();
    told.fail();
    expect(told.trail.at(-1)).toBe('a#4 $$active');
    told.fail();
    expect(told.ending).toMatchObject({ exit: 2, failure: 'Broken' });
  });

  // Shows X-35.
  it('ends the step with exit 4 when it is the last one allowed', () => {
    const told = story({ steps: ['a'], flow: { retry: 9 }, world: { crashLimit: 3 } });
    told.go();
    told.restart();
    told.restart();
    expect(told.steps).toHaveLength(3);
    told.restart();
    expect(told.steps).toHaveLength(3);
    expect(told.ending).toEqual({ state: '$$complete', exit: 4, failure: 'CrashLimit' });
    expect(told.last).toMatchObject({ failure: { retryable: false, step: 'a' } });
  });

  it('may be handled', () => {
    const told = story({ steps: [{ task: 'a', error: 'h' }], world: { crashLimit: 1 } });
    told.go();
    told.restart();
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$active']);
  });

  it('is counted for each step', () => {
    const told = story({ steps: ['a', 'b'], world: { crashLimit: 2 } });
    told.go();
    told.restart();
    told.done();
    told.restart();
    expect(told.trail.at(-1)).toBe('b#2 $$active');
  });

  it('is counted anew in each run of the flow', () => {
    const told = story({ steps: ['a'], flow: { retry: 1 }, world: { crashLimit: 2 } });
    told.go();
    told.restart();
    told.fail();
    expect(told.last).toMatchObject({ run: 2, attempt: 3 });
    told.restart();
    expect(told.trail.at(-1)).toBe('a#4 $$active');
  });

  it.each([
    ['is not tried again when the policy forbids it', { never: ['EngineLost'] }, 1],
    ['is tried again whatever else the policy names', { limit: 0, on: ['Other'] }, 2],
  ])('%s', (_title, retry, attempts) => {
    const told = story({ steps: [{ task: 'a', retry }] });
    told.go();
    told.restart();
    expect(told.steps).toHaveLength(attempts);
    if (attempts === 1) expect(told.ending).toMatchObject({ exit: 4, failure: 'EngineLost' });
  });
});

describe('an error of a plugin', () => {
  it.each([['EngineLost'], ['Released']])('named %s uses up a retry like any other', (name) => {
    const told = story({ steps: [{ task: 'a', retry: 2 }] });
    told.go();
    for (let i = 0; i < 3; i += 1) told.fail(name);
    expect(told.trail).toHaveLength(3);
    expect(told.ending).toMatchObject({ exit: 2, failure: name });
  });
});
