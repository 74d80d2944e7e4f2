import { z } from 'zod';
import { toProblems, type Problem } from './problems.js';
import { joiningSchema } from './gathering.js';
import { momentSchema, nameSchema, textSchema, type Known } from './scalars.js';
import { spanSchema, writtenSpanMs } from './span.js';
import { refuseUnknown } from './unknown-keys.js';

/** What an entry of `on` may say. */
export const triggerKeys = ['event', 'key', 'match', 'params', 'debounce', 'batch'] as const;
const ofTrigger = 'must be {event, key, match, params, debounce, batch}, or a list of such objects';
const expressionText = 'must be a JSONata expression (a string)';
const expressionSchema = z.string({ error: expressionText });
const mostTriggers = 100;

/** Number of events that one job is started for at most. */
export const mostGathered = 1_000;

const debounceKeys = ['period', 'key', 'max'] as const;
const batchKeys = ['size', 'period', 'key'] as const;
const sizeText = `must be a number of events (a whole number from 1 to ${mostGathered})`;

const periodSchema = spanSchema.refine((span) => writtenSpanMs(span) > 0, {
  error: 'must be longer than 0',
});
const groupSchema = expressionSchema.describe(
  'JSONata over {event}: events are gathered apart for each value; default: all together.',
);

const debounceSchema = z
  .looseObject(
    {
      period: periodSchema.describe('The job starts so long after the last event.'),
      key: z.exactOptional(groupSchema),
      max: z.exactOptional(
        periodSchema.describe('The job starts at the latest so long after the first event.'),
      ),
    },
    { error: 'must be {period, key, max}' },
  )
  .superRefine((debounce, context) => {
    refuseUnknown(debounce, debounceKeys, context);
    const { period, max } = debounce;
    if (max === undefined || writtenSpanMs(max) >= writtenSpanMs(period)) return;
    const message = 'must not be shorter than "period"';
    context.addIssue({ code: 'custom', path: ['max'], message, params: { isComplete: true } });
  })
  .meta({ additionalProperties: false })
  .describe('{period, key, max}: one job for events that follow each other within "period".');

const batchSchema = z
  .looseObject(
    {
      size: z
        .int({ error: sizeText })
        .min(1, { error: sizeText })
        .max(mostGathered, { error: sizeText })
        .describe(`The job starts when so many events are gathered; at most ${mostGathered}.`),
      period: periodSchema.describe('The job starts at the latest so long after the first event.'),
      key: z.exactOptional(groupSchema),
    },
    { error: 'must be {size, period, key}' },
  )
  .superRefine((batch, context) => refuseUnknown(batch, batchKeys, context))
  .meta({ additionalProperties: false })
  .describe('{size, period, key}: one job for up to "size" events.');

const triggerSchema = z
  .looseObject(
    {
      event: nameSchema.describe('Type of the event that starts a job.'),
      key: z.exactOptional(textSchema.describe('Only events with this key; default: any key.')),
      match: z.exactOptional(
        expressionSchema.describe('JSONata over {event}: only events for which it holds.'),
      ),
      params: z.exactOptional(
        expressionSchema.describe(
          'JSONata over {event}, with "debounce" or "batch" also {events}: the parameters of the job, an object; default: none.',
        ),
      ),
      debounce: z.exactOptional(debounceSchema),
      batch: z.exactOptional(batchSchema),
    },
    { error: ofTrigger },
  )
  .superRefine((trigger, context) => {
    refuseUnknown(trigger, triggerKeys, context);
    if (trigger.debounce === undefined || trigger.batch === undefined) return;
    const message = 'must be left out beside "debounce": a trigger can have only one of them';
    context.addIssue({ code: 'custom', path: ['batch'], message, params: { isComplete: true } });
  })
  .meta({ additionalProperties: false });

/** `on` of a flow: the events that start a job of it. */
export const onSchema = z
  .union(
    [
      triggerSchema,
      z
        .array(triggerSchema, { error: ofTrigger })
        .max(mostTriggers, { error: `must be a list of at most ${mostTriggers} triggers` }),
    ],
    { error: ofTrigger },
  )
  .describe(
    'Events that start a job of the flow, once per event: {event, key, match, params, debounce, batch}.',
  );

/** One entry of `on`. */
export type Trigger = Known<z.infer<typeof triggerSchema>>;

/** The entries of `on`; none when what is written cannot be read. */
export type ReadOn = {
  readonly triggers: readonly Trigger[];
  readonly problems: readonly Problem[];
};

/**
 * Reads the `on` of a flow as it is stored: a mistake in it never keeps a job of the flow from running,
 * and starts none. Paths of problems begin with `on`.
 */
export function readOn(written: unknown): ReadOn {
  if (written === undefined) return { triggers: [], problems: [] };
  // Of a union nobody learns which part is wrong.
  const schema = Array.isArray(written) ? onSchema.options[1] : triggerSchema;
  const document = { on: written };
  const { data, error } = z.looseObject({ on: schema }).safeParse(document);
  if (data === undefined) return { triggers: [], problems: toProblems(error.issues, document) };
  const { on } = data as { readonly on: Trigger | readonly Trigger[] };
  return { triggers: Array.isArray(on) ? on : [on as Trigger], problems: [] };
}

/** A job that an event starts, as the event keeps it until the job is made. */
const startingSchema = z.looseObject({
  job: textSchema,
  flow: nameSchema,
  owner: nameSchema,
  /** Which entry of `on`, from 0. */
  entry: z.int().min(0),
  params: z.exactOptional(z.unknown()),
  /** Why the entry cannot be followed: the job ends with it. */
  problem: z.exactOptional(textSchema),
});
/** A job that is decided and perhaps not made yet. */
export type StartingJob = Known<z.infer<typeof startingSchema>>;

const triggeredSchema = z.looseObject({
  /** When it was decided which jobs the event starts. */
  at: momentSchema,
  /** When its life ends (epoch ms): it releases no wait from then on, and retention removes it. */
  until: z.exactOptional(momentSchema),
  starting: z.exactOptional(z.array(startingSchema)),
  /** What gathers it until a job starts, and may not have taken it yet. */
  gathering: z.exactOptional(z.array(joiningSchema)),
  /** What has taken it, and takes it anew should it be lost there. */
  gathered: z.exactOptional(z.array(joiningSchema)),
  started: z.exactOptional(z.array(textSchema)),
  refused: z.exactOptional(z.array(z.looseObject({ flow: textSchema, because: textSchema }))),
});

/** What an event has started; engines write it. */
export type Triggered = Known<z.infer<typeof triggeredSchema>>;

/** Returns what an event says of the jobs that it starts; undefined: it is not decided. */
export function readTriggered(written: unknown): Triggered | 'unreadable' | undefined {
  if (written === undefined) return undefined;
  return triggeredSchema.safeParse(written).data ?? 'unreadable';
}

/** What started a job, where no person or program submitted it. */
export type StartCause =
  | { readonly event: string; readonly entry: number; readonly problem?: string }
  | {
      readonly gathering: string;
      readonly entry: number;
      readonly key?: string;
      readonly events: readonly string[];
      readonly problem?: string;
    }
  | { readonly signal: string }
  | { readonly hook: string; readonly delivery: string; readonly problem?: string };

/** Returns why what started a job could not be followed, if so. */
export function startProblemOf(startedBy: unknown): string | undefined {
  if (typeof startedBy !== 'object' || startedBy === null) return undefined;
  const { problem } = startedBy as { readonly problem?: unknown };
  return typeof problem === 'string' ? problem : undefined;
}
