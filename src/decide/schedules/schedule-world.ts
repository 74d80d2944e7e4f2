import type { Problem } from '../../model/problems.js';
import type { Schedule } from '../../model/schedule.js';

/** The slots of a schedule, from its `from` until before its `until`. Moments are epoch ms. */
export type Calendar = {
  /** Returns the first slot after a moment; undefined: none comes any more. */
  readonly next: (after: number) => number | undefined;
  /** Returns the last slot up to a moment, that moment included; undefined: none came yet. */
  readonly last: (upTo: number) => number | undefined;
  /** Returns a slot as ISO 8601 in the time zone of the schedule: `2026-11-27T03:00:00+01:00`. */
  readonly text: (slot: number) => string;
};

/** The timing of a schedule, read; or what is wrong with it. */
export type ReadCalendar =
  | { readonly ok: true; readonly calendar: Calendar }
  | { readonly ok: false; readonly problems: readonly [Problem, ...Problem[]] };

/** What a decision about a schedule may know beside the schedule and the time. */
export type ScheduleWorld = {
  readonly calendarOf: (schedule: Schedule) => ReadCalendar;
  /** Whether a job of the schedule goes on; `unknown`: the store was not asked yet. */
  readonly job: (id: string) => 'unknown' | 'live' | 'over';
  /** What became of a job that was to be made; undefined: nobody has tried yet. */
  readonly made: (id: string) => Made | undefined;
};

/** `made`: it is there. `reason`: why the store refuses it for good. */
export type Made =
  { readonly kind: 'made' } | { readonly kind: 'refused'; readonly reason: string };
