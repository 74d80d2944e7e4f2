import { z } from 'zod';

/** A JSON Schema of draft 7 or 2020-12, unchecked. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A name of a task, flow or owner: it becomes part of keys (`name::owner`) and states (`name-3`),
 * and a key of objects, where `__proto__` would not be one.
 */
export const nameSchema = z
  .string({ error: 'must be a name (a string)' })
  .regex(/\S/, { error: 'must be a name, not empty', abort: true })
  .regex(/^[^\p{Cc}\u2028\u2029]+$/u, { error: 'must be a name of one line', abort: true })
  .regex(/^(?!\$\$)/, { error: 'must be a name that does not begin with "$$"', abort: true })
  .regex(/^(?!.*::)/, { error: 'must be a name without "::"', abort: true })
  .regex(/^(?!__proto__$)/, { error: 'must be a name, which "__proto__" cannot be', abort: true })
  .describe('A name: not empty, without "::" and not beginning with "$$".');

/** A name of something that is known: the JSON Schemas tell editors what (`x-names`). */
export const nameOf = (kind: 'task' | 'flow' | 'plugin') => nameSchema.meta({ 'x-names': kind });

/** A queue: engines serve the queues they were started with. */
export const queueSchema = nameSchema.describe(
  'Queue: only engines that serve it run the steps; default "default".',
);

const durationText = 'must be a duration in milliseconds (a whole number, 0 or more)';
/** A hundred years: a time and a few of these together are still a date. */
const longestDurationMs = 3_155_760_000_000;

/** A duration in milliseconds, from 0 to a hundred years. */
export const durationSchema = z
  .int({ error: durationText })
  .min(0, { error: durationText })
  .max(longestDurationMs, { error: 'must be a duration in milliseconds of at most 100 years' })
  .describe('Milliseconds.');

const timeText =
  'must be a time: milliseconds since 1970, or ISO 8601 with a zone ("2026-11-21T10:00:00Z")';
/** Half of what ECMAScript can show as a date, so that durations may be added. */
const lastMoment = 4_320_000_000_000_000;

/** A moment as the engine writes it: epoch milliseconds. */
export const momentSchema = z
  .number({ error: 'must be a time in milliseconds since 1970' })
  .min(0, { error: 'must be a time in milliseconds since 1970' })
  .max(lastMoment, { error: 'must be a time in milliseconds since 1970' });

/** A moment as a user writes it: epoch milliseconds or ISO 8601 with a zone (`2026-11-21T10:00:00Z`). */
export const timeSchema = z
  .union(
    [
      z.int({ error: timeText }).min(0, { error: timeText }).max(lastMoment, { error: timeText }),
      z.iso.datetime({ offset: true, error: timeText }),
      z.iso.datetime({ offset: true, precision: -1, error: timeText }),
    ],
    { error: timeText },
  )
  .describe('Milliseconds since 1970, or ISO 8601 with a zone.');

/** When a job is due that only a signal or an event can wake: later than any time it may name. */
export const neverDue = 4_320_000_000_000_000;

/** Epoch milliseconds of a written time. */
export function toEpochMs(time: number | string): number {
  return typeof time === 'number' ? time : Date.parse(time);
}

export const paramsSchema = z
  .record(z.string(), z.unknown(), { error: 'must be an object of parameters' })
  .describe('Parameters: an object.');

export const flagSchema = z.boolean({ error: 'must be true or false' });

export const textSchema = z.string({ error: 'must be a string' });

export const namesSchema = z.array(textSchema, { error: 'must be a list of strings' });

/** The version of a flow, or the one that is asked for: several documents of one name and owner may differ in it. */
export const versionSchema = z.union([z.string(), z.number().transform(String)], {
  error: 'must be a string or a number',
});

/** The version that is asked for, beside the name of a flow. */
export const askedVersionSchema = versionSchema.describe(
  'Version of the flow; default: the current one.',
);

/** An object of any keys; only that it is one is checked. */
export const objectSchema = z.record(z.string(), z.unknown(), { error: 'must be an object' });

/** JSON Schema given by a user (of parameters): checked by the plugin side, here only an object. */
export const jsonSchemaSchema = objectSchema.describe('A JSON Schema.');

/** The declared keys of a loose object: keys nobody declared are kept in documents but not typed. */
export type Known<T> = { [K in keyof T as string extends K ? never : K]: T[K] };
