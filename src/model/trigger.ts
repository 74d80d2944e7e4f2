import { z } from 'zod';
import { toProblems, type Problem } from './problems.js';
import { momentSchema, nameSchema, textSchema, type Known } from './scalars.js';
import { refuseUnknown } from './unknown-keys.js';

/** What an entry of `on` may say. */
export const triggerKeys = ['event', 'key', 'match', 'params'] as const;
const ofTrigger = 'must be {event, key, match, params}, or a list of such objects';
const expressionText = 'must be a JSONata expression (a string)';
const expressionSchema = z.string({ error: expressionText });
const mostTriggers = 100;

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
          'JSONata over {event}: the parameters of the job, an object; default: none.',
        ),
      ),
    },
    { error: ofTrigger },
  )
  .superRefine((trigger, context) => refuseUnknown(trigger, triggerKeys, context))
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
  .describe('Events that start a job of the flow, once per event: {event, key, match, params}.');

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
  starting: z.exactOptional(z.array(startingSchema)),
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
  | { readonly signal: string }
  | { readonly hook: string; readonly delivery: string; readonly problem?: string };

/** Returns why what started a job could not be followed, if so. */
export function startProblemOf(startedBy: unknown): string | undefined {
  if (typeof startedBy !== 'object' || startedBy === null) return undefined;
  const { problem } = startedBy as { readonly problem?: unknown };
  return typeof problem === 'string' ? problem : undefined;
}
