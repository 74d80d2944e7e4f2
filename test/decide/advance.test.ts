import { describe, expect, it } from 'vitest';
import { t0, task } from '../support/builders.js';
import { story, type Story } from './story.js';

describe('a running attempt', () => {
  // Shows C-05.
  it('keeps every engine waiting', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    const because = 'Step a (attempt 1) runs on me.';
    expect(told.decide()).toEqual({ rule: 'structure', kind: 'wait', because });
    expect(told.with({ id: 'other' }).decide()).toEqual({
      rule: 'structure',
      kind: 'wait',
      because,
    });
  });

  // Shows E-05.
  it('may take longer than the flow has time', () => {
    const told = story({ steps: ['a'], flow: { timeout: 1000 } });
    told.go();
    expect(told.at(5000).decide().kind).toBe('wait');
    told.done();
    expect(told.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });
});

describe('a lost engine', () => {
  const lose = (told: Story): Story => told.with({ id: 'other', dead: ['me'], running: [] });

  // Shows E-09, J-08.
  it('loses its attempt, which begins again elsewhere at once', () => {
    const told = story({ steps: ['a'] });
    told.go();
    expect(lose(told).at(20_000).go()).toMatchObject({
      kind: 'claim',
      steps: [{ engine: 'other' }],
    });
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$active']);
    expect(told.steps[0]).toMatchObject({
      exit: 4,
      end: t0 + 20_000,
      due: t0 + 20_000,
      failure: { name: 'EngineLost', step: 'a', message: expect.stringContaining('me') as string },
    });
  });

  it('finds after a restart that it has an attempt no more in hand', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.restart();
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$active']);
  });

  it('has lost nothing with a claim that began nothing', () => {
    const told = story({ steps: ['a'] });
    told.go();
    const { start: _start, ...step } = told.live;
    told.edit({ steps: [{ ...step, state: '$$ready' }] });
    expect(lose(told).at(20_000).go()).toMatchObject({ steps: [{ engine: 'other' }] });
    expect(told.trail).toEqual(['a#1 $$cancelled', 'a#2 $$active']);
    expect(told.steps[0]).toMatchObject({ exit: 130, failure: { name: 'Released' } });
  });

  it('has lost nothing with a claim of its own that came in late', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.with({ unbegun: [told.live.claim] }).restart();
    expect(told.trail).toEqual(['a#1 $$cancelled', 'a#2 $$active']);
    expect(told.steps[0]).not.toHaveProperty('start');
  });

  it('has lost nothing whose end it has stored: the job is read from a copy that lags', () => {
    const told = story({ steps: ['a'] });
    told.go();
    const around = { running: [], ended: [told.live.claim] };
    expect(told.decide(told.job, around).kind).toBe('wait');
  });

  it('keeps its attempt as long as its lease lives', () => {
    const told = story({ steps: ['a'] });
    told.go();
    expect(told.with({ id: 'other', running: [] }).at(1e9).decide().kind).toBe('wait');
  });
});

