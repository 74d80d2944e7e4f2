import { LRUCache } from 'lru-cache';
import { rankAmong, turnMs } from '../../decide/compete/ranks.js';
import {
  decideSchedule,
  tellInvalid,
  type ScheduleIntent,
} from '../../decide/schedules/decide-schedule.js';
import type { CancelRequest, SlotJob } from '../../decide/schedules/slot-job.js';
import type { Made, ScheduleWorld } from '../../decide/schedules/schedule-world.js';
import { calendarOf } from '../../evaluate/calendar.js';
import { isFinalState } from '../../model/job.js';
import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { readScheduleProgress, type Schedule } from '../../model/schedule.js';
import { continuationOf } from '../../reading/parent.js';
import { parseDocument } from '../../reading/parse.js';
import { writesBetween } from '../loop/serializer.js';
import { createTimers } from '../waiting/timers.js';
import type { ScheduleParts } from './schedule-parts.js';
import { tellSlots } from './tell-slots.js';
import { resolveLeaves, writeSchedule } from './write-schedule.js';

/** What an engine does about schedules. */
export type Schedules = {
  /** Takes a version; `at`: when it was first seen, epoch ms. One in conflict is resolved. */
  readonly take: (doc: StoredDocument, how?: Taking) => void;
  /** Wakes it at that time (epoch ms). */
  readonly wakeAt: (id: string, at: number) => void;
  /** Wakes the schedule that a job which has ended belongs to, if any. */
  readonly jobEnded: (job: StoredDocument) => void;
  /** The revisions that were seen last, by id. */
  readonly seen: Pick<ReadonlyMap<string, { readonly rev: string }>, 'get'>;
  readonly gone: (id: string) => void;
  /** Forgets all revisions: the database may be another one. */
  readonly forget: () => void;
  readonly stop: () => void;
};

type Taking = { readonly at?: number; readonly conflicted?: true | undefined };

type Seen = { readonly rev: string; readonly at: number };

/** Number of schedules whose last revision is remembered. */
const remembered = 20_000;
/** How long to wait for the revision that won before the schedule is read anew, ms. */
const hearsayMs = 2_000;

/**
 * The part of an engine that follows schedules. The engines are ranked for each schedule as they are for
 * each job: the first acts at once, the others a little later, if nobody has.
 */
export function createSchedules(parts: ScheduleParts): Schedules {
  const { serializer, readDocument, retry, now, ending } = parts;
  const seen = new LRUCache<string, Seen>({ max: remembered });
  const timers = createTimers((id) => wake(id), now, parts.wait);
  const saw = (doc: StoredDocument, at = now()): Seen | 'stale' => {
    const before = seen.get(doc._id);
    if (before?.rev === doc._rev) return before;
    if (before !== undefined && writesBetween(doc._rev, before.rev) > 0) return 'stale';
    const first = { rev: doc._rev, at };
    seen.set(doc._id, first);
    return first;
  };
  const consider = async (doc: StoredDocument, at?: number): Promise<void> => {
    const first = saw(doc, at);
    if (first === 'stale' || ending.signal.aborted) return;
    const later = await follow(parts, doc, first.at, (it) => void saw(it));
    if (later === undefined) return timers.clear(doc._id);
    if (later <= now() + parts.horizonMs()) timers.set(doc._id, later);
  };
  /** Reads the schedule anew and considers it: its time has come, or one of its jobs has ended. */
  const wake = (id: string): void => {
    void serializer.queue(id, async () => {
      if (ending.signal.aborted) return;
      const doc = await retry(() => readDocument(id));
      if (doc?.['type'] === 'schedule') await consider(doc);
    });
  };
  return {
    take: (doc, { at, conflicted } = {}) =>
      void serializer.queue(doc._id, async () => {
        const winner = conflicted === true ? await resolveLeaves(parts, doc._id) : doc;
        if (winner?.['type'] === 'schedule') await consider(winner, at);
      }),
    wakeAt: timers.set,
    jobEnded: ({ schedule }) => {
      if (isObject(schedule) && typeof schedule['id'] === 'string') wake(schedule['id']);
    },
    seen,
    gone: (id) => {
      seen.delete(id);
      timers.clear(id);
    },
    forget: () => seen.clear(),
    stop: timers.stop,
  };
}

/**
 * Does what a schedule asks for until there is nothing more to do. Resolves with the time to look at it
 * again (epoch ms), or undefined: when it changes.
 */
