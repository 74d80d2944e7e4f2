import { describe, expect, it } from 'vitest';
import {
  atRest,
  isLeftAlone,
  longestStreak,
  withWrite,
} from '../../../src/decide/finish/streak.js';
import type { Streak } from '../../../src/decide/finish/streak.js';
import type { Job } from '../../../src/model/job.js';

type Fields = Readonly<Record<string, unknown>>;

const jobAt = (rev: number, fields: Fields = {}): Job =>
  ({
    ...{ _id: 'j', _rev: `${rev}-a`, type: 'job', state: 'a-0', steps: [], ...fields },
  }) as unknown as Job;

/** One round of a job: the engine finds this, decides to write that, is busy and then rests, ms. */
type Round = {
  readonly rev?: number;
  readonly found?: Fields;
  readonly written?: Fields;
  readonly children?: readonly string[];
  readonly busyMs?: number;
  /** Absent: it decides again at once. */
  readonly restMs?: number;
};

/** The number of the write with which a job that goes through such rounds trips; none within 200. */
function trips(round: (n: number) => Round): number | undefined {
  let now = 0;
  let streak: Streak | undefined;
  for (let n = 1; n <= 200; n += 1) {
    const { rev = n, found, written = found, children = [], busyMs = 5, restMs } = round(n);
    const write = { job: jobAt(rev, written), children };
    streak = withWrite(streak, jobAt(rev, found), write, now);
    if (streak !== undefined && streak.writes > longestStreak) return n;
    now += busyMs;
    if (restMs === undefined) continue;
    streak = streak && atRest(streak, now);
    now += restMs;
  }
  return undefined;
}

const records = (n: number): Fields => ({ requests: Array.from({ length: n }, () => ({})) });

describe('S1, S2, S3: a job is in a loop', () => {
  const cases: readonly (readonly [string, (n: number) => Round, number | undefined])[] = [
    ['when it is written again and again', () => ({}), 21],
    ['at whatever speed the store has', () => ({ busyMs: 30_000 }), 21],
    ['when two engines write it in turn', (n) => ({ rev: 2 * n, restMs: 20 }), 21],
    [
      'when two engines write it in turn to a slow store',
      (n) => ({ rev: 2 * n, busyMs: 5_000, restMs: 9_000 }),
      21,
    ],
    ['when times that come at once have it written', () => ({ restMs: 900 }), 21],
    ['when the same child is made again', () => ({ children: ['c'] }), 22],
    [
      'when the engine itself changes what people may change',
      (n) => ({ found: { paused: n % 2 === 0 }, written: { paused: n % 2 === 1 } }),
      21,
    ],
    [
      'when a request was answered in between once',
      (n) => ({ found: records(n > 10 ? 1 : 0) }),
      31,
    ],
    [
      'when a report of an attempt came in between',
      (n) => ({ rev: 2 * n, found: { steps: [{ reported: n }] } }),
      21,
    ],
    ['not when a step begins each time', (n) => ({ written: { steps: [{ n }] } }), undefined],
    [
      'not when another engine has got it on each time',
      (n) => ({ found: { steps: Array.from({ length: n }, () => ({})) } }),
      undefined,
    ],
    ['not when another child is made each time', (n) => ({ children: [`c${n}`] }), undefined],
    ['not when each write answers a request', (n) => ({ found: records(n) }), undefined],
    [
      'not when each write answers a signal or an edit',
      (n) => ({ found: { paused: n % 2 === 0, signals: [{}] }, restMs: 10 }),
      undefined,
    ],
    ['not when it is left alone each time', () => ({ restMs: 1_100 }), undefined],
    [
      'not when a slow store is left alone for longer',
      () => ({ busyMs: 5_000, restMs: 21_000 }),
      undefined,
    ],
    ['not when no write is stored', () => ({ rev: 1, restMs: 10 }), undefined],
  ];

  it.each(cases)('%s', (_title, round, expected) => {
    expect(trips(round)).toBe(expected);
  });
});

describe('a streak at rest', () => {
  const busy = withWrite(undefined, jobAt(1), { job: jobAt(1), children: [] }, 0) as Streak;

  it('rests since the engine was done with the job first', () => {
    const resting = atRest(busy, 100);
    expect(atRest(resting, 900)).toBe(resting);
    expect(isLeftAlone(resting, 1_100)).toBe(false);
    expect(isLeftAlone(resting, 1_101)).toBe(true);
  });

  it('S2: is not left alone while the engine is busy with it', () => {
    expect(isLeftAlone(busy, 1_000_000)).toBe(false);
  });
});
