import { z } from 'zod';
import { formEvents } from './occasions.js';
import { flagSchema, momentSchema, objectSchema } from './scalars.js';

/** Exit codes of jobs and steps (DESIGN: states). */
export const exits = {
  success: 0,
  timeout: 1,
  failed: 2,
  definition: 3,
  lost: 4,
  refused: 5,
  cancelled: 130,
} as const;

export const phases = ['main', 'error', 'cancel', 'undo', 'callback'] as const;
export type Phase = (typeof phases)[number];

/** Of the flow's own structure, not of what follows a failure or a cancel. */
export function isOfFlow(phase: Phase): boolean {
  return phase === 'main' || phase === 'callback';
}

/** Why something ended badly: `name` is a stable word, `message` one sentence. */
export const failureSchema = z.looseObject({
  name: z.string(),
  message: z.string(),
  code: z.exactOptional(z.union([z.string(), z.number()])),
  step: z.exactOptional(z.string()),
});
export type Failure = z.infer<typeof failureSchema>;

const stepBase = {
  index: z.int(),
  path: z.string(),
  name: z.string(),
  task: z.string(),
  attempt: z.int().min(1),
  run: z.int().min(1),
  phase: z.enum(phases),
  /** The kind of a structure: the entry is no attempt but tells what was found out about a node. */
  structure: z.exactOptional(z.string()),
  /** The ids of the permits that the attempt holds until it ends (`concurrency` of its task). */
  permits: z.exactOptional(z.array(z.string())),
};
/** What the plugin tells while it runs. */
const reported = {
  details: z.exactOptional(z.unknown()),
  progress: z.exactOptional(z.unknown()),
  log: z.exactOptional(z.unknown()),
  reported: z.exactOptional(momentSchema),
  blocked_ms: z.exactOptional(z.number()),
};

/** What a wait asks of people: templates are filled in, and times are epoch ms. */
const formSchema = z.looseObject({
  title: z.exactOptional(z.string()),
  text: z.exactOptional(z.string()),
  /** Users, and roles of users, who may answer; neither: everybody. */
  assignee: z.exactOptional(z.array(z.string())),
  group: z.exactOptional(z.array(z.string())),
  due: z.exactOptional(momentSchema),
  /** The oldest first; `told`: when an engine took it up. */
  timers: z.exactOptional(
    z.array(
      z.looseObject({
        event: z.enum(formEvents),
        at: momentSchema,
        told: z.exactOptional(momentSchema),
      }),
    ),
  ),
  /** Who may answer as well after `escalated`. */
  escalate: z.exactOptional(
    z.looseObject({
      assignee: z.exactOptional(z.array(z.string())),
      group: z.exactOptional(z.array(z.string())),
    }),
  ),
  /** Links by which users may answer without signing in. */
  links: z.exactOptional(
    z.array(z.looseObject({ for: z.string(), hash: z.string(), until: momentSchema })),
  ),
  /** JSON Schema of the answer, until there is one. */
  schema: z.exactOptional(objectSchema),
  /** Fields of the answer that are not shown: nothing but the step has them. */
  concealed: z.exactOptional(z.array(z.string())),
  /** Who answered, when, by which way, and, where that is not who was asked, as what. */
  answered: z.exactOptional(
    z.looseObject({
      by: z.exactOptional(z.string()),
      as: z.exactOptional(z.string()),
      via: z.exactOptional(z.string()),
      at: momentSchema,
    }),
  ),
});
/** What a waiting step asks of people. */
export type StepForm = z.infer<typeof formSchema>;

/** Returns what a stored step asks of people; undefined: nothing, or what nobody can read. */
export function readStepForm({ form }: Readonly<Record<string, unknown>>): StepForm | undefined {
  return form === undefined ? undefined : formSchema.safeParse(form).data;
}

