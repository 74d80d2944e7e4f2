import {
  decideSchedule,
  tellInvalid,
  type ScheduleIntent,
} from '../../decide/schedules/decide-schedule.js';
import type { CancelRequest, SlotJob } from '../../decide/schedules/slot-job.js';
import type { Made, ScheduleWorld } from '../../decide/schedules/schedule-world.js';
import { calendarOf, timingProblems } from '../../evaluate/calendar.js';
import { isFinalState } from '../../model/job.js';
import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { readScheduleProgress, type Schedule } from '../../model/schedule.js';
import { continuationOf } from '../../reading/parent.js';
import { parseDocument } from '../../reading/parse.js';
import { createFollowed, type Followed, type Knowledge, type NextStep } from '../loop/followed.js';
import { makeOnce } from '../loop/make-once.js';
import type { FollowParts } from '../loop/followed-parts.js';
import { tellSlots } from './tell-slots.js';

/** What an engine does about schedules. */
export type Schedules = Followed & {
  /** Wakes the schedule that a job which has ended belongs to, if any. */
  readonly jobEnded: (job: StoredDocument) => void;
};

/** The part of an engine that follows schedules. */
export function createSchedules(parts: FollowParts): Schedules {
  const followed = createFollowed(parts, {
    type: 'schedule',
    ...{ isDeciding, dueBefore },
    knowledgeOf: ({ _id }) => createKnowledge(parts, _id),
    tell: (before, after, because) => {
      parts.log.debug({ schedule: after._id }, because);
      tellSlots(parts, before, after);
    },
  });
  return {
    ...followed,
    jobEnded: ({ schedule }) => {
      if (isObject(schedule) && typeof schedule['id'] === 'string') followed.wake(schedule['id']);
    },
  };
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
    : tellInvalid(doc, now, [...parsed.problems, ...timingProblems(doc)]);
}

/** What was looked up and made for one schedule. */
function createKnowledge(parts: FollowParts, schedule: string): Knowledge {
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
  const look = async (ids: readonly string[]): Promise<void> => {
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
  };
  const make = async (docs: readonly (SlotJob | CancelRequest)[]): Promise<void> => {
    await Promise.all(
      docs.map(async (doc) => {
        const isSame = (it: StoredDocument) => doc.type === 'request' || isOurs(it);
        const result = await makeOnce(parts, doc, { of: 'schedule', isSame });
        if (result === undefined) return;
        made.set(doc._id, result);
        if (result.kind === 'made' && result.isNew) jobs.set(doc._id, 'live');
      }),
    );
  };
  return {
    next: (doc, now): NextStep => {
      const intent = intentOf(doc, now, world);
      switch (intent.kind) {
        case 'rest':
        case 'wait':
          return intent;
        case 'look_up':
          return { kind: 'do', act: () => look(intent.jobs), isShared: true };
        case 'make':
          return {
            kind: 'do',
            act: () => make([...intent.jobs, ...intent.cancels]),
            isShared: false,
          };
        case 'write':
          return { kind: 'write', doc: intent.schedule, because: intent.because };
      }
    },
  };
}
