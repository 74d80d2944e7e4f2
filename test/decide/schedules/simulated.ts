import {
  decideSchedule,
  type ScheduleIntent,
} from '../../../src/decide/schedules/decide-schedule.js';
import type { SlotJob } from '../../../src/decide/schedules/slot-job.js';
import type { Made, ScheduleWorld } from '../../../src/decide/schedules/schedule-world.js';
import { calendarOf } from '../../../src/evaluate/calendar.js';
import type { Schedule, ScheduleProgress } from '../../../src/model/schedule.js';

/** A schedule as its author stores it. */
export function scheduleDoc(more: object, rev = '1-a'): Schedule {
  const own = { type: 'schedule', name: 's', owner: 'me', flow: 'f' };
  return { _id: 'schedule:me:s', _rev: rev, ...own, ...more } as Schedule;
}

/** What is in the database beside the schedule. */
export type Stored = {
  /** Jobs that go on; what was made and is not among them has ended. */
  readonly live: Set<string>;
  readonly jobs: Map<string, SlotJob>;
  readonly cancels: Set<string>;
  /** Ids that the store refuses, with the reason. */
  readonly refused: Map<string, string>;
};

export function emptyStore(): Stored {
  return { live: new Set(), jobs: new Map(), cancels: new Set(), refused: new Map() };
}

/** A decision with nothing looked up but what is given. */
export function decideOnce(
  schedule: Schedule,
  now: number,
  world: Partial<ScheduleWorld> = {},
): ScheduleIntent {
  const usual: ScheduleWorld = { calendarOf, job: () => 'unknown', made: () => undefined };
  return decideSchedule(schedule, now, { ...usual, ...world });
}

/** One engine's knowledge during one look at a schedule. */
function createKnown(stored: Stored) {
  const jobs = new Map<string, 'live' | 'over'>();
  const made = new Map<string, Made>();
  const world: ScheduleWorld = {
    calendarOf,
    job: (id) => jobs.get(id) ?? 'unknown',
    made: (id) => made.get(id),
  };
  return {
    world,
    look: (ids: readonly string[]) => {
      for (const id of ids) jobs.set(id, stored.live.has(id) ? 'live' : 'over');
    },
    make: ({ jobs: wanted, cancels }: Extract<ScheduleIntent, { kind: 'make' }>) => {
      for (const job of wanted) {
        const reason = stored.refused.get(job._id);
        if (reason === undefined && !stored.jobs.has(job._id)) {
          stored.jobs.set(job._id, job);
          stored.live.add(job._id);
        }
        made.set(job._id, reason === undefined ? { kind: 'made' } : { kind: 'refused', reason });
        jobs.set(job._id, 'live');
      }
      for (const { _id, job } of cancels) {
        stored.cancels.add(job);
        made.set(_id, { kind: 'made' });
      }
    },
  };
}

/** What an engine did when it was let go on: `end` is undefined when it was stopped before. */
export type Looked = {
  readonly schedule: Schedule;
  readonly end?: Extract<ScheduleIntent, { kind: 'wait' | 'rest' }>;
  readonly effects: number;
};

/**
 * Has one engine look at a schedule until there is nothing more to do, or until it has had so many
 * effects: then it dies.
 */
export function look(given: Schedule, now: number, stored: Stored, most = Infinity): Looked {
  const known = createKnown(stored);
  let schedule = given;
  for (let effects = 0; ;) {
    const intent = decideSchedule(schedule, now, known.world);
    if (intent.kind === 'wait' || intent.kind === 'rest') {
      return { schedule, end: intent, effects };
    }
    if (intent.kind === 'look_up') {
      known.look(intent.jobs);
      continue;
    }
    if (effects === most) return { schedule, effects };
    effects += 1;
    if (effects > 10_000) throw new Error('It does not come to rest.');
    if (intent.kind === 'make') known.make(intent);
    else schedule = written(intent.schedule);
  }
}

/** The revision that a write of the schedule makes. */
export function written(schedule: Schedule): Schedule {
  const count = Number.parseInt(schedule._rev, 10) + 1;
  return { ...schedule, _rev: `${count}-a` };
}

/** The progress of a schedule that an engine has looked at. */
export function progressIn({ progress }: Schedule): ScheduleProgress {
  if (progress === undefined) throw new Error('No engine has looked at it.');
  return progress;
}
