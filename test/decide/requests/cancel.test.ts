import { describe, expect, it } from 'vitest';
import { t0, task } from '../../support/builders.js';
import { story } from '../story.js';

const ended = { state: '$$cancelled', exit: 130, failure: 'Cancelled' };

describe('a cancel', () => {
  it.each([
    ['of a new job', {}],
    ['of a new job that is paused', { paused: true }],
    ['of a new job that is delayed', { exec_after: t0 + 1e6 }],
    ['of a new job whose flow is missing', { flow: 'zzz' }],
  ])('%s ends it in one revision', (_title, job) => {
    const told = story({ steps: ['a'], flow: { cancel: 'u' }, job: { cancel: true, ...job } });
    expect(told.go().kind).toBe('write');
    expect(told.ending).toEqual(ended);
    expect(told.steps).toEqual([]);
    expect(told.revisions).toBe(1);
    expect(told.decide().kind).toBe('ignore');
  });

  it.each([
    [
      'says who and why',
      { by: 'ann', reason: 'No longer wanted.' },
      'Cancelled by ann: No longer wanted.',
    ],
    ['says why', { reason: 'late' }, 'Cancelled: late.'],
    ['says only that it happened', true, 'Cancelled.'],
  ])('%s', (_title, cancel, message) => {
    const told = story({ steps: ['a'], job: { exec_after: t0 + 900 } });
    told.go();
    told.edit({ cancel }).go();
    expect(told.job).toMatchObject({ failure: { name: 'Cancelled', message } });
  });

  it('stops the attempt that runs here, and ends the job after it', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    told.edit({ cancel: true });
    expect(told.decide()).toEqual({
      rule: 'cancel',
      kind: 'abort',
      claims: [told.live.claim],
      because: 'The job is cancelled.',
    });
    told.end({ kind: 'cancelled' });
    expect(told.trail).toEqual(['a#1 $$cancelled']);
    expect(told.ending).toEqual(ended);
  });

  it('waits for an attempt that runs elsewhere', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.edit({ cancel: true }).with({ id: 'other', running: [] });
    expect(told.decide()).toEqual({
      rule: 'cancel',
      kind: 'wait',
      because: 'The job is cancelled; step a still runs.',
    });
  });

  it('waits for no attempt of a lost engine', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told
      .edit({ cancel: true })
      .with({ id: 'other', running: [], dead: ['me'] })
      .go();
    expect(told.ending).toEqual(ended);
  });

  it('keeps the result of an attempt that ends well all the same', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    told.edit({ cancel: true }).done('kept');
    expect(told.last).toMatchObject({ state: '$$complete', result: 'kept' });
    expect(told.ending).toEqual(ended);
  });

  it.each([
    ['no retry', { steps: [{ task: 'a', retry: 5 }] }],
    ['no retry of the flow', { steps: ['a'], flow: { retry: 5 } }],
    ['no handler of the step', { steps: [{ task: 'a', error: 'h' }] }],
    ['no handler of the flow', { steps: ['a'], flow: { error: 'h' } }],
  ])('lets %s begin', (_title, setting) => {
    const told = story(setting);
    told.go();
    told.edit({ cancel: true }).fail();
    expect(told.steps).toHaveLength(1);
    expect(told.ending).toEqual(ended);
  });

  it('ends a job that waits for a retry, and a paused one', () => {
    const told = story({ steps: [{ task: 'a', retry: { limit: 1, delay: 900 } }] });
    told.go();
    told.fail();
    told.edit({ paused: true }).go();
    told.edit({ cancel: true }).go();
    expect(told.ending).toEqual(ended);
    for (const key of ['next_due', 'held_since']) expect(told.job).not.toHaveProperty(key);
  });

  it('ends a step that waits for a child job', () => {
    const told = story({ steps: ['b', 'a'], tasks: [task('a', { flow: 'inner' })] });
    told.go();
    told.done();
    told.with({ children: { 'j:1:1': { kind: 'live' } } });
    told.at(70).edit({ cancel: true }).go();
    expect(told.ending).toEqual(ended);
    expect(told.trail).toEqual(['b#1 $$complete', 'a#1 $$cancelled']);
    expect(told.last).toMatchObject({
      state: '$$cancelled',
      exit: 130,
      end: t0 + 70,
      failure: { name: 'Cancelled', step: 'a' },
    });
  });

  it('that was taken back matters no more', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    expect(told.edit({ cancel: false }).done().kind).toBe('claim');
  });
});

