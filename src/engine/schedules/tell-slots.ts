import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { readScheduleProgress, type ScheduleProgress } from '../../model/schedule.js';
import type { ScheduleParts } from './schedule-parts.js';

const none = { started: 0, skipped: 0, missed: 0, recent: [] };

/** Logs and measures what a stored revision of a schedule has decided since the one before. */
export function tellSlots(
  { meters, log, now }: Pick<ScheduleParts, 'meters' | 'log' | 'now'>,
  before: StoredDocument,
  after: StoredDocument,
): void {
  const { _id: schedule } = after;
  const was: Pick<ScheduleProgress, 'started' | 'skipped' | 'missed'> =
    readScheduleProgress(before['progress']) ?? none;
  const is = readScheduleProgress(after['progress']);
  if (is === undefined) return;
  for (const kind of ['started', 'skipped', 'missed'] as const) {
    // A job that the store refused is taken back.
    const count = Math.max(0, is[kind] - was[kind]);
    if (count > 0) meters?.slots?.(kind, count);
  }
  const begun = readScheduleProgress(before['progress'])?.starting ?? [];
  for (const slot of is.starting ?? []) {
    if (!begun.includes(slot)) meters?.slotDelay?.(now() - slot);
  }
  if (is.missed > was.missed) {
    const last = is.recent.findLast(({ kind }) => kind === 'missed');
    log.warn({ schedule }, `Schedule ${schedule}: ${last?.because ?? ''}`);
  }
  const [problem] = problemsOf(after);
  if (problem !== undefined && problem !== problemsOf(before)[0]) {
    log.warn({ schedule }, `Schedule ${schedule} cannot be followed: ${problem}`);
  }
}

function problemsOf({ problems }: StoredDocument): readonly string[] {
  if (!Array.isArray(problems)) return [];
  return problems.map((one: unknown) => (isObject(one) ? String(one['message']) : ''));
}