/** Written by one kind of step each: a decision, one that goes on as another job, one that a signal ended. */
const ofKind = {
  /** Of a decision: so much had happened when it began. */
  seen: z.exactOptional(z.int().min(0)),
  continues: z.exactOptional(flagSchema),
  signal_id: z.exactOptional(z.string()),
  /** The event that the wait took. */
  event_id: z.exactOptional(z.string()),
  /** What the sender of that signal is answered, or the step whose result it is. */
  answer: z.exactOptional(z.unknown()),
  answer_by: z.exactOptional(z.string()),
  /** Of a wait for people. */
  form: z.exactOptional(formSchema),
};
/** Of a task with `cache`: where its result is kept, and whose result was used instead. */
const ofCache = {
  cache: z.exactOptional(z.looseObject({ id: z.string(), ttl: z.int() })),
  cached: z.exactOptional(z.looseObject({ job: z.string(), path: z.string(), at: momentSchema })),
};
const claimed = {
  plugin: z.string(),
  plugin_hash: z.exactOptional(z.string()),
  ...ofCache,
  engine: z.string(),
  pid: z.int(),
  claim: z.string(),
  params: objectSchema,
  secrets: z.exactOptional(z.array(z.string())),
  /** The sensitive values that its plugin may ask for. */
  sensitive: z.exactOptional(z.array(z.string())),
  accepted: momentSchema,
  ...ofKind,
};
/** For what a step waits: a child job (`child`), or a signal of that name, perhaps until a time. */
const waits = {
  signal: z.exactOptional(z.string()),
  /** Of a decider that asked for nothing: it waits for a signal after so many. */
  news: z.exactOptional(z.int().min(0)),
  since: z.exactOptional(momentSchema),
  until: z.exactOptional(momentSchema),
  /** The child is there already and goes on: the step waits for the end of this run of it. */
  child_run: z.exactOptional(z.int().min(1)),
  /** The document of the child was deleted; it was made again at this time. */
  remade: z.exactOptional(momentSchema),
  /** The worker that has the step, since when, and when it last asked for more time. */
  worker: z.exactOptional(z.string()),
  leased: z.exactOptional(momentSchema),
  renewed: z.exactOptional(momentSchema),
  /** The signal by which the step was offered: it is offered by that again when it is given back. */
  offer: z.exactOptional(z.string()),
};
/** Of a slice of a map: number of items that failed, and of those among them that were only cancelled. */
const failedItems = {
  failed: z.exactOptional(z.int().min(1)),
  stopped: z.exactOptional(z.int().min(1)),
};
const ended = { end: momentSchema, exit: z.int() };
const maybeClaimed = {
  plugin: z.exactOptional(z.string()),
  plugin_hash: z.exactOptional(z.string()),
  ...ofCache,
  engine: z.exactOptional(z.string()),
  pid: z.exactOptional(z.int()),
  claim: z.exactOptional(z.string()),
  params: z.exactOptional(objectSchema),
  accepted: z.exactOptional(momentSchema),
  secrets: z.exactOptional(z.array(z.string())),
  sensitive: z.exactOptional(z.array(z.string())),
  start: z.exactOptional(momentSchema),
  child: z.exactOptional(z.string()),
  ...ofKind,
};
const failed = {
  ...maybeClaimed,
  ...ended,
  failure: failureSchema,
  due: z.exactOptional(momentSchema),
  ...failedItems,
  ...reported,
};

/** States of a step, in the order in which it may come through them. */
export const stepStates = [
  '$$ready',
  '$$active',
  '$$waiting',
  '$$complete',
  '$$error',
  '$$timeout',
  '$$cancelled',
  '$$skipped',
] as const;

const stepText = `must be one of ${stepStates.join(', ')}`;

/**
 * One attempt of one step, as it is kept in `job.steps`. Appended, never rewritten after it ended.
 * `due` on a failed attempt is when the next one may begin; without it there is none.
 */
export const stepSchema = z.discriminatedUnion(
  'state',
  [
    z.looseObject({ ...stepBase, state: z.literal('$$ready'), ...claimed, ...reported }),
    z.looseObject({
      ...stepBase,
      state: z.literal('$$active'),
      ...claimed,
      start: momentSchema,
      ...reported,
    }),
    z.looseObject({
      ...stepBase,
      state: z.literal('$$waiting'),
      ...maybeClaimed,
      ...waits,
      event: z.exactOptional(z.string()),
      key: z.exactOptional(z.string()),
      ...reported,
    }),
    z.looseObject({
      ...stepBase,
      state: z.literal('$$complete'),
      ...maybeClaimed,
      ...ended,
      result: z.exactOptional(z.unknown()),
      warning: z.exactOptional(failureSchema),
      sets_exit: z.exactOptional(z.int()),
      /** It ended the flow early. */
      finishes: z.exactOptional(flagSchema),
      ...failedItems,
      ...reported,
    }),
    z.looseObject({ ...stepBase, state: z.literal('$$error'), ...failed }),
    z.looseObject({ ...stepBase, state: z.literal('$$timeout'), ...failed }),
    z.looseObject({ ...stepBase, state: z.literal('$$cancelled'), ...failed }),
    z.looseObject({ ...stepBase, state: z.literal('$$skipped'), ...ended }),
  ],
  { error: ({ code }) => (code === 'invalid_union' ? stepText : 'must be a step (an object)') },
);

export type Step = z.infer<typeof stepSchema>;
export type StepIn<S extends Step['state']> = Extract<Step, { state: S }>;
export type LiveStep = StepIn<'$$ready' | '$$active'>;
export type WaitingStep = StepIn<'$$waiting'>;
export type OpenStep = LiveStep | WaitingStep;
export type FailedStep = StepIn<'$$error' | '$$timeout' | '$$cancelled'>;

/** The failure that a handler, an undo task, a callback or the cancel branch follows. */
export type FailureSeen = {
  readonly name: string;
  readonly message: string;
  readonly code: string | number | null;
  /** What the flow's error catalogue calls it: `business` or `technical`. */
  readonly kind: string | null;
  /** Name of the step that failed; null for a cancel and for the timeout of the flow. */
  readonly step: string | null;
  /** The exit of the step, 130 for a cancel. */
  readonly exit: number;
  /** Number of the attempt that failed last. */
  readonly attempt: number | null;
};

/** Claimed, running, or waiting: not ended. */
export function isOpen(step: Step): step is OpenStep {
  return step.state === '$$ready' || step.state === '$$active' || step.state === '$$waiting';
}

/** Claimed or running on an engine right now. */
export function isLive(step: Step): step is LiveStep {
  return step.state === '$$ready' || step.state === '$$active';
}

/** Ended without success. */
export function isFailed(step: Step): step is FailedStep {
  return step.state === '$$error' || step.state === '$$timeout' || step.state === '$$cancelled';
}

/** Whether it was only cancelled: no count of failures in a message includes it. */
export function isStopped({ state }: Pick<Step, 'state'>): boolean {
  return state === '$$cancelled';
}
