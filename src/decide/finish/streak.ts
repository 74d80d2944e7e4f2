import type { Job } from '../../model/job.js';
import { attemptCountsOf } from './progressed.js';
import { isObject } from '../../model/object.js';

/**
 * The writes of a job in a row by which it got nowhere, as one engine sees them. Times in ms of a
 * clock that is never set.
 *
 * S1 A streak ends when a step begins or ends, when a child is born for the first time, and when
 *    somebody has asked something of the job.
 * S2 It ends when the job was left alone: at rest for a second, and for four times as long as the
 *    engine was last busy with it. So neither a slow store nor many such jobs hide a loop, and two
 *    engines that write in turn do not leave the job alone.
 * S3 A write that was not stored does not count: the next look finds the same revision.
 */
export type Streak = {
  readonly writes: number;
  /** The revision that the last of them was decided upon. */
  readonly rev: string;
  readonly progress: string;
  readonly asked: string;
  readonly children: ReadonlySet<string>;
  readonly busySince: number;
  /** Since when the job is at rest, and how long the engine was busy with it before. */
  readonly rest?: { readonly since: number; readonly busyMs: number };
};

/** Maximum number of writes in a streak; a job with more is in a loop. */
export const longestStreak = 20;
const shortestRestMs = 1_000;
const restShare = 4;

/** The job to write, and the children created with it. */
export type Write = { readonly job: Job; readonly children: readonly string[] };

/**
 * Returns the streak with one more write, decided upon `before`; undefined when that write gets the
 * job on.
 */
export function withWrite(
  last: Streak | undefined,
  before: Job,
  { job, children: born }: Write,
  now: number,
): Streak | undefined {
  const progress = attemptCountsOf(before);
  if (attemptCountsOf(job) !== progress) return undefined;
  const goesOn = last?.progress === progress && last.asked === askedOf(before);
  const known = goesOn && !isLeftAlone(last, now) ? last : undefined;
  const children = new Set([...(known?.children ?? []), ...born]);
  const isBirth = children.size > (known?.children.size ?? 0);
  const isNew = known?.rev !== before._rev;
  return {
    writes: isBirth ? 0 : (known?.writes ?? 0) + (isNew ? 1 : 0),
    rev: before._rev,
    progress,
    asked: askedOf(job),
    children,
    busySince: busyOf(known, now),
  };
}

/** Returns since when the engine is busy with the job, without a rest. */
function busyOf(last: Streak | undefined, now: number): number {
  return last === undefined || last.rest !== undefined ? now : last.busySince;
}

/** Returns the streak of a job that the engine has finished with for now. */
export function atRest(streak: Streak, now: number): Streak {
  if (streak.rest !== undefined) return streak;
  return { ...streak, rest: { since: now, busyMs: now - streak.busySince } };
}

/** Whether the job has been at rest for so long that its next write starts a new streak. */
export function isLeftAlone({ rest }: Streak, now: number): boolean {
  return rest !== undefined && now - rest.since > Math.max(shortestRestMs, restShare * rest.busyMs);
}

/** What people and programs have asked of a job, as a text that differs when there is more. */
function askedOf(job: Job): string {
  const { requests, signals, notes, paused, cancel, retry } = job as Readonly<
    Record<string, unknown>
  >;
  const records = [requests, signals, notes].map(sizeOf);
  return JSON.stringify([...records, paused, cancel, retry]);
}

/** Length and last entry: a full list of requests keeps its length. */
function sizeOf(list: unknown): readonly unknown[] {
  if (!Array.isArray(list)) return [];
  const last: unknown = list.at(-1);
  return [list.length, isObject(last) ? last['id'] : undefined];
}
