import { describe, expect, it } from 'vitest';
import { atOnce } from '../../../src/decide/versions/at-once.js';
import { migrated } from '../../../src/decide/versions/migrate.js';
import { isLiveJob, type LiveJob } from '../../../src/model/job.js';
import type { WrittenNode } from '../../../src/structures/kind.js';
import { flow, t0, task, tasksOf, world, type FlowOptions } from '../../support/builders.js';
import { begun, type Setting, type Story } from '../story.js';

const wait = { wait: { signal: 'go' } } as const;
const minute = 60_000;

type Version = {
  readonly steps: WrittenNode[];
  readonly flow?: FlowOptions;
  readonly tasks?: Setting['tasks'];
};

/** What a move of the job to version 2 does at once, so many ms after it began. */
function effects(it: Story, two: Version, ms: number, more: Partial<LiveJob> = {}) {
  const next = { ...flow(two.steps, { version: '2', timeout: 0, ...two.flow }), _rev: '1-two' };
  const before = { ...it.liveJob, ...more } as LiveJob;
  const known = world({ flows: [it.flow, next], tasks: tasksOf(next, two.tasks ?? []) });
  const found = migrated(before, '2', known);
  if (found.kind !== 'moves' || !isLiveJob(found.job)) {
    throw new Error('It does not move.');
  }
  return atOnce(before, found.job, t0 + ms);
}

const started = (steps: WrittenNode[], more: Partial<Setting> = {}): Story =>
  begun(steps, { ...more, flow: { version: '1', timeout: 0, ...more.flow } });

const retried = { task: 'a', retry: { limit: 5, delay: 9 * minute } } as const;
const held = task('a', { total_timeout: 30_000 });

describe('what a move ends or begins at once', () => {
  // Shows X-28.
  it.each<[string, () => Story, Version, number, readonly string[]]>([
    ['nothing', () => started(['a', 'b']), { steps: ['a', 'c'] }, 1, []],
    [
      'a timeout that is over',
      () => started(['a', 'b']),
      { steps: ['a', 'b'], flow: { timeout: minute } },
      minute,
      ['The timeout of the flow (1 min) is over: no further step begins, and the job times out.'],
    ],
    [
      'a timeout that is not over yet',
      () => started(['a', 'b']),
      { steps: ['a', 'b'], flow: { timeout: minute } },
      minute - 1,
      [],
    ],
    [
      'no timeout that was over before',
      () => started(['a', 'b'], { flow: { timeout: 500 } }),
      { steps: ['a', 'b'], flow: { timeout: minute } },
      minute,
      [],
    ],
    [
      'a hard timeout that is over',
      () => started(['a', 'b']),
      { steps: ['a', 'b'], flow: { timeout: minute, timeout_mode: 'hard' } },
      minute,
      [
        'The timeout of the flow (1 min) is over: the job times out at once, and what runs is stopped.',
      ],
    ],
    [
      'a step beside one that waits',
      () => started([{ parallel: [wait] }]),
      { steps: [{ parallel: [wait, 'b'] }] },
      1,
      ['Step 0.parallel.1 (b) begins at once.'],
    ],
    [
      'a choice beside one that waits',
      () => started([{ parallel: [wait] }]),
      { steps: [{ parallel: [wait, { choice: [{ when: 'true', then: 'b' }] }] }] as WrittenNode[] },
      1,
      ['The choice at 0.parallel.1 begins at once.'],
    ],
    [
      'no step where the job is out of time',
      () => started([{ parallel: ['a'] }]),
      { steps: [{ parallel: ['a', 'b'] }], flow: { timeout: 1 } },
      minute,
      ['The timeout of the flow (1 ms) is over: no further step begins, and the job times out.'],
    ],
    [
      'a step for which no engine was found in time',
      () => started([{ parallel: ['a'] }]),
      { steps: [{ parallel: ['a', 'b'] }], tasks: [task('b', { accept_timeout: 5_000 })] },
      minute,
      ['Step 0.parallel.1 (b) times out at once: no engine took it within 5 s (accept_timeout).'],
    ],
    [
      'the end of a job that has nothing left to do',
      () => started(['a', 'b'], { world: { plugins: ['a'] } }).did('a'),
      { steps: ['a'] },
      1,
      ['The job ends at once: nothing is left to do.'],
    ],
    [
      'a step that runs and is not needed any more',
      () => started([{ parallel: ['a', 'b'] }]).did('a'),
      { steps: [{ parallel: ['a', 'b'], join: 1, cancel_rest: true }] as WrittenNode[] },
      1,
      ['Step 0.parallel.1 (b) is cancelled: it is not needed any more.'],
    ],
    [
      'that a step gets no further attempt',
      () => started([retried]),
      { steps: [retried], tasks: [held] },
      minute,
      ['Step 0 (a) gets no further attempt: its total_timeout (30 s) is over.'],
    ],
    [
      'that one that is to be tried again gets no further one',
      () => started([retried]).broke('a'),
      { steps: [retried], tasks: [held] },
      minute,
      ['Step 0 (a) gets no further attempt: its total_timeout (30 s) is over.'],
    ],
    [
      'not that of a step whose time was over before',
      () => started([retried], { tasks: [held] }),
      { steps: [retried], tasks: [held] },
      minute,
      [],
    ],
    [
      'no step that waits for an engine anyway',
      () => started([{ parallel: ['a', 'b'] }], { world: { plugins: ['a'] } }),
      { steps: [{ parallel: ['a', 'b'] }] },
      1,
      [],
    ],
    [
      'no step whose time to be taken was over before',
      () =>
        started([{ parallel: ['a', 'b'] }], {
          world: { plugins: ['a'] },
          tasks: [task('b', { accept_timeout: 5_000 })],
        }),
      { steps: [{ parallel: ['a', 'b'] }], tasks: [task('b', { accept_timeout: 5_000 })] },
      minute,
      [],
    ],
    [
      'the failure of a job whose failed step is not passed over any more',
      () => started([{ task: 'a', optional: true }, 'b']).broke('a'),
      { steps: ['a', 'b'] },
      1,
      ['The job fails at once: step 0 (a) has failed, and nothing passes over that.'],
    ],
  ])('is %s', (_title, it, two, ms, told) => {
    expect(effects(it(), two, ms)).toEqual(told);
  });

  it('is nothing that a job does which is paused or being cancelled', () => {
    const it = started([{ parallel: [wait] }]);
    const two = { steps: [{ parallel: [wait, 'b'] }] };
    expect(effects(it, two, 1, { paused: true })).toEqual([]);
    expect(effects(it, two, 1, { cancel: true })).toEqual([]);
  });
});
