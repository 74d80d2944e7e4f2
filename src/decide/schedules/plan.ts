import { canonical } from '../../model/canonical.js';
import type { Schedule, ScheduleProgress } from '../../model/schedule.js';
import { skippedWaiting } from './due-slots.js';
import { lateMs } from './missed-slots.js';
import { isEdited } from './standing.js';

/**
 * The progress that a schedule goes on from: its own, or a new one when it has none. A schedule whose
 * timing was edited goes on from now, and so does one that was edited while it had no next slot: it was
 * paused, had ended, or could not be followed. A time of `at` that has just passed
 * still counts: its author may have meant "as soon as possible".
 */
export function planned(schedule: Schedule, now: number): { readonly progress: ScheduleProgress } {
  const timing = timingOf(schedule);
  const { progress: before } = schedule;
  const from = schedule.at === undefined ? now : now - lateMs;
  if (before === undefined) return { progress: { ...unbegun(from), timing } };
  const isNew = before.timing !== timing || (isEdited(schedule) && before.slot === undefined);
  const handled = isNew ? Math.max(before.handled, from) : before.handled;
  const progress = { ...before, timing, handled };
  const isWaiting = schedule.paused === true && progress.waiting !== undefined;
  return {
    progress: isWaiting ? skippedWaiting(progress, now, 'The schedule was paused.') : progress,
  };
}

/** The progress of a schedule of which nothing has come yet. */
export function unbegun(handled: number): ScheduleProgress {
  return { edition: 1, timing: '', handled, started: 0, skipped: 0, missed: 0, recent: [] };
}

/** The fields that say when it is due, as one text. */
function timingOf({ cron, every, offset, at, time_zone, from, until, jitter }: Schedule): string {
  return canonical({ cron, every, offset, at, time_zone, from, until, jitter });
}
