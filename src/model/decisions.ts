import { z } from 'zod';
import { retrySchema } from './retry.js';
import { nameSchema, paramsSchema, textSchema } from './scalars.js';
import { writtenLengthSchema } from './span.js';
import { sizes } from './size.js';

/**
 * What a decider answers with: a list of decisions, as in Amazon SWF, under our own words. What is
 * begun has an `id` of the decider's choice, by which later decisions and the history name it.
 */
const idSchema = z
  .string({ error: 'must be an id (a string without ".")' })
  .regex(/^[^.]+$/, { error: 'must be an id without "."' });

const scheduleSchema = z.looseObject({
  schedule: nameSchema.describe('Task to run.'),
  id: z.exactOptional(idSchema),
  params: z.exactOptional(paramsSchema),
  retry: z.exactOptional(retrySchema),
  timeout: z.exactOptional(writtenLengthSchema),
});
const childSchema = z.looseObject({
  start_child: nameSchema.describe('Flow to run as a job of its own.'),
  id: z.exactOptional(idSchema),
  params: z.exactOptional(paramsSchema),
});
const timerSchema = z.looseObject({
  start_timer: z
    .union([writtenLengthSchema, z.string()])
    .describe('Milliseconds, or a time (ISO 8601 with a zone).'),
  id: idSchema,
});
const cancelSchema = z.looseObject({
  cancel: idSchema.describe('Id of an activity, a timer or a child that is to end.'),
});
const markerSchema = z.looseObject({
  record_marker: nameSchema,
  details: z.exactOptional(z.unknown()),
});
const againSchema = z.looseObject({
  continue_as_new: z.union([z.literal(true), paramsSchema]),
});
const completeSchema = z.looseObject({ complete: z.unknown() });
const failSchema = z.looseObject({
  fail: z.union([
    textSchema,
    z.looseObject({ name: z.exactOptional(textSchema), message: textSchema }),
  ]),
});

/** By the key that says what is to be done. */
const schemas = {
  schedule: scheduleSchema,
  start_child: childSchema,
  start_timer: timerSchema,
  cancel: cancelSchema,
  record_marker: markerSchema,
  continue_as_new: againSchema,
  fail: failSchema,
  complete: completeSchema,
};
type Schemas = typeof schemas;
const kinds = Object.keys(schemas) as readonly (keyof Schemas)[];
const noDecision = `must be a decision: ${kinds.map((kind) => `{${kind}}`).join(', ')}`;

export type Decision = z.infer<Schemas[keyof Schemas]>;

/** The decision with which a decider ends. */
export type Ending = Extract<Decision, { complete: unknown } | { continue_as_new: unknown }>;

/** Whether a decision ends its decider. */
export function isEnding(decision: Decision): decision is Ending {
  return 'complete' in decision || 'continue_as_new' in decision;
}

/**
 * Maximum number of decisions in one answer, and in all answers of a decider that has not ended: they
 * are gone through whenever the engine decides about the job.
 */
export const mostInAnswer = sizes.nodes;
export const mostDecisions = 10_000;

/** Words that follow an id in the paths of steps; an id of that name would be taken for them. */
const reserved: ReadonlySet<unknown> = new Set(['undo', 'error', 'continue']);

/** The decisions in what a decider returned, or what is wrong with it. */
type Answered =
  | { readonly ok: true; readonly decisions: readonly Decision[] }
  | { readonly ok: false; readonly reason: string };

/** Answers stay in the job: deciding, its history and its picture read each of them, again and again. */
const known = new WeakMap<object, Answered>();

/** Reads what a decider returned: a decision, a list of them, or nothing (nothing is to be done now). */
export function toDecisions(result: unknown): Answered {
  if (typeof result !== 'object' || result === null) return readDecisions(result);
  const answered = known.get(result) ?? readDecisions(result);
  known.set(result, answered);
  return answered;
}

function readDecisions(result: unknown): Answered {
  const list: readonly unknown[] =
    result === undefined || result === null ? [] : Array.isArray(result) ? result : [result];
  if (list.length > mostDecisions) {
    return { ok: false, reason: `it has ${list.length} decisions, ${mostDecisions} are the most` };
  }
  const decisions: Decision[] = [];
  for (const [i, one] of list.entries()) {
    const { id } = (one ?? {}) as { readonly id?: unknown };
    if (reserved.has(id)) {
      const reason = `decision ${i} has the id "${String(id)}", a word of the engine; choose another id`;
      return { ok: false, reason };
    }
    const decision = toDecision(one);
    if (decision === undefined) return { ok: false, reason: `decision ${i} ${noDecision}` };
    decisions.push(decision);
  }
  return { ok: true, decisions };
}

/** Parses a decision by the schemas of its own keys only, because an answer may hold many decisions. */
function toDecision(one: unknown): Decision | undefined {
  if (typeof one !== 'object' || one === null) return undefined;
  for (const kind of kinds) {
    const parsed = kind in one ? schemas[kind].safeParse(one) : undefined;
    if (parsed?.success === true) return parsed.data;
  }
  return undefined;
}
