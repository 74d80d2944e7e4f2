import { z } from 'zod';
import {
  flagSchema,
  momentSchema,
  nameOf,
  nameSchema,
  namesSchema,
  objectSchema,
  paramsSchema,
  queueSchema,
  textSchema,
  askedVersionSchema,
  timeSchema,
  type Known,
} from './scalars.js';
import { factorSchema } from './retry.js';
import { writtenLengthSchema } from './span.js';
import { lockedSchema } from './lock.js';
import { notifySchema } from './notify.js';
import type { Problem } from './problems.js';
import { jobSubjectSchema, locksSchema, targetSchema } from './target.js';
import { keptSignalSchema } from './signal.js';
import { failureSchema, stepSchema, type Failure, type Step } from './step.js';
import type { Structure } from './tree.js';
import { uniqueSchema } from './unique.js';
import type { Flow } from './flow.js';
import { taskSchema, type Task } from './task.js';

export const defaultPriority = 500;

/** The queue of jobs that name none, and of engines that are told none. */
export const defaultQueue = 'default';

const priorityText = 'must be a whole number from 0 (first) to 999 (last)';

/** What users write into a job document; the engine keeps every other key untouched. */
const written = {
  type: z.literal('job'),
  flow: z.exactOptional(nameOf('flow').describe('Name of the flow to run.')),
  flow_version: z.exactOptional(askedVersionSchema),
  owner: z.exactOptional(nameSchema.describe('Owner of the flow; absent means DEFAULT.')),
  params: z.exactOptional(paramsSchema),
  exec_after: z.exactOptional(timeSchema.describe('Not started before this time.')),
  retry_delay: z.exactOptional(
    writtenLengthSchema.describe(
      'Milliseconds before a retry where neither task nor flow says so; default: the setting of the engine.',
    ),
  ),
  retry_factor: z.exactOptional(
    factorSchema.describe('The same for how much longer each further wait is.'),
  ),
  retry_max: z.exactOptional(
    writtenLengthSchema.describe('The same for the longest wait, milliseconds.'),
  ),
  priority: z.exactOptional(
    z
      .int({ error: priorityText })
      .min(0, { error: priorityText })
      .max(999, { error: priorityText })
      .describe('From 0 (first) to 999 (last); default 500.'),
  ),
  queue: z.exactOptional(queueSchema),
  target: z.exactOptional(
    targetSchema.describe(
      'What the job works on: while it has not ended, no other job of its owner with the same target and params begins. {name, scope: "database"}: no job of any owner.',
    ),
  ),
  locks: z.exactOptional(
    locksSchema.describe(
      'Regular expression (RE2): while the job has not ended, no job of its owner begins whose target it matches. {pattern, scope: "database"}: no job of any owner.',
    ),
  ),
  unique: z.exactOptional(uniqueSchema),
  expires: z.exactOptional(timeSchema),
  data: z.exactOptional(
    objectSchema.describe('What the tasks of the job share: any of them may change it.'),
  ),
  ...{ external_id: z.exactOptional(textSchema), subject: z.exactOptional(jobSubjectSchema) },
  keys: z.exactOptional(objectSchema.describe('Values by which jobs are searched.')),
  tags: z.exactOptional(namesSchema.describe('Words for people.')),
  custom_status: z.exactOptional(z.unknown().describe('A status of its own: a short text.')),
  parent: z.exactOptional(
    z.looseObject(
      {
        job: z.string(),
        step: z.string(),
        claim: z.exactOptional(z.string()),
        root: z.exactOptional(z.string()),
        queue: z.exactOptional(queueSchema),
        start: z.exactOptional(momentSchema),
        depth: z.exactOptional(z.int().min(0)),
        told: z.exactOptional(z.int().min(0)),
      },
      { error: 'must be {job, step}' },
    ),
  ),
  schedule: z.exactOptional(z.unknown().describe('Its schedule: {id, name, slot, time}.')),
  started_by: z.exactOptional(z.unknown().describe('What started it, an event for example.')),
  restored: z.exactOptional(z.unknown().describe('Came back from an archive: {at, from}.')),
  paused: z.exactOptional(flagSchema.describe('true: no new step begins.')),
  cancel: z.exactOptional(
    z
      .union(
        [
          z.boolean(),
          z.looseObject({ by: z.exactOptional(textSchema), reason: z.exactOptional(textSchema) }),
        ],
        { error: 'must be true or {by, reason}' },
      )
      .describe('Asks the engine to cancel the job: {by, reason}.'),
  ),
};

/** The fields of a job as it is submitted; what its structure is, is said in src/structures. */
export const newJobFields = {
  ...written,
  tasks: z.exactOptional(z.unknown()),
  notify: z.exactOptional(notifySchema),
};

