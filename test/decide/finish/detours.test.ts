import { describe, expect, it } from 'vitest';
import { heldMs } from '../../../src/reading/held.js';
import { t0, task } from '../../support/builders.js';
import { story, type Setting, type Story } from '../story.js';

/** A story whose first step runs. */
function running(setting: Setting): Story {
  const told = story(setting);
  told.go();
  return told;
}

describe('a plugin that waits for a signal', () => {
  const wait = { kind: 'wait', signal: 'approval' } as const;

  it.each([
    ['without a limit', {}, {}],
    ['for so long', { timeoutMs: 500 }, { until: t0 + 507 }],
    ['with details for whoever answers', { details: { to: 'ann' } }, { details: { to: 'ann' } }],
  ])('parks its step: %s', (_title, more, kept) => {
    const told = running({ steps: ['a', 'b'] });
    const { live } = told;
    expect(told.at(7).end({ ...wait, ...more })).toMatchObject({
      kind: 'wait',
      because: 'Step a waits for the signal "approval".',
    });
    expect(told.steps).toEqual([
      { ...live, state: '$$waiting', signal: 'approval', since: t0 + 7, ...kept },
    ]);
  });

  it('fails when the signal does not come in time, by the retry policy', () => {
    const told = running({ steps: [{ task: 'a', retry: 1 }] });
    expect(told.at(10).end({ ...wait, timeoutMs: 500 })).toMatchObject({ until: t0 + 510 });
    expect(told.at(509).decide()).toMatchObject({ kind: 'wait' });
    told.at(510).with({ nonce: 'n2' }).go();
    expect(told.trail).toEqual(['a#1 $$timeout', 'a#2 $$active']);
    expect(told.steps[0]).toMatchObject({
      exit: 1,
      failure: {
        name: 'WaitTimeout',
        message: 'The step waited for the signal "approval" for 500 ms in vain.',
      },
    });
    // The flow's time stands still meanwhile.
    expect(heldMs(told.liveJob, told.now)).toBe(500);
  });

  it.each([
    ['no limit of its own', {}, 'TotalTimeout', 600],
    ['a limit that is over sooner', { timeoutMs: 400 }, 'WaitTimeout', 500],
    ['a limit that is over later', { timeoutMs: 900 }, 'TotalTimeout', 600],
  ])(
    'waits within the time for waiting and all attempts, with %s',
    (_title, limit, name, endsAt) => {
      const tasks = [task('a', { total_timeout: 600 })];
      const told = running({ steps: ['a'], tasks });
      expect(told.at(100).end({ ...wait, ...limit })).toMatchObject({ until: t0 + endsAt });
      told.at(endsAt).go();
      expect(told.trail).toEqual(['a#1 $$timeout']);
      expect(told.ending).toMatchObject({ exit: 1, failure: name });
    },
  );

  it('is not tried again when the time for waiting and all attempts is over', () => {
    const tasks = [task('a', { total_timeout: 600, retry: 3 })];
    const told = running({ steps: ['a'], tasks });
    told.at(100).fail();
    told.go();
    told.at(200).end(wait);
    told.at(600).go();
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$timeout']);
    expect(told.ending).toMatchObject({ exit: 1, failure: 'TotalTimeout' });
  });

  it('counts from now where nobody says since when it waits', () => {
    const told = running({ steps: ['a'] });
    told.end({ ...wait, timeoutMs: 500 });
    const { since, ...step } = told.last as { readonly since?: number };
    told
      .edit({ steps: [step] })
      .at(500)
      .go();
    expect(since).toBe(t0);
    expect(told.ending).toMatchObject({ exit: 1, failure: 'WaitTimeout' });
  });

  it('ends with a cancel', () => {
    const told = running({ steps: ['a'] });
    told.end(wait);
    told.edit({ cancel: true }).go();
    expect(told.trail).toEqual(['a#1 $$cancelled']);
    expect(told.ending).toMatchObject({ state: '$$cancelled' });
  });
});

