import { canonical } from '../../model/canonical.js';
import type { Problem } from '../../model/problems.js';
import type { StoredDocument } from '../../model/document.js';
import {
  readScheduleProgress,
  type Schedule,
  type ScheduleProgress,
} from '../../model/schedule.js';
import { unknownJobs, withBackfill } from './backfill.js';
import { withDueSlots, withWaitingSlot } from './due-slots.js';
import { dueOf, hasEnded, isEdited, revisionCount, type Standing } from './standing.js';
import { planned, unbegun } from './plan.js';
import { unmade, withMade, type CancelRequest, type SlotJob } from './slot-job.js';
import type { ScheduleWorld } from './schedule-world.js';

/** What one engine does about a schedule. */
export type ScheduleIntent =
  /** Nothing, until the schedule is edited or one of its jobs ends. */
  | { readonly kind: 'rest'; readonly because: string }
  /** Nothing before `until` (epoch ms). */
  | { readonly kind: 'wait'; readonly until: number; readonly because: string }
  /** Finds out whether these jobs go on, and decides again. */
  | { readonly kind: 'look_up'; readonly jobs: readonly string[] }
  /** Stores these documents, which may be there already, and decides again. */
  | {
      readonly kind: 'make';
      readonly jobs: readonly SlotJob[];
      readonly cancels: readonly CancelRequest[];
    }
  /** Stores the schedule, and decides again. */
  | { readonly kind: 'write'; readonly schedule: Schedule; readonly because: string };

/**
 * Says what an engine does about a schedule: a pure function of the document, the time (epoch ms) and
 * what was looked up.
 *
 * Z1 A slot is decided by one write of the schedule, a compare-and-set: `starting` names the slots whose
 *    jobs are to be made. They are made after it, and `starting` is cleared by a second write.
 * Z2 The id of a job follows from its slot, and its content from the schedule: every engine makes
 *    the same one, and it exists once.
 * Z3 Slots are decided in their order. `handled` only grows, but for a backfill, which counts apart.
 * Z4 `progress.edition` is the revision that the progress was written with: an edit shows by another.
 *    An edit of the timing, or of a schedule that had no next slot, counts from that moment on: nothing
 *    before it was missed.
 * Z5 While there is something to do, `next_due` is not later than the time of that.
 * Z6 What an engine has made of a revision holds until it is due: another one, whose calendars or words
 *    may differ, does not write it anew.
 */
export function decideSchedule(
  schedule: Schedule,
  now: number,
  world: ScheduleWorld,
): ScheduleIntent {
  const read = world.calendarOf(schedule);
  if (!read.ok) return telling(schedule, planned(schedule, now).progress, read.problems);
  const settled = settledIntent(schedule, now);
  if (settled !== undefined) return settled;
  const { calendar } = read;
  const made = unmade(schedule, calendar, world);
  if (made.jobs.length + made.cancels.length > 0) return { kind: 'make', ...made };
  const before: Standing = {
    ...{ schedule, now, calendar, world },
    progress: withMade(planned(schedule, now).progress, schedule._id, world),
  };
  const jobs = unknownJobs(before);
  if (jobs.length > 0) return { kind: 'look_up', jobs };
  const after = [withWaitingSlot, withDueSlots, withBackfill].reduce<Standing>(
    (standing, rule) => ({ ...standing, progress: rule(standing) }),
    before,
  );
  return concluded(after);
}

/** Says what is wrong with a document that is no valid schedule, in the document. */
export function tellInvalid(
  doc: StoredDocument,
  now: number,
  problems: readonly [Problem, ...Problem[]],
): ScheduleIntent {
  // As if it were one: what its author wrote is kept as it is.
  return telling(
    doc as unknown as Schedule,
    readScheduleProgress(doc['progress']) ?? unbegun(now),
    problems,
  );
}

/** What is left to do about a revision that an engine has dealt with already; undefined: look closer. */
function settledIntent(schedule: Schedule, now: number): ScheduleIntent | undefined {
  if (isEdited(schedule)) return undefined;
  const { next_due: due, problems: [problem] = [] } = schedule;
  if (problem !== undefined) return { kind: 'rest', because: problem.message };
  if (due === undefined || due <= now) return undefined;
  return { kind: 'wait', until: due, because: `It is due at ${new Date(due).toISOString()}.` };
}

/** Says the problems of a schedule that cannot be followed in its document. */
function telling(
  schedule: Schedule,
  progress: ScheduleProgress,
  problems: readonly [Problem, ...Problem[]],
): ScheduleIntent {
  if (!isEdited(schedule)) return { kind: 'rest', because: problems[0].message };
  const { next_due: _due, ...rest } = schedule;
  const told = { ...rest, progress, problems: problems.map((it) => ({ ...it })) };
  return { kind: 'write', schedule: withEdition(told), because: 'It cannot be followed.' };
}

/** What is left to do after all rules have spoken. */
function concluded(standing: Standing): ScheduleIntent {
  const { schedule, progress: given, now, calendar } = standing;
  const isOpen = schedule.paused !== true && !hasEnded(standing);
  const slot = isOpen ? calendar.next(given.handled) : undefined;
  const { slot: _before, ...rest } = given;
  const progress = slot === undefined ? rest : { ...rest, slot };
  const due = slot === undefined ? undefined : dueOf(schedule, slot);
  const next = nextDue({ schedule, progress, now }, due);
  const after = withProgress(schedule, progress, next);
  if (!isSame(after, schedule)) {
    return { kind: 'write', schedule: withEdition(after), because: 'Its progress has changed.' };
  }
  if (slot === undefined || due === undefined) {
    return { kind: 'rest', because: whyAtRest(schedule, progress) };
  }
  return { kind: 'wait', until: due, because: `Its next slot is ${calendar.text(slot)}.` };
}

function withProgress(
  { next_due: _due, problems: _problems, backfill, ...fields }: Schedule,
  progress: ScheduleProgress,
  next: number | undefined,
): Followed {
  // A backfill that has ended is done with.
  const isOpen = backfill !== undefined && progress.backfill !== undefined;
  const due = next === undefined ? {} : { next_due: next };
  return { ...fields, ...(isOpen ? { backfill } : {}), ...due, progress };
}

function whyAtRest(
  { paused }: Schedule,
  { waiting, running = [], backfill }: ScheduleProgress,
): string {
  if (waiting !== undefined) return `A slot waits for job ${running.join(', ')} to end.`;
  if (backfill !== undefined) return 'Its backfill waits for jobs to end.';
  return paused === true ? 'It is paused.' : 'It has no further slot.';
}

/** When an engine has to act next; what waits for jobs stays due, so that each sweep finds it. */
function nextDue(
  { schedule, progress, now }: Pick<Standing, 'schedule' | 'progress' | 'now'>,
  due: number | undefined,
): number | undefined {
  const { starting = [], cancelling = [], waiting, backfill } = progress;
  if (starting.length + cancelling.length > 0) return now;
  if (waiting === undefined && backfill === undefined) return due;
  return Math.min(schedule.next_due ?? now, now);
}

/** Whether a write would change nothing but the edition. */
function isSame(next: Followed, schedule: Schedule): boolean {
  const isCurrent = next.progress.edition === revisionCount(schedule);
  return isCurrent && canonical(next) === canonical(schedule);
}

/** A schedule with the progress that an engine has made of it. */
type Followed = Schedule & { readonly progress: ScheduleProgress };

function withEdition({ progress, ...schedule }: Followed): Schedule {
  return { ...schedule, progress: { ...progress, edition: revisionCount(schedule) + 1 } };
}
