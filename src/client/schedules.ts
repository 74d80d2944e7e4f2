import { dueOf } from '../decide/schedules/standing.js';
import { slotJob } from '../decide/schedules/slot-job.js';
import { problem, type TwsError } from '../errors.js';
import { calendarOf } from '../evaluate/calendar.js';
import type { StoredDocument } from '../model/document.js';
import type { Problem } from '../model/problems.js';
import { readScheduleProgress, type Schedule } from '../model/schedule.js';
import { parseDocument } from '../reading/parse.js';
import type { Store } from '../store/store.js';
import { submitJob, type Submitted } from './jobs.js';
import { writeDocument } from './writes.js';

/** A slot to come. `due`: when its job starts, which is later where there is a `jitter`. Epoch ms. */
export type NextSlot = { readonly slot: number; readonly due: number; readonly time: string };

/** A change of a schedule that is stored. */
export type ScheduleChange = {
  readonly paused?: boolean;
  /** null: it is called off. */
  readonly backfill?: {
    readonly from: number | string;
    readonly until: number | string;
    readonly at_once?: number;
    readonly by?: string;
  } | null;
};

/** The next slots of a schedule after a moment (epoch ms); none when it cannot be followed. */
export function nextSlots(doc: StoredDocument, count: number, after: number): readonly NextSlot[] {
  const parsed = parseDocument(doc);
  const schedule = parsed.kind === 'schedule' && parsed.ok ? parsed.value : undefined;
  const read = schedule === undefined ? undefined : calendarOf(schedule);
  if (schedule === undefined || read?.ok !== true) return [];
  const { calendar } = read;
  const left = Math.min(count, leftOf(schedule));
  const slots: NextSlot[] = [];
  let from = Math.max(after, schedule.progress?.handled ?? 0);
  while (slots.length < left) {
    const slot = calendar.next(from);
    if (slot === undefined) break;
    // Slots start in their order.
    const due = Math.max(slots.at(-1)?.due ?? 0, dueOf(schedule, slot));
    slots.push({ slot, due, time: calendar.text(slot) });
    from = slot;
  }
  return slots;
}

/** How many jobs a schedule may still start. */
function leftOf({ count = Infinity, progress }: Schedule): number {
  if (progress === undefined) return count;
  return count - progress.started - (progress.waiting === undefined ? 0 : 1);
}

/** A pause counts from now on, also when no engine sees it before it ends. */
function withoutNextSlot<T extends object>(doc: T): T {
  const progress = readScheduleProgress('progress' in doc ? doc.progress : undefined);
  if (progress === undefined) return doc;
  const { slot: _slot, ...rest } = progress;
  return { ...doc, progress: rest };
}

/** How often a change is made anew when an engine was faster. */
const mostTries = 10;

/**
 * Changes a schedule on the revision that was read; engines follow it from then on. Resolves with the
 * document as it is stored now. @throws TwsError `document_missing`, `document_kind`, `document_invalid`
 */
export async function changeSchedule(
  store: Store,
  id: string,
  change: ScheduleChange,
): Promise<StoredDocument> {
  for (let tries = 1; ; tries += 1) {
    const doc = await scheduleDocument(store, id);
    const { paused: _paused, backfill: _backfill, ...rest } = { ...doc, ...change };
    const { paused = doc['paused'], backfill = doc['backfill'] } = change;
    const next = {
      ...(paused === true ? withoutNextSlot(rest) : rest),
      ...(paused === true ? { paused } : {}),
      ...(backfill === undefined || backfill === null ? {} : { backfill }),
    };
    refuseInvalid(next);
    try {
      const rev = await writeDocument(store, next);
      return { ...next, _rev: rev };
    } catch (error) {
      const isLost = (error as { readonly code?: unknown }).code === 'document_conflict';
      if (!isLost || tries === mostTries) throw error;
    }
  }
}

/** Submits a job of a schedule now, beside its slots. @throws TwsError as `changeSchedule` */
export async function runSchedule(
  store: Store,
  id: string,
  now: number,
  by?: string,
): Promise<Submitted> {
  const doc = await scheduleDocument(store, id);
  const schedule = refuseInvalid(doc);
  const read = calendarOf(schedule);
  if (!read.ok) throw invalidSchedule(read.problems);
  // Slots fall on whole seconds: this is none of them, and has a job of its own.
  const moment = now % 1_000 === 0 ? now + 1 : now;
  const cause = { cause: 'run', ...(by === undefined ? {} : { by }) } as const;
  return submitJob(store, slotJob(schedule, moment, read.calendar, cause));
}

async function scheduleDocument(store: Store, id: string): Promise<StoredDocument> {
  const doc = await store.get(id);
  if (doc === undefined) throw problem('document_missing', { id });
  if (doc['type'] === 'schedule') return doc;
  throw problem('document_kind', { id, kind: String(doc['type']), wanted: 'schedule' });
}

function refuseInvalid(doc: StoredDocument): Schedule {
  const parsed = parseDocument(doc);
  if (parsed.kind === 'schedule' && parsed.ok) return parsed.value;
  throw invalidSchedule(parsed.kind === 'schedule' && !parsed.ok ? parsed.problems : []);
}

function invalidSchedule(problems: readonly Problem[]): TwsError {
  const [first] = problems;
  const found = { kind: 'schedule', first: String(first?.message), more: problems.length - 1 };
  return problem('document_invalid', found);
}