describe('a hard timeout', () => {
  const flow = { timeout: 1000, timeout_mode: 'hard' as const };

  it('is told to those who wait for a running attempt', () => {
    const told = story({ steps: ['a'], flow });
    told.go();
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 1000 });
  });

  it('ends the job and the running attempt at once', () => {
    const told = story({ steps: ['a'], flow });
    told.go();
    expect(told.at(999).decide().kind).toBe('wait');
    expect(told.at(1000).go().kind).toBe('write');
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'FlowTimeout' });
    expect(told.last).toMatchObject({
      state: '$$timeout',
      exit: 1,
      end: t0 + 1000,
      failure: { message: expect.stringContaining('step a ended') as string },
    });
  });

  it('leaves ended steps as they are', () => {
    const told = story({ steps: ['a', 'b'], flow });
    told.go();
    told.at(10).done(1);
    const [first] = told.steps;
    told.at(1000).go();
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$timeout']);
    expect(told.steps[0]).toBe(first);
  });

  it('ends a step that waits for a child job', () => {
    const told = story({ steps: ['a'], flow, tasks: [task('a', { flow: 'inner' })] });
    told.go();
    told.with({ children: { 'j:0:1': { kind: 'live' } } });
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 1000 });
    told.at(1000).go();
    expect(told.trail).toEqual(['a#1 $$timeout']);
  });

  it('counts retry delays and pauses', () => {
    const told = story({ steps: [{ task: 'a', retry: { limit: 1, delay: 5000 } }], flow });
    told.go();
    expect(told.at(10).fail()).toMatchObject({ kind: 'wait', until: t0 + 1000 });
    told.edit({ paused: true }).go();
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 1000 });
    told.at(1000).go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'FlowTimeout' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining('all steps were done') as string },
    });
  });

  it('never comes when the timeout is 0', () => {
    const told = story({ steps: ['a'], flow: { ...flow, timeout: 0 } });
    told.go();
    expect(told.at(1e12).decide()).not.toHaveProperty('until');
  });
});

describe('the timeout of the flow', () => {
  // Shows E-05.
  it('is 60 s when nothing is said, and lets nothing new start', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    told.at(60_000).done();
    expect(told.trail).toEqual(['a#1 $$complete']);
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'FlowTimeout' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining('step b could start') as string },
    });
  });

  it('lets a step start just before', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    expect(told.at(59_999).done().kind).toBe('claim');
  });

  it('lets handlers start', () => {
    const told = story({ steps: ['a', 'b'], flow: { timeout: 1000, error: 'h' } });
    told.go();
    told.at(5000).fail();
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$active']);
  });

  it('lets the handler of a step start', () => {
    const told = story({ steps: [{ task: 'a', error: 'h' }, 'b'], flow: { timeout: 1000 } });
    told.go();
    told.at(5000).fail();
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$active']);
  });

  it('lets no further attempt start', () => {
    const told = story({ steps: [{ task: 'a', retry: 3 }], flow: { timeout: 1000 } });
    told.go();
    told.at(1000).fail();
    expect(told.trail).toEqual(['a#1 $$error']);
    expect(told.ending).toMatchObject({ exit: 1, failure: 'FlowTimeout' });
  });

  it('does not count the delay before a retry', () => {
    const told = story({
      steps: [{ task: 'a', retry: { limit: 1, delay: 5000 } }, 'b'],
      flow: { timeout: 1000 },
    });
    told.go();
    told.at(100).fail();
    told.at(5100).go();
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$active']);
    expect(told.at(5999).done().kind).toBe('claim');
  });

  it('counts the time after the delay', () => {
    const told = story({
      steps: [{ task: 'a', retry: { limit: 1, delay: 5000 } }, 'b'],
      flow: { timeout: 1000 },
    });
    told.go();
    told.at(100).fail();
    told.at(5100).go();
    told.at(6000).done();
    expect(told.ending).toMatchObject({ exit: 1, failure: 'FlowTimeout' });
  });

  it('does not count the time before the first claim', () => {
    const told = story({ steps: ['a', 'b'], flow: { timeout: 1000 }, world: { plugins: ['b'] } });
    told.go();
    told
      .at(700)
      .with({ plugins: ['a', 'b'] })
      .go();
    expect(told.job).toMatchObject({ held_ms: 700 });
    expect(told.at(1699).done().kind).toBe('claim');
  });

  it('does not count the time before the first claim behind skipped steps', () => {
    const told = story({
      steps: [{ task: 'a', when: 'x' }, 'b', 'c'],
      flow: { timeout: 1000, paused: false },
      world: { peers: [], freeSlots: 0 },
      job: { expires: t0 + 1e6 },
    }).answering({ '0.when': false });
    told.go();
    expect(told.trail).toEqual(['a#1 $$skipped']);
    expect(told.at(9000).with({ freeSlots: 1 }).go().kind).toBe('claim');
    expect(told.at(9999).done().kind).toBe('claim');
  });

  it('does not count exec_after', () => {
    const told = story({
      steps: ['a', 'b'],
      flow: { timeout: 1000 },
      job: { exec_after: t0 + 9000 },
    });
    told.go();
    told.at(9000).go();
    expect(told.job).toMatchObject({ held_ms: 9000 });
    expect(told.at(9999).done().kind).toBe('claim');
  });

  it('counts from the start when the clock of the claiming engine is behind', () => {
    const told = story({ steps: ['a'], world: { plugins: ['b'] } });
    told.go();
    told
      .at(-50)
      .with({ plugins: ['a'] })
      .go();
    expect(told.job).not.toHaveProperty('held_ms');
  });
});

