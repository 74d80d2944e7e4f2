import {
  atRest,
  isLeftAlone,
  longestStreak,
  withWrite,
  type Streak,
} from '../../decide/finish/streak.js';
import { failure } from '../../model/failures.js';
import type { Job } from '../../model/job.js';
import type { Failure } from '../../model/step.js';
import type { DecidedIntent } from './decision.js';

/**
 * Stops jobs that an engine writes again and again without getting anywhere, whatever the cause.
 * What counts is in `decide/streak.ts`.
 */
export type Breaker = {
  /**
   * Counts a decision that is to be written; a claim is none that could go round and round. Returns why
   * the job has to be stopped, if it has to.
   */
  readonly count: (
    before: Job,
    decision: Extract<DecidedIntent, { kind: 'write' | 'spawn' }>,
  ) => Failure | undefined;
  /** The engine is done with the job for now. */
  readonly rest: (id: string) => void;
  /** What is remembered, by job. */
  readonly streaks: ReadonlyMap<string, Streak>;
};

/** With fewer jobs nobody looks for those that may be forgotten. */
const fewJobs = 1_000;

/** `now`: a clock that is never set, ms. */
export function createBreaker(now: () => number): Breaker {
  const streaks = new Map<string, Streak>();
  let roomFor = fewJobs;
  /** Looks through all jobs only when there are twice as many as were left the last time. */
  const forget = (): void => {
    if (streaks.size < roomFor) return;
    for (const [id, streak] of streaks) if (isLeftAlone(streak, now())) streaks.delete(id);
    roomFor = Math.max(fewJobs, 2 * streaks.size);
  };
  return {
    streaks,
    rest: (id) => {
      const streak = streaks.get(id);
      if (streak !== undefined) streaks.set(id, atRest(streak, now()));
    },
    count: (before, decision) => {
      const { _id: id } = before;
      const children = decision.kind === 'spawn' ? decision.children.map(({ _id }) => _id) : [];
      const write = { job: decision.job, children };
      const streak = withWrite(streaks.get(id), before, write, now());
      streaks.delete(id);
      if (streak === undefined) return undefined;
      forget();
      // Also of one that is to be stopped: another engine may write the job before its end is stored.
      streaks.set(id, streak);
      if (streak.writes <= longestStreak) return undefined;
      const last = `state ${String(decision.job.state)}`;
      return failure('DecisionLoop', { writes: longestStreak, last });
    },
  };
}