describe('the cancel branch', () => {
  const cancel = { sequence: ['u', { task: 'v', params: { x: '{{results.a}}' } }] };

  // Shows F-12, I-03.
  it('runs after a cancel, step by step, and the job ends cancelled', () => {
    const told = story({ steps: ['a', 'b'], flow: { cancel } });
    told.go();
    told.done('first');
    told.edit({ cancel: { by: 'ann' } });
    told.end({ kind: 'cancelled' });
    expect(told.live).toMatchObject({ task: 'u', phase: 'cancel', path: 'cancel.sequence.0' });
    expect(told.job).toMatchObject({ state: 'u-0' });
    expect(told.decide()).toMatchObject({ kind: 'wait' });
    told.done();
    expect(told.live).toMatchObject({ task: 'v', params: { x: 'first' } });
    told.done();
    expect(told.ending).toEqual(ended);
  });

  it('is not limited by a hard timeout, and names no time that has passed', () => {
    const told = story({
      steps: ['a'],
      flow: { cancel: 'u', timeout: 100, timeout_mode: 'hard' },
    });
    told.go();
    told.edit({ cancel: true }).end({ kind: 'cancelled' });
    const intent = told.at(500).decide();
    expect(intent).toMatchObject({ rule: 'cancel', kind: 'wait' });
    expect(intent).not.toHaveProperty('until');
    told.done();
    expect(told.ending).toEqual(ended);
  });

  it('does not run when nothing had begun', () => {
    const told = story({ steps: ['a'], flow: { cancel }, job: { exec_after: t0 + 900 } });
    told.go();
    told.edit({ cancel: true }).go();
    expect(told.trail).toEqual([]);
    expect(told.ending).toEqual(ended);
  });

  it('does not run when steps were only skipped', () => {
    const told = story({
      steps: [{ task: 'a', when: 'x' }, 'b'],
      flow: { cancel },
      job: { expires: t0 + 900 },
      world: { freeSlots: 0 },
    }).answering({ '0.when': false });
    told.go();
    told.edit({ cancel: true }).with({ freeSlots: 1 }).go();
    expect(told.trail).toEqual(['a#1 $$skipped']);
    expect(told.ending).toEqual(ended);
  });

  it('retries its steps, and ends the job when they fail for good', () => {
    const told = story({
      steps: ['a'],
      flow: { cancel: { sequence: [{ task: 'u', retry: 1 }, 'v'] }, error: 'h', retry: 3 },
    });
    told.go();
    told.edit({ cancel: true }).done();
    told.fail();
    told.fail();
    expect(told.trail).toEqual(['a#1 $$complete', 'u#1 $$error', 'u#2 $$error']);
    expect(told.ending).toEqual(ended);
  });

  it('runs handlers of its steps without stopping them', () => {
    const told = story({
      steps: ['a'],
      flow: { cancel: { sequence: [{ task: 'u', error: 'h' }, 'v'] } },
    });
    told.go();
    told.edit({ cancel: true }).done();
    told.fail();
    expect(told.live).toMatchObject({ task: 'h', phase: 'error' });
    expect(told.decide().kind).toBe('wait');
    told.done();
    told.done();
    expect(told.trail.slice(1)).toEqual(['u#1 $$error', 'h#1 $$complete', 'v#1 $$complete']);
    expect(told.ending).toEqual(ended);
  });

  it('waits for its child jobs', () => {
    const told = story({
      steps: ['a'],
      flow: { cancel: { sequence: ['u', 'v'] } },
      tasks: [task('u', { flow: 'inner' })],
    });
    told.go();
    told.edit({ cancel: true });
    expect(told.done().kind).toBe('spawn');
    const id = 'j:cancel.sequence.0:1';
    expect(told.decide()).toMatchObject({ kind: 'look_up', children: [id] });
    expect(told.with({ children: { [id]: { kind: 'live' } } }).decide().kind).toBe('wait');
    const child = {
      _id: id,
      _rev: '9-x',
      type: 'job' as const,
      state: '$$complete' as const,
      exit: 0,
    };
    told.with({ children: { [id]: { kind: 'final', job: child } } }).go();
    expect(told.trail.slice(1)).toEqual(['u#1 $$complete', 'v#1 $$active']);
  });

  it('ends the step that waits for a child job before it runs', () => {
    const told = story({
      steps: ['a'],
      flow: { cancel: 'u' },
      tasks: [task('a', { flow: 'inner' })],
      world: { children: { 'j:0:1': { kind: 'live' } } },
    });
    told.go();
    told.edit({ cancel: true }).go();
    expect(told.trail).toEqual(['a#1 $$cancelled', 'u#1 $$active']);
  });
});
