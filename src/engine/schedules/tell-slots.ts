import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { readScheduleProgress, slotJobId, type ScheduleProgress } from '../../model/schedule.js';
import type { FollowParts } from '../loop/followed-parts.js';

type Telling = Pick<FollowParts, 'meters' | 'log' | 'now'>;
type Counts = Pick<ScheduleProgress, 'started' | 'skipped' | 'missed' | 'starting' | 'backfill'>;

const none: Counts = { started: 0, skipped: 0, missed: 0 };

/** Logs and measures what a stored revision of a schedule has decided since the one before. */
export function tellSlots(parts: Telling, before: StoredDocument, after: StoredDocument): void {
  const { log } = parts;
  const { _id: schedule } = after;
  const was = readScheduleProgress(before['progress']) ?? none;
  const is = readScheduleProgress(after['progress']);
  if (is === undefined) return;
  measureSlots(parts, { schedule, was, is });
  if (is.missed > was.missed) {
    const last = is.recent.findLast(({ kind }) => kind === 'missed');
    log.warn({ schedule }, `Schedule ${schedule}: ${String(last?.because)}`);
  }
  const problem = firstProblem(after);
  if (problem !== undefined && problem !== firstProblem(before)) {
    log.warn({ schedule }, `Schedule ${schedule} cannot be followed: ${problem}`);
  }
}

function measureSlots(
  { meters, now }: Telling,
  { schedule, was, is }: { readonly schedule: string; readonly was: Counts; readonly is: Counts },
): void {
  if (meters === undefined) return;
  for (const kind of ['started', 'skipped', 'missed'] as const) {
    // A job that the store refused is taken back.
    if (is[kind] > was[kind]) meters.slots?.(kind, is[kind] - was[kind]);
  }
  // A backfill is late by its nature.
  const late = new Set(is.backfill?.running);
  for (const slot of is.starting ?? []) {
    if (late.has(slotJobId(schedule, slot))) continue;
    if (was.starting?.includes(slot) !== true) meters.slotDelay?.(now() - slot);
  }
}

function firstProblem({ problems }: StoredDocument): string | undefined {
  const first: unknown = Array.isArray(problems) ? problems[0] : undefined;
  return isObject(first) ? String(first['message']) : undefined;
}
