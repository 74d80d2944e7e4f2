import { writtenSpanMs } from '../../model/schedule.js';
import { withSlotRecord, type Standing } from './standing.js';
import type { Calendar } from './schedule-world.js';
import type { ScheduleProgress } from '../../model/schedule.js';

/** A slot that is at most so late (ms) counts as being on time: an engine may take over from another. */
export const lateMs = 60_000;

/** So many missed slots are counted. */
const mostCounted = 1_000;

/**
 * Passes over the slots that are too old: older than `catch_up`, or, where there is none, all but the
 * latest.
 */
export function withoutMissed({ schedule, progress, now, calendar }: Standing): ScheduleProgress {
  const first = calendar.next(progress.handled);
  const limit = oldestOf({ schedule, now, calendar });
  if (first === undefined || first >= limit) return progress;
  const until = calendar.last(limit - 1) ?? first;
  const count = countOf(calendar, first, until);
  const many = count === mostCounted ? `${mostCounted} slots or more` : `${count} slots`;
  const because = `No engine acted on ${count === 1 ? 'this slot' : many} in time.`;
  const record = { slot: first, at: now, kind: 'missed', count, because } as const;
  const missed = { ...progress, handled: until, missed: progress.missed + count };
  return withSlotRecord(missed, until === first ? record : { ...record, until });
}

/** The oldest moment whose slot still gets a job. */
function oldestOf({
  schedule: { catch_up: age, jitter },
  now,
  calendar,
}: Pick<Standing, 'schedule' | 'now' | 'calendar'>): number {
  const moved = now - (jitter === undefined ? 0 : writtenSpanMs(jitter));
  if (age !== undefined) return moved - Math.max(lateMs, writtenSpanMs(age));
  const onTime = moved - lateMs;
  return Math.min(onTime, calendar.last(now) ?? onTime);
}

function countOf(calendar: Calendar, first: number, until: number): number {
  let count = 1;
  for (let slot = calendar.next(first); slot !== undefined && slot <= until;) {
    count += 1;
    if (count === mostCounted) return count;
    slot = calendar.next(slot);
  }
  return count;
}
