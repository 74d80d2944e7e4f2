import { describe, expect, it } from 'vitest';
import type { Job, LiveJob } from '../../../src/model/job.js';
import { decide } from '../../../src/decide/decide.js';
import { rankFor } from '../../../src/decide/compete/stagger.js';
import { flow, liveJob, newJob, peer, t0, task, tasksOf, world } from '../../support/builders.js';

const defined = flow(['a']);
const tasks = tasksOf(defined);
const broken = { name: 'Broken', message: 'It broke.' };
const names = ['e0', 'e1', 'e2', 'e3'];
const peersOf = (me: string, plugins = ['a']) =>
  names.filter((name) => name !== me).map((name) => peer(plugins, [], name));
const worldOf = (me: string, more: Parameters<typeof world>[0] = {}) =>
  world({ id: me, flows: [defined], tasks, peers: peersOf(me), seenAt: t0, ...more });
const jobOf = (i: number) => newJob({ _id: `job-${i}`, flow: defined.name, owner: defined.owner });

describe('engines that could all take a step', () => {
  it('come in an order that all of them compute alike', () => {
    for (let i = 0; i < 50; i += 1) {
      const ranks = names.map((me) => rankFor(jobOf(i), task('a'), worldOf(me)));
      expect([...ranks].sort()).toEqual([0, 1, 2, 3]);
    }
  });

  it('are each first for about as many jobs', () => {
    const first = names.map(
      (me) =>
        Array.from({ length: 2_000 }, (_, i) => rankFor(jobOf(i), task('a'), worldOf(me))).filter(
          (rank) => rank === 0,
        ).length,
    );
    for (const count of first) expect(count).toBeGreaterThan(350);
  });

  // Shows C-01.
  it('D6: act one after the other: the first at once, the others after 200 ms each', () => {
    const times = names.map((me) => {
      const intent = decide(jobOf(1), t0, worldOf(me));
      if (intent.kind === 'claim') return 0;
      expect(intent).toMatchObject({ kind: 'wait', for: 'engine' });
      return intent.kind === 'wait' ? (intent.until ?? 0) - t0 : NaN;
    });
    expect([...times].sort((a, b) => a - b)).toEqual([0, 200, 400, 600]);
  });

  it('all ask at once what they do not know', () => {
    for (const me of names) {
      const unknown = worldOf(me, { flow: () => ({ kind: 'unknown' }) });
      expect(decide(jobOf(1), t0, unknown).kind).toBe('look_up');
    }
  });

  it('act when their turn has come and nobody moved', () => {
    for (const me of names) {
      expect(decide(jobOf(1), t0 + 600, worldOf(me)).kind).toBe('claim');
    }
  });

  it('count the turns of a sleeper from its waking', () => {
    const sleeper = { ...liveJob(defined), _id: 'job-1', next_due: t0 + 1_000 };
    const kinds = names.map((me) => decide(sleeper, t0 + 1_000, worldOf(me)).kind);
    expect(kinds.filter((kind) => kind === 'claim')).toHaveLength(1);
    for (const me of names) expect(decide(sleeper, t0 + 1_600, worldOf(me)).kind).toBe('claim');
  });

  const step = { index: 0, path: '0', name: 'a', task: 'a', attempt: 1, run: 1, phase: 'main' };
  const waits = { ...step, state: '$$waiting', accepted: t0, start: t0 };
  const failed = { ...step, state: '$$error', accepted: t0, end: t0, exit: 2, failure: broken };
  it.each([
    ['a wait that is over', { steps: [{ ...waits, until: t0 + 1_000 }] }, 1_000],
    ['the time of the next attempt', { steps: [{ ...failed, due: t0 + 1_000 }] }, 1_000],
    ['the time of the next run', { resume_at: t0 + 1_000 }, 1_000],
    ['the latest of several', { resume_at: t0 + 100, next_due: t0 + 1_000 }, 1_000],
    ['the time before which it does not begin', { exec_after: t0 + 1_000 }, 1_000],
    ['its expiry', { expires: t0 + 1_000 }, 1_000],
    ['what began to be seen later', { resume_at: t0 + 1_000 }, 3_000],
  ])('count the turns from %s', (_title, more, at) => {
    const seenAt = at === 3_000 ? t0 + at : t0;
    const waiting = { ...liveJob(defined), _id: 'job-1', ...more } as LiveJob;
    const at0 = names.map((me) => decide(waiting, t0 + at, worldOf(me, { seenAt })));
    expect(at0.filter(({ kind }) => kind !== 'wait')).toHaveLength(1);
    for (const me of names) {
      expect(decide(waiting, t0 + at + 600, worldOf(me, { seenAt })).kind).not.toBe('wait');
    }
  });

  it('leave out those that cannot take it', () => {
    for (const me of names) {
      const others = peersOf(me, ['b']);
      expect(decide(jobOf(1), t0, worldOf(me, { peers: others })).kind).toBe('claim');
    }
  });

  it('go on at once with a job that they have just settled', () => {
    for (const me of names) {
      const settled = liveJob(defined);
      expect(decide(settled, t0, worldOf(me, { seenAt: -Infinity })).kind).toBe('claim');
    }
  });
});

it('engines come in the same order for a final job without steps as for a new one', () => {
  const final = { ...jobOf(1), state: '$$complete' } as unknown as Job;
  const ranks = (job: Job) => names.map((me) => rankFor(job, task('a'), worldOf(me)));
  expect(ranks(final)).toEqual(ranks(jobOf(1)));
});

describe('engines that could all write what ends a job', () => {
  it('act one after the other, too', () => {
    const missing = newJob({ _id: 'j', flow: 'none', owner: 'me' });
    const kinds = names.map((me) => decide(missing, t0, worldOf(me)).kind);
    expect(kinds.filter((kind) => kind === 'write')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'wait')).toHaveLength(3);
  });
});

it('engines of the same hash come in the order of their ids', () => {
  const twins = [peer(['a'], [], 'e1'), peer(['a'], [], 'e1')];
  expect(rankFor(jobOf(1), task('a'), worldOf('e1', { peers: twins }))).toBe(0);
  expect(rankFor(jobOf(1), undefined, worldOf('e1'))).toBe(0);
});
