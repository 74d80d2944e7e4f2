import { describe, expect, it } from 'vitest';
import { finish } from '../../../src/decide/finish/finish.js';
import { countsSince } from '../../../src/reading/attempts.js';
import {
  boundedLog,
  earlierAttempts,
  lastDetails,
  logLine,
  report,
  type LogLine,
  type Report,
} from '../../../src/decide/finish/report.js';
import { newJob, t0, task } from '../../support/builders.js';
import { begun, story, type Story } from '../story.js';

function running(): Story {
  const told = story({ steps: [{ task: 'a', retry: 9 }] });
  told.go();
  return told;
}

describe('report', () => {
  const line: LogLine = { at: t0, message: 'm' };
  const cases: readonly [string, Report, object][] = [
    ['details', { details: { page: 3 } }, { details: { page: 3 } }],
    ['details of null', { details: null }, { details: null }],
    ['progress', { progress: 0.5 }, { progress: 0.5 }],
    ['lines', { log: [line] }, { log: [line] }],
    ['for how long it blocked', { blockedMs: 1_300 }, { blocked_ms: 1_300 }],
    ['nothing', {}, {}],
  ];
  // Shows X-41.
  it.each(cases)('writes %s into the step that runs', (_title, told, written) => {
    const { liveJob, live } = running();
    const reported = report(liveJob, live.claim, told, t0 + 5);
    if (reported.kind === 'fenced') throw new Error(reported.because);
    expect(reported.job).toEqual({
      ...liveJob,
      steps: [{ ...live, ...written, reported: t0 + 5 }],
    });
  });

  // Shows D-08.
  it('gives the job a status of its own, or takes it away', () => {
    const { liveJob, live } = running();
    const first = report(liveJob, live.claim, { status: 'picking' }, t0);
    if (first.kind === 'fenced') throw new Error(first.because);
    expect(first.job).toMatchObject({ custom_status: 'picking', state: 'a-0' });
    const second = report(first.job, live.claim, { status: null }, t0 + 1);
    if (second.kind === 'fenced') throw new Error(second.because);
    expect(second.job).not.toHaveProperty('custom_status');
  });

  it('replaces what was reported before', () => {
    const { liveJob, live } = running();
    const first = report(liveJob, live.claim, { details: 1, progress: 'a' }, t0);
    if (first.kind === 'fenced') throw new Error(first.because);
    const second = report(first.job, live.claim, { details: 2 }, t0 + 1);
    expect(second).toMatchObject({ job: { steps: [{ details: 2, progress: 'a' }] } });
  });

  it.each([
    ['a job that is final', (told: Story) => finish(told.liveJob, { exit: 0 }, t0)],
    ['a job that is new', () => newJob()],
    ['an attempt that has ended', (told: Story) => (told.with({ nonce: 'n2' }).fail(), told.job)],
  ])('is dropped for %s', (_title, after) => {
    const told = running();
    const { claim } = told.live;
    expect(report(after(told), claim, { progress: 1 }, t0)).toMatchObject({ kind: 'fenced' });
  });
});

describe('lastDetails', () => {
  it('are those of the last attempt of the step that gave some', () => {
    const told = story({ steps: [{ task: 'a', retry: 9 }, 'b'] });
    told.go();
    expect(lastDetails(earlierAttempts(told.liveJob, told.live))).toBeUndefined();
    told.end({ kind: 'timeout', timeoutMs: 1 }, undefined, { details: { page: 3 } });
    expect(lastDetails(earlierAttempts(told.liveJob, told.live))).toEqual({ page: 3 });
    told.fail();
    expect(lastDetails(earlierAttempts(told.liveJob, told.live))).toEqual({ page: 3 });
    told.end({ kind: 'released' }, undefined, { details: { page: 4 } });
    expect(lastDetails(earlierAttempts(told.liveJob, told.live))).toEqual({ page: 4 });
    told.end({ kind: 'done' }, undefined, { details: { page: 9 } });
    expect(told.live.task).toBe('b');
    expect(lastDetails(earlierAttempts(told.liveJob, told.live))).toBeUndefined();
  });
});

