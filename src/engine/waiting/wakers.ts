import type { Clock } from '../../clock/clock.js';
import type { Wait } from '../../decide/intent.js';
import type { Jobs } from '../loop/jobs.js';
import { createTimers, type Timers } from './timers.js';

/** What wakes jobs at times. */
export type Wakers = {
  readonly timers: Timers;
  /** All engines wake for a grant at the same time, and then go one after the other. */
  readonly rateTimers: Timers;
  /** Those for a wait. */
  readonly timersOf: (wait: Wait) => Timers;
};

export function createWakers(
  toJobs: () => Pick<Jobs, 'wake' | 'rouse'>,
  { now, after }: Pick<Clock, 'now' | 'after'>,
): Wakers {
  const timers = createTimers((job) => toJobs().wake(job), now, after);
  const rateTimers = createTimers((job) => toJobs().rouse(job), now, after);
  return { timers, rateTimers, timersOf: (wait) => (wait.for === 'rate' ? rateTimers : timers) };
}
