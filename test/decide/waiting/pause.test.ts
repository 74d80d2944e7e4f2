import { describe, expect, it } from 'vitest';
import { flow, t0 } from '../../support/builders.js';
import { begun, story } from '../story.js';

describe('a pause', () => {
  it('keeps a new job from its first step', () => {
    const told = story({ steps: ['a'], job: { paused: true } });
    expect(told.go()).toMatchObject({ kind: 'write', job: { state: '$$paused', held_since: t0 } });
    expect(told.decide()).toEqual({
      rule: 'pause',
      kind: 'wait',
      because: 'The job is paused ("paused": true).',
    });
    told.at(9000).edit({ paused: false }).go();
    expect(told.trail).toEqual(['a#1 $$active']);
    expect(told.job).toMatchObject({ state: 'a-0', held_ms: 9000 });
    expect(told.job).not.toHaveProperty('held_since');
    expect(told.revisions).toBe(2);
  });

  it('lets a running attempt end and keeps back the next step', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    told.edit({ paused: true });
    expect(told.decide()).toMatchObject({
      kind: 'wait',
      because: expect.stringMatching(/runs on/) as string,
    });
    expect(told.done(1)).toMatchObject({ kind: 'write', job: { state: '$$paused' } });
    expect(told.trail).toEqual(['a#1 $$complete']);
    told.edit({ paused: false }).go();
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$active']);
  });

  // Shows X-23.
  it('may be one of the whole flow', () => {
    const told = story({ steps: ['a'] });
    told.with({ flows: [flow(['a'], { paused: true })] }).go();
    expect(told.job).toMatchObject({ state: '$$paused' });
    expect(told.decide()).toMatchObject({ because: 'Flow "f" is paused ("paused": true).' });
    expect(told.with({ flows: [told.flow] }).go().kind).toBe('claim');
  });

  // Shows X-28.
  it('may be one of the version that it runs, whichever is current now', () => {
    const told = story({ steps: ['a'], flow: { version: '1' } });
    const other = flow(['a'], { version: '2', current: true, paused: true });
    told.with({ flows: [told.flow] }).go();
    told.with({ flows: [told.flow, other] });
    expect(told.decide()).not.toMatchObject({ because: 'Flow "f" is paused ("paused": true).' });
    told.done();
    expect(told.job).toMatchObject({ state: '$$complete', exit: 0 });
  });

  it('may be one of its queue, also of that of its flow', () => {
    const paused = {
      mail: { _id: 'c', type: 'queue-control' as const, queue: 'mail', paused: true },
    };
    const told = story({ steps: ['a', 'b'], flow: { queue: 'mail' }, world: { queues: ['mail'] } });
    told.go();
    told.with({ queueControls: paused }).done();
    expect(told.trail).toEqual(['a#1 $$complete']);
    expect(told.decide()).toMatchObject({ because: 'Queue "mail" is paused ("paused": true).' });
    const resumed = { mail: { ...paused.mail, paused: false } };
    expect(told.with({ queueControls: resumed }).go().kind).toBe('claim');
  });

  it.each([
    ['ready when nothing had begun', 0, '$$ready'],
    ['at its last step otherwise', 1, 'a-0'],
  ])('leaves the job %s when it ends and no engine is free', (_title, steps, state) => {
    const told = story({ steps: ['a', 'b'], flow: { timeout: 0 } });
    if (steps > 0) told.go();
    told.edit({ paused: true });
    if (steps > 0) told.done();
    else told.go();
    told.edit({ paused: false }).with({ freeSlots: 0 }).go();
    expect(told.job).toMatchObject({ state });
  });

  it('does not count as time of the flow', () => {
    const told = story({ steps: ['a', 'b', 'c', 'd'], flow: { timeout: 1000 } });
    told.go();
    told.edit({ paused: true }).at(100).done();
    told.at(50_100).edit({ paused: false }).go();
    expect(told.job).toMatchObject({ held_ms: 50_000 });
    expect(told.at(50_999).done().kind).toBe('claim');
    expect(told.at(51_000).done()).toMatchObject({ job: { failure: { name: 'FlowTimeout' } } });
  });

  it.each([
    ['is over before the delay', 3000, 5000],
    ['ends with the delay', 5100, 5000],
    ['outlasts the delay', 8100, 8000],
  ])('counts once with a retry delay when it %s', (_title, resumedMs, heldMs) => {
    const steps = [{ task: 'a', retry: { limit: 1, delay: 5000 } }, 'b', 'c'];
    const told = story({ steps, flow: { timeout: 10_000 } });
    told.go();
    told.at(100).fail();
    told.at(200).edit({ paused: true }).go();
    told.at(resumedMs).edit({ paused: false }).go();
    expect(told.at(8100).go().kind).toBe(resumedMs < 5100 ? 'claim' : 'wait');
    expect(told.at(heldMs + 9_999).done().kind).toBe('claim');
    expect(told.at(heldMs + 10_000).done()).toMatchObject({
      job: { failure: { name: 'FlowTimeout' } },
    });
  });

  it('counts once with the delay before the next run of the flow', () => {
    const told = story({ steps: ['a'], flow: { retry: { limit: 1, delay: 5000 } } });
    told.go();
    told.at(100).fail();
    expect(told.job).toMatchObject({ run: 2, resume_at: t0 + 5100, held_ms: 5000 });
    told.at(200).edit({ paused: true }).go();
    expect(told.at(300).edit({ paused: false }).go()).toMatchObject({
      job: { resume_at: t0 + 5100, held_ms: 5000, next_due: t0 + 5100 },
    });
    expect(told.at(5100).go().kind).toBe('claim');
  });

  it('counts from now when somebody took away its beginning', () => {
    const told = story({ steps: ['a', 'b'], world: {} });
    told.go();
    told.edit({ paused: true }).done();
    told.at(5000).edit({ paused: false, held_since: undefined }).go();
    expect(told.job).toMatchObject({ held_ms: 0 });
  });

  it('takes away the time of a wait that was planned', () => {
    const told = story({ steps: ['a'], job: { exec_after: t0 + 900 } });
    told.go();
    expect(told.job).toHaveProperty('next_due');
    told.edit({ paused: true }).go();
    expect(told.job).not.toHaveProperty('next_due');
    expect(told.at(950).edit({ paused: false }).go().kind).toBe('claim');
  });

  // Shows X-22.
  it.each([
    ['of the job', {}, { paused: true }],
    ['of its flow', { paused: true }, {}],
  ])('%s does not keep a job that has not begun from expiring', (_title, options, more) => {
    const told = story({ steps: ['a'], flow: options, job: { ...more, expires: t0 + 500 } });
    told.with({ flows: [told.flow] }).go();
    expect(told.job).toMatchObject({ state: '$$paused' });
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 500 });
    told.at(500).go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 5, failure: 'Expired' });
    expect(told.job).not.toHaveProperty('held_since');
  });

  it.each([
    ['while another step runs', 'a'],
    ['also alone', { wait: { signal: 'other' } }],
  ])('does not keep a wait from timing out, %s', (_title, beside) => {
    const wait = { wait: { signal: 'go', timeout: 1_000 } };
    const told = begun([{ parallel: [beside, wait] }]);
    told.edit({ paused: true }).go();
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 1_000 });
    told.at(1_000).go();
    const waited = told.steps.find((step) => step['signal'] === 'go');
    expect(waited).toMatchObject({ state: '$$timeout', end: t0 + 1_000 });
  });
});