/** A signal as the job keeps it: `id` is that of the document that brought it. */
export type Signal = z.infer<typeof keptSignalSchema>;

const problemSchema = z.looseObject({ path: z.string(), message: z.string() });

const redoSchema = z.looseObject({ from: z.string(), run: z.int() });

/**
 * What makes a job a slice of the map at `path`, whose list has `total` items. `before` is what its
 * parent had done, and the items for it. `failed`: number of items that failed, with the failure of the
 * first; `stopped`: number of these that were only cancelled. `permits`: those that its parent holds.
 */
export const sliceSchema = z.looseObject({
  path: z.string(),
  total: z.int().min(1),
  before: z.array(stepSchema),
  permits: z.exactOptional(z.array(z.string())),
  failed: z.exactOptional(z.int().min(1)),
  stopped: z.exactOptional(z.int().min(1)),
  failure: z.exactOptional(failureSchema),
});
export type Slice = Known<z.infer<typeof sliceSchema>>;

const running = {
  ...written,
  tasks: z.unknown(),
  start: momentSchema,
  definitions: z.record(z.string(), taskSchema),
  flow_definition: z.unknown(),
  flow_rev: z.exactOptional(z.string()),
  flow_pinned: z.exactOptional(flagSchema),
  steps: z.array(stepSchema, { error: 'must be the list of steps' }),
  run: z.int().min(1),
  first_run: z.exactOptional(z.int().min(1)),
  restarts: z.exactOptional(z.int().min(0)),
  problems: z.exactOptional(z.array(problemSchema)),
  requests: z.exactOptional(z.array(objectSchema)),
  signals: z.exactOptional(z.array(keptSignalSchema)),
  next_due: z.exactOptional(momentSchema),
  resume_at: z.exactOptional(momentSchema),
  held_since: z.exactOptional(momentSchema),
  held_ms: z.exactOptional(z.number()),
  timed_from: z.exactOptional(momentSchema),
  stuck_since: z.exactOptional(momentSchema),
  also_started: z.exactOptional(z.array(z.number())),
  redo: z.exactOptional(z.array(redoSchema)),
  refresh: z.exactOptional(flagSchema),
  refreshed: z.exactOptional(z.int().min(1)),
  locked: z.exactOptional(lockedSchema),
  relock: z.exactOptional(flagSchema),
  slice: z.exactOptional(sliceSchema),
  /** Read where they are needed (`notifiesOf`, `notificationsOf`, `readNotify`): a mistake in them stops no job. */
  notify: z.exactOptional(z.unknown()),
  notifies: z.exactOptional(z.unknown()),
  notifications: z.exactOptional(z.unknown()),
  _attachments: z.exactOptional(objectSchema),
  /** Read where they are needed, too: what people noted, the job that this one goes on from, engines it blocked. */
  notes: z.exactOptional(z.unknown()),
  continued_from: z.exactOptional(z.unknown()),
  continued_start: z.exactOptional(z.unknown()),
  held_up: z.exactOptional(z.unknown()),
};

/** Progress states are `{task}-{n}`; any other text with `$$` is not a state we know. */
const liveStateText = 'must be $$ready, $$paused, {task}-{n}, $$complete or $$cancelled';
const liveState = z
  .string({ error: liveStateText })
  .regex(/^(\$\$ready|\$\$paused|(?!\$\$).+-\d+)$/, { error: liveStateText });

/** What can be said of a job whose state is none: the rest of it cannot be judged. */
export const liveStateSchema = z.looseObject({ type: z.literal('job'), state: liveState });

/** The fields of a job under way. */
export const liveJobFields = { ...running, state: liveState };

/** What is wrong with the `run` of a job with a step of a later one. */
export const lateRunText = 'must be the number of the latest run: a step has a later one';

/** The parts of a job under way that may be long, and what an entry of each must be. */
export const longParts: readonly {
  readonly at: readonly [key: string, below?: string];
  readonly entry: z.ZodType;
  /** An entry is the copy of a document. */
  readonly isDocument?: boolean;
}[] = [
  { at: ['steps'], entry: stepSchema },
  { at: ['slice', 'before'], entry: stepSchema },
  { at: ['definitions'], entry: taskSchema, isDocument: true },
  { at: ['problems'], entry: problemSchema },
  { at: ['requests'], entry: objectSchema },
  { at: ['signals'], entry: keptSignalSchema },
  { at: ['redo'], entry: redoSchema },
  { at: ['also_started'], entry: z.number() },
];

export const finalJobSchema = z.looseObject({
  type: z.literal('job'),
  state: z.enum(['$$complete', '$$cancelled'], { error: liveStateText }),
  /** Read where they are needed (`retry` by `readRetryWish`): a mistake in them must not touch the end. */
  retry: z.exactOptional(z.unknown()),
  retry_refused: z.exactOptional(z.unknown()),
  continued_to: z.exactOptional(z.unknown()),
  end: z.exactOptional(z.unknown()),
  exit: z.exactOptional(z.unknown()),
  result: z.exactOptional(z.unknown()),
  failure: z.exactOptional(z.unknown()),
});

