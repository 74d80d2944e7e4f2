import type { ScheduleStatus } from '../model/schedule.js';

/** What a schedule document says of itself, for people: it may be malformed. */
export type WrittenSchedule = Readonly<Record<string, unknown>> & { readonly _rev: string };

/**
 * Returns how a schedule stands. `new`: no engine has read it since it was stored or edited. `ended`: it
 * has no further slot.
 */
export function scheduleStatus(schedule: WrittenSchedule): ScheduleStatus {
  const { _rev: rev, progress, problems, paused, next_due: due } = schedule;
  const { edition } = (progress ?? {}) as { readonly edition?: unknown };
  if (edition !== Number.parseInt(rev, 10)) return 'new';
  if (Array.isArray(problems) && problems.length > 0) return 'invalid';
  if (paused === true) return 'paused';
  return typeof due === 'number' ? 'active' : 'ended';
}
