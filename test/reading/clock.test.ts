import { describe, expect, it } from 'vitest';
import { flowTimeoutMs, hardDeadline, softDeadline, untilOf } from '../../src/reading/clock.js';
import { limitsOf } from '../../src/reading/entries.js';
import { flow, liveJob, t0, task } from '../support/builders.js';
import { story } from '../decide/story.js';

describe('the deadlines of a flow', () => {
  it.each([
    ['are 60 s by default', {}, 60_000, Infinity],
    ['follow the timeout', { timeout: 7 }, 7, Infinity],
    ['are never with a timeout of 0', { timeout: 0 }, Infinity, Infinity],
    ['are hard in mode hard', { timeout: 7, timeout_mode: 'hard' as const }, 7, 7],
    ['are never hard in mode start', { timeout: 7, timeout_mode: 'start' as const }, 7, Infinity],
  ])('%s', (_title, more, softMs, hardMs) => {
    const job = liveJob(flow(['a'], more));
    expect(flowTimeoutMs(job)).toBe(softMs);
    expect(softDeadline(job, t0)).toBe(t0 + softMs);
    expect(hardDeadline(job)).toBe(t0 + hardMs);
    expect(softDeadline({ ...job, held_ms: 500 }, t0)).toBe(t0 + 500 + softMs);
    expect(hardDeadline({ ...job, held_ms: 500 })).toBe(t0 + hardMs);
  });
});

describe('untilOf', () => {
  it.each([
    ['takes the first time', [3, 1, 2], { until: 1 }],
    ['leaves out never', [Infinity, Infinity], {}],
  ])('%s', (_title, times, until) => {
    expect(untilOf(...times)).toEqual(until);
  });
});

describe('the timeout of an attempt', () => {
  it.each([
    ['is 15 s by default', {}, {}, 15_000],
    ['follows the task', {}, { timeout: 70 }, 70],
    ['follows the entry before the task', { timeout: 30 }, { timeout: 70 }, 30],
    ['is none with 0 in the task', {}, { timeout: 0 }, Infinity],
    ['is none with 0 in the entry', { timeout: 0 }, { timeout: 70 }, Infinity],
    ['is at most the total of all attempts', {}, { total_timeout: 40 }, 40],
    ['is the total when nothing else limits it', { timeout: 0 }, { total_timeout: 40 }, 40],
  ])('%s', (_title, entry, of, ms) => {
    const told = story({ steps: [{ task: 'a', ...entry }], tasks: [task('a', of)] });
    told.go();
    expect(limitsOf(told.liveJob, told.live).timeoutMs).toBe(ms);
  });

  it('leaves to a further attempt what is left of the total', () => {
    const told = story({
      steps: [{ task: 'a', retry: 1 }],
      tasks: [task('a', { total_timeout: 1000 })],
    });
    told.go();
    told.at(300).fail();
    expect(limitsOf(told.liveJob, told.live).timeoutMs).toBe(700);
  });

  it('gives every run of the flow the total again', () => {
    const told = story({
      steps: ['a'],
      flow: { retry: 1 },
      tasks: [task('a', { total_timeout: 1000 })],
    });
    told.go();
    told.at(300).fail();
    expect(limitsOf(told.liveJob, told.live).timeoutMs).toBe(1000);
  });

  it('is the default when the definition was taken out of the job', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.edit({ definitions: {} });
    expect(limitsOf(told.liveJob, told.live).timeoutMs).toBe(15_000);
  });
});

describe('the heartbeat of an attempt', () => {
  it.each([
    ['is none by default', {}, {}, Infinity],
    ['follows the task', {}, { heartbeat: 70 }, 70],
    ['follows the entry before the task', { heartbeat: 30 }, { heartbeat: 70 }, 30],
    ['is none with 0 in the entry', { heartbeat: 0 }, { heartbeat: 70 }, Infinity],
  ])('%s', (_title, entry, of, ms) => {
    const told = story({ steps: [{ task: 'a', ...entry }], tasks: [task('a', of)] });
    told.go();
    expect(limitsOf(told.liveJob, told.live).heartbeatMs).toBe(ms);
  });

  it('is none for a task that is not defined', () => {
    const told = story({ steps: ['a'] });
    told.go();
    expect(limitsOf(told.liveJob, { ...told.live, path: 'x', task: 'x' }).heartbeatMs).toBe(
      Infinity,
    );
  });
});