describe('an attempt that was lost', () => {
  it('begins again at once, also for an engine whose clock is behind', () => {
    const told = story({ steps: ['a'], flow: { timeout: 0 } });
    told.go();
    told.at(500_000).with({ id: 'ahead', running: [], dead: ['me'], freeSlots: 0 });
    expect(told.go().kind).toBe('write');
    expect(told.last).toMatchObject({ state: '$$error', due: t0 + 500_000 });
    expect(told.at(20).with({ id: 'behind', freeSlots: 1 }).go().kind).toBe('claim');
  });
});

describe('exec_after', () => {
  it.each([
    ['an ISO time', new Date(t0 + 5000).toISOString()],
    ['epoch milliseconds', t0 + 5000],
  ])('keeps a job ready until %s', (_title, exec_after) => {
    const told = story({ steps: ['a'], job: { exec_after } });
    expect(told.go()).toMatchObject({
      kind: 'write',
      job: { state: '$$ready', next_due: t0 + 5000 },
    });
    expect(told.at(4999).decide()).toEqual({
      rule: 'not before',
      kind: 'wait',
      because: 'Not before 2026-01-01T00:00:05.000Z.',
      asleep: true,
      until: t0 + 5000,
    });
    expect(told.at(5000).go().kind).toBe('claim');
    expect(told.job).not.toHaveProperty('next_due');
  });

  it('changes nothing when it is past', () => {
    expect(story({ steps: ['a'], job: { exec_after: t0 - 1 } }).go().kind).toBe('claim');
  });

  it('matters no more once a step was begun', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    told.edit({ exec_after: t0 + 1e6 });
    expect(told.done().kind).toBe('claim');
  });
});

describe('expires', () => {
  // Shows X-22.
  it('ends a job that was not begun in time with exit 5', () => {
    const told = story({ steps: ['a'], job: { expires: t0 - 1 } });
    expect(told.go().kind).toBe('write');
    expect(told.ending).toEqual({ state: '$$complete', exit: 5, failure: 'Expired' });
    expect(told.steps).toEqual([]);
    expect(told.revisions).toBe(1);
  });

  it('wakes a delayed job to end it', () => {
    const told = story({ steps: ['a'], job: { exec_after: t0 + 900, expires: t0 + 500 } });
    expect(told.go()).toMatchObject({ job: { next_due: t0 + 500 } });
    told.at(500).go();
    expect(told.ending).toMatchObject({ exit: 5, failure: 'Expired' });
  });

  it('ends a job whose first steps were only skipped', () => {
    const told = story({
      steps: [{ task: 'a', when: 'x' }, 'b'],
      world: { freeSlots: 0 },
      job: { expires: t0 + 500 },
    }).answering({ '0.when': false });
    expect(told.go().kind).toBe('write');
    expect(told.decide()).toMatchObject({ until: t0 + 500 });
    told.at(500).go();
    expect(told.ending).toMatchObject({ exit: 5, failure: 'Expired' });
  });

  it.each([
    ['matters no more once the job was begun', t0 + 1],
    ['lets a job begin before', t0 + 1e6],
  ])('%s', (_title, expires) => {
    const told = story({ steps: ['a', 'b'], job: { expires } });
    expect(told.go().kind).toBe('claim');
    expect(told.at(5000).done().kind).toBe('claim');
  });
});
