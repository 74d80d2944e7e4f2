import { z } from 'zod';
import {
  flagSchema,
  momentSchema,
  nameOf,
  nameSchema,
  namesSchema,
  paramsSchema,
  textSchema,
  timeSchema,
  type Known,
} from './scalars.js';
import { newJobFields } from './job.js';
import { spanSchema, writtenSpanMs } from './span.js';

/** What happens to a slot while a job of the same schedule has not ended. */
export const overlapPolicies = ['skip', 'one', 'all', 'cancel_running'] as const;
export type OverlapPolicy = (typeof overlapPolicies)[number];

/** How many jobs of a backfill run at the same time, unless it says so. */
export const usualAtOnce = 3;

/** How many jobs of a backfill may run at the same time. */
const mostOfBackfill = 100;
/** How many slots or jobs a list of the progress holds. */
const mostListed = 1_000;

const oneOfThem = 'must be the only one of "cron", "every" and "at"';
const noneOfThem = 'must be given, or "every" or "at" in its place';
const mostTimes = 1_000;

/** Characters of a cron expression. */
export const longestCron = 200;
const atText = `must be a list of at most ${mostTimes} times`;
const overlapText = `must be one of ${overlapPolicies.join(', ')}`;
const countText = 'must be a whole number, 1 or more';

const countSchema = z.int({ error: countText }).min(1, { error: countText });

const backfillSchema = z
  .looseObject(
    {
      from: timeSchema,
      until: timeSchema,
      at_once: z.exactOptional(
        countSchema
          .max(mostOfBackfill, { error: `must be at most ${mostOfBackfill}` })
          .describe(
            `Number of its jobs that run at once; default ${usualAtOnce}, at most ${mostOfBackfill}.`,
          ),
      ),
      by: z.exactOptional(textSchema.describe('Who asked for it; its jobs name them.')),
    },
    { error: 'must be {from, until}, with at_once if wanted' },
  )
  .describe(
    '{from, until, at_once}: runs the slots of that period that have no job yet, oldest first.',
  );

/** When a schedule is due, as its author writes it. */
const timing = {
  cron: z.exactOptional(
    textSchema
      .max(longestCron, { error: `must be a cron expression of at most ${longestCron} characters` })
      .describe('Cron expression of 5 or 6 fields (with seconds), or @daily and the like.'),
  ),
  every: z.exactOptional(
    spanSchema.describe(
      'Time from slot to slot (milliseconds, or a text such as "15m"), from "from" or 1970 on.',
    ),
  ),
  offset: z.exactOptional(spanSchema.describe('With "every": moves all slots by this time.')),
  at: z.exactOptional(
    z
      .array(timeSchema, { error: atText })
      .min(1, { error: atText })
      .max(mostTimes, { error: atText })
      .describe('The slots themselves: at most 1000 times.'),
  ),
  time_zone: z.exactOptional(textSchema.describe('IANA time zone of "cron"; default UTC.')),
  from: z.exactOptional(timeSchema.describe('No slot before this time.')),
  until: z.exactOptional(timeSchema.describe('No slot at or after this time.')),
  jitter: z.exactOptional(
    spanSchema.describe(
      'Each job starts up to this time after its slot; the same time on every engine.',
    ),
  ),
};

const momentsSchema = z.array(momentSchema).max(mostListed);
const jobsSchema = namesSchema.max(mostListed);

/** What happened to a slot: `at` is when that was decided (epoch ms). */
const slotRecordSchema = z.looseObject({
  slot: momentSchema,
  at: momentSchema,
  kind: z.enum(['started', 'skipped', 'missed', 'refused', 'backfilled']),
  /** The slots from `slot` until here: of those that were skipped, missed or backfilled together. */
  until: z.exactOptional(momentSchema),
  count: z.exactOptional(z.int().min(1)),
  job: z.exactOptional(textSchema),
  because: z.exactOptional(textSchema),
});
export type SlotRecord = Known<z.infer<typeof slotRecordSchema>>;

const progressSchema = z.looseObject(
  {
    /** The number before the dash of the revision that an engine stored it with; another number means an edit. */
    edition: z.int().min(1),
    /** The timing that it follows, as a canonical text. */
    timing: textSchema,
    /** Slots up to this one are dealt with. */
    handled: momentSchema,
    /** The next slot; absent: there is none. */
    slot: z.exactOptional(momentSchema),
    /** Slots whose jobs are decided, and perhaps not made yet. */
    starting: z.exactOptional(momentsSchema),
    /** Jobs that are to be cancelled before `waiting` starts. */
    cancelling: z.exactOptional(jobsSchema),
    /** The slot that waits for `running` to end. */
    waiting: z.exactOptional(momentSchema),
    /** Jobs that were started and are not known to have ended. */
    running: z.exactOptional(jobsSchema),
    backfill: z.exactOptional(
      z.looseObject({
        /** Of which period it is the progress. */
        of: textSchema,
        /** Slots of it up to this moment are dealt with. */
        handled: momentSchema,
        running: z.exactOptional(jobsSchema),
        started: z.int().min(0),
      }),
    ),
    started: z.int().min(0),
    skipped: z.int().min(0),
    missed: z.int().min(0),
    recent: z.array(slotRecordSchema),
  },
  { error: 'must be left to the engines' },
);
export type ScheduleProgress = Known<z.infer<typeof progressSchema>>;

const { priority, queue, tags, keys } = newJobFields;
/** What each job of a schedule gets unchanged, beside its parameters. */
const handedDown = { priority, queue, tags, keys };

