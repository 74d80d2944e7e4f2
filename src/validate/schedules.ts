import { calendarOf } from '../evaluate/calendar.js';
import { toEpochMs } from '../model/scalars.js';
import type { Schedule } from '../model/schedule.js';
import { parseDocument } from '../reading/parse.js';
import type { CheckedDocument } from './references.js';
import type { FileProblem } from './written.js';

/**
 * What may be wrong with schedules in files: no slot is to come, or each push begins a backfill anew.
 * `now`: epoch ms.
 */
export function scheduleWarnings(
  documents: readonly CheckedDocument[],
  now: number,
): readonly FileProblem[] {
  return documents.flatMap(({ file, doc }) => {
    const parsed = parseDocument({ ...doc, _id: file, _rev: '0-0' });
    if (parsed.kind !== 'schedule' || !parsed.ok) return [];
    const read = calendarOf(parsed.value);
    const isPast = read.ok && read.calendar.next(now) === undefined;
    return [
      ...(isPast ? [{ file, ...whyPast(parsed.value, now) }] : []),
      ...(parsed.value.backfill === undefined ? [] : [{ file, ...backfillAgain }]),
    ];
  });
}

const backfillAgain = {
  path: 'backfill',
  message: 'backfill in a file begins anew with each push; use `tws schedule backfill` instead.',
};

function whyPast({ at, until }: Schedule, now: number): Omit<FileProblem, 'file'> {
  const nothing = 'the schedule starts no job';
  if (until !== undefined && toEpochMs(until) <= now) {
    return { path: 'until', message: `until is in the past, so ${nothing}.` };
  }
  if (at !== undefined && at.every((time) => toEpochMs(time) <= now)) {
    return { path: 'at', message: `at names only times in the past, so ${nothing}.` };
  }
  return { path: 'until', message: `until comes before the next slot, so ${nothing}.` };
}