describe('a plugin that asks to begin again', () => {
  it('does so at once, and uses up no retry', () => {
    const told = running({ steps: [{ task: 'a', retry: 1 }] });
    for (let i = 0; i < 5; i += 1) told.end({ kind: 'requeue', delayMs: 0 });
    expect(told.steps[0]).toMatchObject({
      state: '$$cancelled',
      exit: 130,
      due: t0,
      failure: { name: 'Requeued', step: 'a' },
    });
    told.fail();
    expect(told.trail.at(-1)).toBe('a#7 $$active');
    told.fail();
    expect(told.ending).toMatchObject({ exit: 2, failure: 'Broken' });
  });

  it('does so after a while that is no time of the flow', () => {
    const told = running({ steps: ['a'] });
    expect(told.end({ kind: 'requeue', delayMs: 900 })).toMatchObject({ until: t0 + 900 });
    told.at(900).go();
    told.end({ kind: 'requeue', delayMs: 50 });
    expect(heldMs(told.liveJob, t0 + 950)).toBe(950);
    expect(told.trail).toEqual(['a#1 $$cancelled', 'a#2 $$cancelled']);
  });

  it.each([
    ['within', 400, '$$cancelled', undefined],
    ['over', 401, '$$timeout', 'TotalTimeout'],
  ])(
    'ends when it would begin again %s the time of all attempts',
    (_title, delayMs, state, name) => {
      const tasks = [task('a', { total_timeout: 500, retry: 3 })];
      const told = running({ steps: ['a'], tasks });
      told.at(100).end({ kind: 'requeue', delayMs });
      expect(told.steps[0]?.state).toBe(state);
      expect(told.ending.failure).toBe(name);
    },
  );

  it('ends after a thousand times', () => {
    const told = running({ steps: [{ task: 'a', retry: 3 }], flow: { retry: 1 } });
    told.end({ kind: 'requeue', delayMs: 0 });
    const [requeued] = told.steps;
    const earlier = Array.from({ length: 1_000 }, (_, i) => ({ ...requeued, attempt: i + 1 }));
    told.edit({ steps: [...earlier, { ...told.live, attempt: 1_001 }] });
    expect(told.trail.at(-1)).toBe('a#1001 $$active');
    told.end({ kind: 'requeue', delayMs: 0 });
    expect(told.ending).toMatchObject({ exit: 2, failure: 'RequeueLimit' });
  });
});

describe('a plugin that has the job begin anew', () => {
  const restart = { kind: 'restart', delayMs: 0 } as const;

  it('begins with the first step, whatever was done', () => {
    const told = running({ steps: ['a', 'b', 'c'] });
    told.done(1);
    told.at(50).end(restart);
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$cancelled', 'a#2 $$active']);
    expect(told.steps[1]).toMatchObject({
      failure: { name: 'Restarted', message: 'Step b had the whole job begin anew.' },
    });
    expect(told.liveJob).toMatchObject({ run: 2, first_run: 2, restarts: 1 });
    told.done(2);
    told.done(3);
    told.done(4);
    expect(told.ending).toMatchObject({ state: '$$complete', exit: 0 });
    expect(told.steps.map(({ run, result }) => [run, result])).toEqual([
      [1, 1],
      [1, undefined],
      [2, 2],
      [2, 3],
      [2, 4],
    ]);
  });

  it('sees no result of before', () => {
    const params = { was: '{{#if results.b}}{{results.b}}{{else}}nothing{{/if}}' };
    const told = running({ steps: ['b', { task: 'a', params }, 'c'] });
    told.done('old');
    told.done();
    told.end(restart);
    expect(told.last).toMatchObject({ task: 'b', params: {} });
    told.done('new');
    expect(told.last).toMatchObject({ task: 'a', params: { was: 'new' } });
  });

  it('waits as long as it is told, with all of the time of its flow before it', () => {
    const told = running({ steps: ['a'], flow: { timeout: 1_000 } });
    expect(told.at(900).end({ kind: 'restart', delayMs: 500 })).toMatchObject({
      kind: 'wait',
      asleep: true,
      until: t0 + 1_400,
    });
    const times = { resume_at: t0 + 1_400, timed_from: t0 + 1_400 };
    expect(told.liveJob).toMatchObject({ state: '$$ready', ...times });
    told.at(1_400).go();
    told.at(2_300).done();
    expect(told.ending).toMatchObject({ exit: 0 });
  });

  it('has the retries of the flow again', () => {
    const told = running({ steps: ['a'], flow: { retry: 1 } });
    told.fail();
    told.end(restart);
    told.fail();
    expect(told.liveJob).toMatchObject({ run: 4, first_run: 3 });
    told.fail();
    expect(told.ending).toMatchObject({ exit: 2, failure: 'Broken' });
  });

  it('may be the handler of a failure', () => {
    const told = running({ steps: ['a'], flow: { error: 'h' } });
    told.fail();
    told.end(restart);
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$cancelled', 'a#2 $$active']);
    told.fail();
    expect(told.trail.at(-1)).toBe('h#2 $$active');
  });

  it.each([
    ['ten times when the flow does not say', {}, 10],
    ['as often as the flow says', { restarts: 2 }, 2],
    ['never when the flow forbids it', { restarts: 0 }, 0],
  ])('does so %s', (_title, flow, times) => {
    const told = running({ steps: [{ task: 'a', retry: 1 }], flow });
    for (let i = 0; i < times; i += 1) told.end(restart);
    expect(told.live).toMatchObject({ run: times + 1 });
    told.end(restart);
    expect(told.ending).toMatchObject({ exit: 2, failure: 'RestartLimit' });
  });

  it('gives up what else runs or waits', () => {
    const told = running({ steps: ['a', 'b'] });
    const other = { ...told.live, path: '1', name: 'b', task: 'b', index: 1, claim: 'other:1' };
    const waiting = { ...other, state: '$$waiting', claim: 'third:1', signal: 's' };
    told.edit({ steps: [told.live, other, waiting] }).end(restart);
    expect(told.trail).toEqual([
      'a#1 $$cancelled',
      'b#1 $$cancelled',
      'b#1 $$cancelled',
      'a#2 $$active',
    ]);
  });
});
