import { type Schedule, type ScheduleProgress, type SlotRecord } from '../../model/schedule.js';
import { writtenSpanMs } from '../../model/span.js';
import { idHash } from '../compete/ranks.js';
import type { Calendar, ScheduleWorld } from './schedule-world.js';

/** A schedule in the midst of a decision: `progress` is what the rules so far have made of it. */
export type Standing = {
  readonly schedule: Schedule;
  readonly now: number;
  readonly calendar: Calendar;
  readonly world: ScheduleWorld;
  readonly progress: ScheduleProgress;
};

/** Number of slots that the document keeps a record of. */
export const mostRecent = 20;

/** Adds what happened to a slot to the record; slots that are skipped for one reason share a line. */
export function withSlotRecord(progress: ScheduleProgress, record: SlotRecord): ScheduleProgress {
  const before = progress.recent.slice(0, -1);
  const last = progress.recent.at(-1);
  const isMore = record.kind === 'skipped' && last?.kind === 'skipped';
  const recent =
    isMore && last.because === record.because
      ? [...before, { ...last, until: record.slot, at: record.at, count: (last.count ?? 1) + 1 }]
      : [...progress.recent, record];
  return { ...progress, recent: recent.slice(-mostRecent) };
}

/** Returns when the job of a slot starts: its jitter is the same on every engine. */
export function dueOf({ _id, jitter }: Schedule, slot: number): number {
  if (jitter === undefined) return slot;
  const seconds = writtenSpanMs(jitter) / 1_000 + 1;
  return slot + ((idHash(`${_id} ${slot}`) >>> 0) % seconds) * 1_000;
}

/** Whether it has started as many jobs as its `count` says, the waiting one included. */
export function hasEnded({ schedule, progress }: Pick<Standing, 'schedule' | 'progress'>): boolean {
  const { started, waiting } = progress;
  return started + (waiting === undefined ? 0 : 1) >= (schedule.count ?? Infinity);
}

/** The first number of a revision: how often the document was written. */
export function revisionCount({ _rev }: Pick<Schedule, '_rev'>): number {
  return Number.parseInt(_rev, 10);
}

/** Whether this revision was not written by an engine. */
export function isEdited(schedule: Pick<Schedule, '_rev' | 'progress'>): boolean {
  return schedule.progress?.edition !== revisionCount(schedule);
}

/** Leaves a key out that holds nothing. */
export function withEntries<K extends 'starting' | 'cancelling' | 'running'>(
  progress: ScheduleProgress,
  key: K,
  list: readonly (K extends 'starting' ? number : string)[],
): ScheduleProgress {
  const { [key]: _before, ...rest } = progress;
  return (list.length === 0 ? rest : { ...rest, [key]: list }) as ScheduleProgress;
}
