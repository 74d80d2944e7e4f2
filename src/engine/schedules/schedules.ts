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
import { createFollowed, type Followed } from '../loop/followed.js';
import { makeOnce } from '../loop/make-once.js';
import { writeFollowed } from '../loop/write-followed.js';
import type { FollowParts } from '../loop/followed-parts.js';
import { tellSlots } from './tell-slots.js';

/** What an engine does about schedules. */
export type Schedules = Followed & {
  /** Wakes the schedule that a job which has ended belongs to, if any. */
  readonly jobEnded: (job: StoredDocument) => void;
};

/** How long to wait for the revision that won before the schedule is read anew, ms. */
const hearsayMs = 2_000;

/**
 * The part of an engine that follows schedules. The engines are ranked for each schedule as they are for
 * each job: the first acts at once, the others a little later, if nobody has.
 */
export function createSchedules(parts: FollowParts): Schedules {
  const followed = createFollowed(parts, 'schedule', (...given) => follow(parts, ...given));
  return {
    ...followed,
    jobEnded: ({ schedule }) => {
      if (isObject(schedule) && typeof schedule['id'] === 'string') followed.wake(schedule['id']);
    },
  };
}

/**
 * Does what a schedule asks for until there is nothing more to do. Resolves with the time to look at it
 * again (epoch ms), or undefined: when it changes.
 */
async function follow(
  parts: FollowParts,
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
        const written = await writeFollowed(parts, 'Schedule', intent.schedule);
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
function createKnowledge(parts: FollowParts, schedule: string) {
  const { store, retry } = parts;
  const jobs = new Map<string, 'live' | 'over'>();
  const made = new Map<string, Made>();
  const world: ScheduleWorld = {
    calendarOf: (of: Schedule) => calendarOf(of),
    job: (id) => jobs.get(id) ?? 'unknown',
    made: (id) => made.get(id),
  };
  /** Whether what is there is the job of this schedule, and not a document of somebody else. */
  const isOurs = ({ type, schedule: of }: StoredDocument): boolean =>
    type === 'job' && isObject(of) && of['id'] === schedule;
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
          const isSame = (it: StoredDocument) => doc.type === 'request' || isOurs(it);
          const result = await makeOnce(parts, doc, { of: 'schedule', isSame });
          if (result === undefined) return;
          made.set(doc._id, result);
          if (result.kind === 'made' && result.isNew) jobs.set(doc._id, 'live');
        }),
      );
    },
  };
}
