import { canonical } from '../../model/canonical.js';
import { toEpochMs } from '../../model/scalars.js';
import { slotJobId, usualAtOnce, type ScheduleProgress } from '../../model/schedule.js';
import { dueOf, withEntries, withSlotRecord, type Standing } from './standing.js';

/** The jobs of which it matters now whether they have ended, as far as nobody knows. */
export function unknownJobs({
  schedule,
  progress,
  now,
  calendar,
  world,
}: Standing): readonly string[] {
  const { waiting, handled, running = [], backfill } = progress;
  const slot = calendar.next(handled);
  const isDue = slot !== undefined && dueOf(schedule, slot) <= now && schedule.paused !== true;
  const asked = [...(waiting !== undefined || isDue ? running : []), ...(backfill?.running ?? [])];
  return asked.filter((id) => world.job(id) === 'unknown');
}

/** Starts further jobs of a backfill, a few at a time; forgets it when all have ended. */
export function withBackfill({
  schedule,
  progress,
  now,
  calendar,
  world,
}: Standing): ScheduleProgress {
  const { backfill: wanted } = schedule;
  if (wanted === undefined) return withoutBackfill(progress);
  const [from, until] = [toEpochMs(wanted.from), toEpochMs(wanted.until)];
  const of = canonical([from, until]);
  const known = progress.backfill?.of === of ? progress.backfill : undefined;
  const before = known ?? { of, handled: from - 1, started: 0 };
  const running = (before.running ?? []).filter((id) => world.job(id) !== 'over');
  const starting = [...(progress.starting ?? [])];
  let { handled, started } = before;
  // What is yet to come starts in its own time.
  const next = (): number | undefined => {
    const slot = calendar.next(handled);
    return slot !== undefined && slot < until && slot <= now ? slot : undefined;
  };
  for (let slot = next(); slot !== undefined && running.length < atOnceOf(wanted); slot = next()) {
    running.push(slotJobId(schedule._id, slot));
    starting.push(slot);
    handled = slot;
    started += 1;
  }
  if (running.length === 0 && next() === undefined) {
    const record = { slot: from, until, at: now, kind: 'backfilled' } as const;
    return withSlotRecord(
      withoutBackfill(progress),
      started > 0 ? { ...record, count: started } : record,
    );
  }
  const backfill = { of, handled, started, ...(running.length > 0 && { running }) };
  return { ...withEntries(progress, 'starting', starting), backfill };
}

function atOnceOf({ at_once: atOnce = usualAtOnce }: { readonly at_once?: number }): number {
  return atOnce;
}

function withoutBackfill(progress: ScheduleProgress): ScheduleProgress {
  const { backfill: _before, ...rest } = progress;
  return progress.backfill === undefined ? progress : rest;
}