describe('the attempts before one', () => {
  it('are those since the job last began anew', () => {
    const told = story({ steps: [{ task: 'a', retry: 9 }] });
    told.go();
    told.end({ kind: 'timeout', timeoutMs: 1 }, undefined, { details: 1 });
    expect(earlierAttempts(told.liveJob, told.live)).toHaveLength(1);
    told.end({ kind: 'restart', delayMs: 0 });
    expect(earlierAttempts(told.liveJob, told.live)).toEqual([]);
    expect(lastDetails(earlierAttempts(told.liveJob, told.live))).toBeUndefined();
    told.fail();
    expect(earlierAttempts(told.liveJob, told.live)).toHaveLength(1);
  });
});

describe('work at a path counts', () => {
  const undoable = { task: 'a', undo: 'ua' };
  const since = (told: Story, ...paths: string[]): readonly number[] =>
    paths.map((path) => countsSince(told.liveJob, path));

  it('since the first run, also when what failed is tried again in a later one', () => {
    const told = begun(['a', 'b'], { flow: { retry: 1 } })
      .did('a')
      .broke('b');
    expect(since(told, '0', '1')).toEqual([1, 1]);
    expect(earlierAttempts(told.liveJob, told.live)).toHaveLength(1);
  });

  it('since the run after it was undone, and so does its undoing', () => {
    const told = begun([undoable, 'b']).did('a').broke('b');
    expect(since(told, '0', '0.undo', '1')).toEqual([1, 1, 1]);
    told.did('ua').ask('retry');
    expect(since(told, '0', '0.error', '0.undo', '0.undo.error', '1')).toEqual([2, 2, 2, 2, 1]);
    expect(told.running).toEqual(['a']);
    expect(earlierAttempts(told.liveJob, told.live)).toEqual([]);
    told.broke('a').ask('retry');
    expect(since(told, '0')).toEqual([2]);
    expect(earlierAttempts(told.liveJob, told.live)).toHaveLength(1);
  });

  it('as before when it could not be undone', () => {
    const told = begun([undoable, 'b']).did('a').broke('b').broke('ua').ask('retry');
    expect(since(told, '0', '0.undo')).toEqual([1, 1]);
  });

  it('since the run in which somebody asked for it again', () => {
    const told = begun(['a', 'b', 'c']).did('a').did('b').broke('c').ask('retry', { from: 'b' });
    expect(since(told, '0', '1', '1.error', '2')).toEqual([1, 2, 2, 2]);
  });

  it('since the run that is on for how the flow ends', () => {
    const told = begun(['a'], { flow: { error: 'h' } })
      .broke('a')
      .did('h')
      .ask('retry');
    expect(since(told, '0', 'error', 'cancel.0')).toEqual([1, 2, 2]);
  });

  it('since the run after something was undone for all that is of a decider', () => {
    const tasks = [task('a', { undo: 'ua' }), task('boss'), task('ua')];
    const told = begun([{ decider: 'boss' }, 'b'], { tasks });
    told.did('boss', { schedule: 'a', id: 'x' }).did('a').did('boss', { complete: 1 });
    told.broke('b').did('ua').ask('retry');
    expect(since(told, '0.decision.0', '0.activity.x', '1')).toEqual([2, 2, 1]);
  });
});

describe('the log of a step', () => {
  const lines = (count: number, length = 1): LogLine[] =>
    Array.from({ length: count }, (_, at) => ({ at, message: 'ä'.repeat(length) }));

  it.each([
    ['all of few lines', lines(3), 3],
    ['50 lines', lines(200), 50],
    ['4 KiB', lines(50, 490), 4],
  ])('keeps the newest: %s', (_title, given, kept) => {
    expect(boundedLog(given)).toEqual(given.slice(-kept));
  });

  it.each([
    ['a short line', { message: 'm', data: { n: 1 } }, { message: 'm', data: { n: 1 } }],
    ['a long message', { message: 'x'.repeat(600) }, { message: `${'x'.repeat(500)}…` }],
    ['large data', { message: 'm', data: { x: 'x'.repeat(500) } }, { message: 'm' }],
  ])('takes %s', (_title, given, kept) => {
    expect(logLine({ at: 1, ...given })).toEqual({ at: 1, ...kept });
  });
});
