import type { Schedule, ScheduleProgress } from '../../model/schedule.js';
import { writtenSpanMs } from '../../model/span.js';
import { withSlotRecord, type Standing } from './standing.js';
import type { Calendar } from './schedule-world.js';

/** A slot that is at most so late (ms) counts as being on time: an engine may take over from another. */
export const lateMs = 60_000;

/** Missed slots are counted up to this number. */
const mostCounted = 1_000;

/**
 * Passes over the slots that are too old: older than `catch_up`, or, where there is none, all but the
 * latest.
 */
export function withoutMissed({ schedule, progress, now, calendar }: Standing): ScheduleProgress {
  const first = calendar.next(progress.handled);
  const oldest = oldestOf(schedule, now);
  if (first === undefined || first >= oldest) return progress;
  // There is a slot before `oldest`, so there is a last one.
  const limit =
    schedule.catch_up === undefined ? Math.min(oldest, calendar.last(now) as number) : oldest;
  if (first === limit) return progress;
  const until = calendar.last(limit - 1) as number;
  const count = countOf(calendar, first, until);
  const many = count === mostCounted ? `${mostCounted} slots or more` : `${count} slots`;
  const because = `No engine acted on ${count === 1 ? 'this slot' : many} in time.`;
  const record = { slot: first, at: now, kind: 'missed', count, because } as const;
  const missed = { ...progress, handled: until, missed: progress.missed + count };
  return withSlotRecord(missed, until === first ? record : { ...record, until });
}

/** The oldest moment whose slot is on time, or is made up. */
function oldestOf({ catch_up: age = 0, jitter = 0 }: Schedule, now: number): number {
  return now - writtenSpanMs(jitter) - Math.max(lateMs, writtenSpanMs(age));
}

function countOf(calendar: Calendar, first: number, until: number): number {
  let count = 1;
  for (let slot = first; slot < until && count < mostCounted; count += 1) {
    slot = calendar.next(slot) as number;
  }
  return count;
}