/** Keys that the engines write into a job, or that tell them what it was before. */
export const engineKeys: ReadonlySet<string> = new Set(
  [...Object.keys(running), ...Object.keys(finalJobSchema.shape)].filter(
    (key) => !Object.hasOwn(newJobFields, key),
  ),
);

type Stored = { readonly _id: string; readonly _rev: string };
/** Keys the engine does not know; it keeps them. */
type Unknown = { readonly [key: string]: unknown };

export type NewJob = Omit<z.infer<z.ZodObject<typeof newJobFields>>, 'tasks' | 'notify'> &
  Stored & {
    readonly state?: undefined;
    readonly tasks?: Structure;
    readonly notify?: unknown;
    readonly notifies?: unknown;
  };

/** A flow as the job carries it: everything but its tree, which is `job.tasks`. */
export type FlowSettings = Omit<Flow, 'tasks'>;

export type LiveJob = Omit<
  z.infer<z.ZodObject<typeof liveJobFields>>,
  'tasks' | 'steps' | 'definitions' | 'flow_definition' | 'problems'
> &
  Stored & {
    readonly tasks: Structure;
    readonly steps: readonly Step[];
    readonly definitions: Readonly<Record<string, Task & { readonly _rev?: string }>>;
    readonly flow_definition: FlowSettings;
    readonly problems?: readonly Problem[];
  };

export type FinalJob = Unknown &
  Stored & {
    readonly type: 'job';
    readonly state: '$$complete' | '$$cancelled';
    readonly exit?: number;
    readonly end?: number;
    readonly failure?: Failure;
    readonly result?: unknown;
    readonly steps?: readonly Step[];
  };

/** A job in any moment of its life. `state` tells which. */
export type Job = NewJob | LiveJob | FinalJob;

export function isNew(job: Job): job is NewJob {
  return job.state === undefined;
}

export function isFinal(job: Job): job is FinalJob {
  return job.state === '$$complete' || job.state === '$$cancelled';
}

/** The state of a job that has ended, in a document of any form. */
export function isFinalState(state: unknown): boolean {
  return state === '$$complete' || state === '$$cancelled';
}

/** Initialised and not final. */
export function isLiveJob(job: Job): job is LiveJob {
  return job.state !== undefined && job.state !== '$$complete' && job.state !== '$$cancelled';
}

/** Somebody asks that the job be cancelled. */
export function isCancelRequested({ cancel }: Pick<NewJob | LiveJob, 'cancel'>): boolean {
  return cancel !== undefined && cancel !== false;
}

/** A job that works on some of the items of a map. */
export type SliceJob = LiveJob & { readonly slice: Slice };

export function isSlice(job: LiveJob): job is SliceJob {
  return job.slice !== undefined;
}

/** What a person looks for first, and what comes last; between them the user's own keys, as written. */
const readFirst = [
  '_id',
  '_rev',
  'type',
  'flow',
  'owner',
  'state',
  'exit',
  'failure',
  'result',
  'start',
  'end',
  'next_due',
] as const;
const readLast = [
  'params',
  'steps',
  'signals',
  'requests',
  'problems',
  'locked',
  'run',
  'first_run',
  'refreshed',
  ...(['restarts', 'resume_at'] as const),
  'held_since',
  'stuck_since',
  'held_ms',
  'also_started',
  'tasks',
  ...(['flow_rev', 'flow_version', 'flow_pinned'] as const),
  ...(['retry_delay', 'retry_factor', 'retry_max'] as const),
  'flow_definition',
  'definitions',
  '_attachments',
] as const;

const placed = new Set<string>([...readFirst, ...readLast]);

/** The same job document with its keys in the order in which people read it. */
export function inReadingOrder<T extends Readonly<Record<string, unknown>>>(job: T): T {
  const ordered: Record<string, unknown> = {};
  // A loop over each: there may be very many keys, and lists of pairs take twice as long.
  for (const key of readFirst) if (Object.hasOwn(job, key)) ordered[key] = job[key];
  for (const key of Object.keys(job)) {
    if (key === '__proto__') defineOwn(ordered, key, job[key]);
    else if (!placed.has(key)) ordered[key] = job[key];
  }
  for (const key of readLast) if (Object.hasOwn(job, key)) ordered[key] = job[key];
  return ordered as T;
}

/** An assignment would set the prototype. */
function defineOwn(record: object, key: string, value: unknown): void {
  const how = { enumerable: true, configurable: true, writable: true };
  Object.defineProperty(record, key, { ...how, value });
}
