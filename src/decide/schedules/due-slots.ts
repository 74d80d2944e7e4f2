import { slotJobId, type ScheduleProgress } from '../../model/schedule.js';
import { withoutMissed } from './missed-slots.js';
import { dueOf, hasEnded, withEntries, withSlotRecord, type Standing } from './standing.js';

/** How many slots are decided in one revision, and how many of them start; the rest follows with the next one. */
const mostDecided = 500;
const mostStarted = 50;

/** Decides the slots that are due, oldest first. */
export function withDueSlots(standing: Standing): ScheduleProgress {
  const { schedule, now, calendar } = standing;
  if (schedule.paused === true || hasEnded(standing)) return standing.progress;
  let progress = withoutMissed(standing);
  for (let count = 0; count < mostDecided; count += 1) {
    if ((progress.starting ?? []).length >= mostStarted) break;
    const slot = calendar.next(progress.handled);
    if (slot === undefined || dueOf(schedule, slot) > now) break;
    if (hasEnded({ schedule, progress })) break;
    progress = { ...decided({ ...standing, progress }, slot), handled: slot };
  }
  return progress;
}

/** The slot that waited starts when no job of the schedule is left. */
export function withWaitingSlot(standing: Standing): ScheduleProgress {
  const progress = withoutEnded(standing);
  const { waiting, ...rest } = progress;
  if (waiting === undefined || (progress.running ?? []).length > 0) return progress;
  return started({ ...standing, progress: rest }, waiting);
}

/** Forgets the jobs that have ended, as far as that is known. */
function withoutEnded({ progress, world }: Standing): ScheduleProgress {
  const { running = [] } = progress;
  const live = running.filter((id) => world.job(id) !== 'over');
  return live.length === running.length ? progress : withEntries(progress, 'running', live);
}

/** What becomes of one slot, by the overlap policy. */
function decided(standing: Standing, slot: number): ScheduleProgress {
  const { schedule, progress, now } = standing;
  const { running = [], waiting, cancelling = [] } = progress;
  const [other] = running;
  const { overlap = 'skip' } = schedule;
  if (other === undefined || overlap === 'all') return started(standing, slot);
  switch (overlap) {
    case 'skip':
      return skipped(progress, { slot, now, because: `Job ${other} had not ended.` });
    case 'one':
      if (waiting === undefined) return { ...progress, waiting: slot };
      return skipped(progress, {
        ...{ slot, now },
        because: `Job ${other} had not ended, and another slot waits already.`,
      });
    case 'cancel_running': {
      const before = skippedWaiting(progress, now, 'A later slot took its place.');
      const asked = [...new Set([...cancelling, ...running])];
      return { ...withEntries(before, 'cancelling', asked), waiting: slot };
    }
  }
}

function started({ schedule, progress, now }: Standing, slot: number): ScheduleProgress {
  const job = slotJobId(schedule._id, slot);
  const { starting = [], running = [], started: before } = progress;
  const next = withEntries({ ...progress, started: before + 1 }, 'starting', [...starting, slot]);
  const isFollowed = (schedule.overlap ?? 'skip') !== 'all';
  return withSlotRecord(isFollowed ? withEntries(next, 'running', [...running, job]) : next, {
    ...{ slot, at: now, kind: 'started', job },
  });
}

type Skip = { readonly slot: number; readonly now: number; readonly because: string };

function skipped(progress: ScheduleProgress, { slot, now, because }: Skip): ScheduleProgress {
  const next = { ...progress, skipped: progress.skipped + 1 };
  return withSlotRecord(next, { slot, at: now, kind: 'skipped', because });
}

/** The slot that waits, if any, gets no job after all. */
export function skippedWaiting(
  progress: ScheduleProgress,
  now: number,
  because: string,
): ScheduleProgress {
  const { waiting: slot, ...rest } = progress;
  return slot === undefined ? progress : skipped(rest, { slot, now, because });
}