/** A schedule document: the fields of its author, then those that engines write. */
export const scheduleSchema = z
  .looseObject({
    type: z.literal('schedule'),
    name: nameSchema,
    owner: z.exactOptional(nameSchema.describe('Owner of the flow and its jobs; default DEFAULT.')),
    description: z.exactOptional(textSchema.describe('A sentence for people.')),
    flow: nameOf('flow').describe('Name of the flow that each slot runs.'),
    flow_version: newJobFields.flow_version,
    params: z.exactOptional(paramsSchema),
    ...timing,
    count: z.exactOptional(countSchema.describe('Ends after so many jobs.')),
    paused: z.exactOptional(
      flagSchema.describe('true: no slot starts a job; none is made up later.'),
    ),
    overlap: z.exactOptional(
      z
        .enum(overlapPolicies, { error: overlapText })
        .describe(
          'While a job of it runs, a slot is skipped (skip, the default), waits alone (one), starts too (all), or cancels that job first (cancel_running).',
        ),
    ),
    catch_up: z.exactOptional(
      spanSchema.describe(
        'Missed slots up to this age are made up; default: only the latest one, however old.',
      ),
    ),
    backfill: z.exactOptional(backfillSchema),
    ...handedDown,
    next_due: z.exactOptional(momentSchema.describe('When an engine acts next; engines write it.')),
    progress: z.exactOptional(progressSchema.describe('What came of it so far; engines write it.')),
    problems: z.exactOptional(
      z
        .array(z.looseObject({ path: textSchema, message: textSchema }))
        .describe('What is wrong; engines write it.'),
    ),
  })
  .superRefine((schedule, context) => {
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message, params: { isComplete: true } });
    for (const [path, message] of mistakesIn(schedule)) refuse(path, message);
  })
  .describe('A schedule: starts a job of a flow at times.');

type WrittenTiming = Pick<
  Schedule,
  'cron' | 'every' | 'at' | 'offset' | 'time_zone' | 'from' | 'until' | 'backfill'
>;

/** What is wrong with fields beside each other: the field and the end of a sentence. */
function mistakesIn(schedule: WrittenTiming): readonly (readonly [string, string])[] {
  const { cron, every, at, offset, time_zone: zone, from, until, backfill } = schedule;
  const given = [cron, every, at].filter((it) => it !== undefined).length;
  const isOrdered = (a?: number | string, b?: number | string): boolean =>
    a === undefined || b === undefined || momentOf(a) < momentOf(b);
  const found: readonly (readonly [boolean, string, string])[] = [
    [given === 0, 'cron', noneOfThem],
    [given > 1, cron === undefined ? 'at' : 'cron', oneOfThem],
    [every !== undefined && writtenSpanMs(every) < 1_000, 'every', 'must be at least a second'],
    [offset !== undefined && every === undefined, 'offset', 'must be left out without "every"'],
    [zone !== undefined && cron === undefined, 'time_zone', noZone],
    [!isOrdered(from, until), 'until', 'must be later than "from"'],
    [!isOrdered(backfill?.from, backfill?.until), 'backfill', unordered],
    [isEarly(backfill?.from), 'backfill', 'must have a "from" of 1970 or later'],
  ];
  return found.flatMap(([isWrong, path, message]) => (isWrong ? [[path, message] as const] : []));
}

const noZone = 'must be left out without "cron": "every" and "at" name moments';
const unordered = 'must have a "from" that is before its "until"';

function isEarly(time: number | string | undefined): boolean {
  return time !== undefined && momentOf(time) <= 0;
}

/** Returns what a schedule holds as its progress; undefined: it is not valid. */
export function readScheduleProgress(progress: unknown): ScheduleProgress | undefined {
  const read = progressSchema.safeParse(progress);
  return read.success ? read.data : undefined;
}

/** A schedule as it is read; `_rev` is absent while it is only a file. */
export type Schedule = Known<z.infer<typeof scheduleSchema>> & {
  readonly _id: string;
  readonly _rev: string;
};

function momentOf(time: number | string): number {
  return typeof time === 'number' ? time : Date.parse(time);
}

/** The fields that engines write: they stay when the author stores a schedule anew. */
export const scheduleProgressKeys = ['next_due', 'progress', 'problems'] as const;

/** The status of a schedule, for people. */
export const scheduleStatuses = ['new', 'active', 'paused', 'ended', 'invalid'] as const;
export type ScheduleStatus = (typeof scheduleStatuses)[number];

/** What a job of a schedule says of it: `slot` in epoch ms, `time` with the zone of the schedule. */
export type JobSchedule = {
  readonly id: string;
  readonly name: string;
  readonly slot: number;
  readonly time: string;
} & JobCause;

/** That it is no slot that came, and who asked for it. */
export type JobCause = { readonly cause?: 'run' | 'backfill'; readonly by?: string };

/** Returns what the ids of all jobs of a schedule begin with: `schedule:a:b` -> `schedule-run:a:b:`. */
export function slotJobPrefix(schedule: string): string {
  return `schedule-run:${schedule.replace(/^schedule:/, '')}:`;
}

/** Returns the id of the job of a slot (epoch ms): it exists once. */
export function slotJobId(schedule: string, slot: number): string {
  return `${slotJobPrefix(schedule)}${new Date(slot).toISOString().replace('.000Z', 'Z')}`;
}

const idPrefix = 'schedule:';

/** The other id whose schedule gives its jobs the same ids: of `schedule:a` it is `a`, and the other way round. */
export function twinScheduleId(id: string): string {
  return id.startsWith(idPrefix) ? id.slice(idPrefix.length) : `${idPrefix}${id}`;
}

/** Says that a schedule cannot be stored beside its twin, as the end of a sentence. */
export function twinText(twin: string): string {
  return `must be another one: schedule "${twin}" gives its jobs the same ids, so of two slots at the same time one would have no job`;
}