async function follow(
  parts: ScheduleParts,
  given: StoredDocument,
  seenAt: number,
  onWritten: (doc: StoredDocument) => void,
): Promise<number | undefined> {
  const { now, life, ending, peers, self, log } = parts;
  let known = createKnowledge(parts, given._id);
  const turn = turnMs(rankAmong(given._id, peers.alive, self.id));
  let doc = given;
  // An engine that ends makes what it has decided, and decides nothing more.
  while (!life.signal.aborted && !(ending.signal.aborted && !isDeciding(doc))) {
    const intent = intentOf(doc, now(), known.world);
    switch (intent.kind) {
      case 'rest':
        return undefined;
      case 'wait':
        return intent.until;
      case 'look_up':
        await known.look(intent.jobs);
        break;
      case 'make':
      case 'write': {
        // What was written here goes on at once.
        const from = doc === given ? Math.max(seenAt, dueBefore(doc, now())) + turn : 0;
        if (now() < from) return from;
        if (intent.kind === 'make') {
          await known.make([...intent.jobs, ...intent.cancels]);
          break;
        }
        const written = await writeSchedule(parts, intent.schedule);
        if (written === 'refused') return undefined;
        if (written === undefined) return now() + hearsayMs;
        log.debug({ schedule: doc._id }, intent.because);
        tellSlots(parts, doc, written);
        onWritten(written);
        doc = written;
        // Jobs may have ended since they were looked at.
        known = createKnowledge(parts, given._id);
      }
    }
  }
  return undefined;
}

/** Whether jobs are decided that may not be made yet. */
function isDeciding({ progress }: StoredDocument): boolean {
  return (readScheduleProgress(progress)?.starting ?? []).length > 0;
}

/** When there was something to do about it; a time to come is no reason to wait here. */
function dueBefore({ next_due: due }: StoredDocument, now: number): number {
  return typeof due === 'number' && due <= now ? due : 0;
}

function intentOf(doc: StoredDocument, now: number, world: ScheduleWorld): ScheduleIntent {
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'schedule') return { kind: 'rest', because: 'It is no schedule any more.' };
  return parsed.ok
    ? decideSchedule(parsed.value, now, world)
    : tellInvalid(doc, now, parsed.problems);
}

/** What was looked up and made for one schedule. */
function createKnowledge({ store, retry, documentLimit, log }: ScheduleParts, schedule: string) {
  const jobs = new Map<string, 'live' | 'over'>();
  const made = new Map<string, Made>();
  const world: ScheduleWorld = {
    calendarOf: (of: Schedule) => calendarOf(of),
    job: (id) => jobs.get(id) ?? 'unknown',
    made: (id) => made.get(id),
  };
  /** What is there under the id of a job of this schedule: that job, or a document of somebody else. */
  const foundAt = async (id: string): Promise<Made> => {
    const doc = await retry(() => store.get(id));
    const of = doc?.['schedule'];
    const isOurs = doc?.['type'] === 'job' && isObject(of) && of['id'] === schedule;
    if (doc === undefined || isOurs) return { kind: 'made' };
    const reason = 'Another document has the id of this job, and it is none of this schedule.';
    return { kind: 'refused', reason };
  };
  return {
    world,
    look: async (ids: readonly string[]): Promise<void> => {
      // A job may have gone on as another one, and that one, too.
      let names = new Map(ids.map((id) => [id, id]));
      while (names.size > 0) {
        const asked = [...names];
        const found = await retry(() => store.getMany(asked.map(([id]) => id)));
        names = new Map();
        for (const [id, first] of asked) {
          const doc = found?.get(id);
          const next = doc === undefined ? undefined : continuationOf(doc);
          if (next !== undefined) names.set(next, first);
          const isOver = doc === undefined || isFinalState(doc['state']);
          jobs.set(first, isOver && next === undefined ? 'over' : 'live');
        }
      }
    },
    make: async (docs: readonly (SlotJob | CancelRequest)[]): Promise<void> => {
      await Promise.all(
        docs.map(async (doc) => {
          const result = await retry(async () => {
            const stored = await store.write(doc, documentLimit.bytes);
            if (stored.kind === 'unknown') throw new Error(stored.cause);
            return stored;
          });
          if (result === undefined) return;
          const { _id: id } = doc;
          if (result.kind === 'refused') {
            log.warn({ document: id }, `Document ${id} cannot be stored: ${result.reason}`);
            made.set(id, { kind: 'refused', reason: result.reason });
            return;
          }
          // A conflict: it is there already, and may have ended.
          const isThere = result.kind === 'conflict' && doc.type === 'job';
          made.set(id, isThere ? await foundAt(id) : { kind: 'made' });
          if (result.kind === 'written') jobs.set(id, 'live');
        }),
      );
    },
  };
}
