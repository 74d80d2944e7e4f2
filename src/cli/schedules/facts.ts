import type { Client, NextSlot } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import {
  readScheduleProgress,
  type ScheduleProgress,
  type ScheduleStatus,
  type SlotRecord,
} from '../../model/schedule.js';
import { writtenSpanMs } from '../../model/span.js';
import { ownerOf } from '../../model/task.js';
import { scheduleStatus } from '../../reading/schedule.js';
import { lengthOf, textOf } from '../../words.js';
import type { Style } from '../io.js';

/** What lists show of a schedule; times in ISO 8601. */
export type ScheduleFacts = {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly flow: string;
  /** Its timing for people: `0 3 * * * Europe/Berlin`, `every 15 min`. */
  readonly when: string;
  readonly status: ScheduleStatus;
  /** Absent: no slot is to come, or it is paused. */
  readonly next?: NextSlotFacts;
  readonly last?: RecordFacts;
};

/** A slot to come. `time`: in the time zone of the schedule; `due`: when its job starts. */
export type NextSlotFacts = { readonly slot: string; readonly due: string; readonly time: string };

/** What happened to a slot, with times in ISO 8601. */
export type RecordFacts = Omit<SlotRecord, 'slot' | 'at' | 'until'> & {
  readonly slot: string;
  readonly at: string;
  readonly until?: string;
};

/** Reads any schedule document, also a malformed one. `now`: epoch ms. */
export async function scheduleFacts(
  client: Pick<Client, 'nextSlots'>,
  doc: StoredDocument,
  now: number,
): Promise<ScheduleFacts> {
  const status = scheduleStatus(doc);
  const [next] = status === 'paused' ? [] : await client.nextSlots(doc, 1, now);
  const last = progressOf(doc)?.recent.at(-1);
  return {
    id: doc._id,
    name: textOf(doc['name']),
    owner: ownerOf(doc),
    flow: textOf(doc['flow']),
    when: timingText(doc),
    status,
    ...(next === undefined ? {} : { next: slotFacts(next) }),
    ...(last === undefined ? {} : { last: recordFacts(last) }),
  };
}

/** Returns a slot to come with its times in ISO 8601. */
export function slotFacts({ slot, due, time }: NextSlot): NextSlotFacts {
  return { slot: isoSecond(slot), due: isoSecond(due), time };
}

/** Returns what happened to a slot with its times in ISO 8601. */
export function recordFacts({ slot, at, until, ...rest }: SlotRecord): RecordFacts {
  const end = until === undefined ? {} : { until: isoSecond(until) };
  return { slot: isoSecond(slot), ...end, at: isoSecond(at), ...rest };
}

/** Returns what engines wrote into a schedule; undefined: nothing yet, or it was changed by hand. */
export function progressOf(doc: StoredDocument): ScheduleProgress | undefined {
  return readScheduleProgress(doc['progress']);
}

/** Returns the timing of a schedule for people; of a malformed one what stands there. */
export function timingText(doc: StoredDocument): string {
  const { cron, every, offset, at, time_zone: zone } = doc;
  if (cron !== undefined) return `${textOf(cron)} ${textOf(zone ?? 'UTC')}`;
  if (every !== undefined) {
    const moved = offset === undefined ? '' : `, offset ${spanText(offset)}`;
    return `every ${spanText(every)}${moved}`;
  }
  if (!Array.isArray(at)) return '-';
  return at.length === 1 ? `at ${textOf(at[0])}` : `at ${at.length} times`;
}

function spanText(span: unknown): string {
  const ms = typeof span === 'number' || typeof span === 'string' ? writtenSpanMs(span) : 0;
  return ms > 0 ? lengthOf(ms) : textOf(span);
}

/** Returns a moment (epoch ms) as ISO 8601 in UTC, without milliseconds where there are none. */
export function isoSecond(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

/** The colour that stands for the status of a schedule. */
export function scheduleColour(status: ScheduleStatus): Style {
  switch (status) {
    case 'active':
      return 'green';
    case 'invalid':
      return 'red';
    case 'paused':
      return 'yellow';
    case 'new':
      return 'cyan';
    case 'ended':
      return 'dim';
  }
}
