import { z } from 'zod';
import { retrySchema } from './retry.js';
import { durationSchema, nameSchema, paramsSchema, textSchema } from './scalars.js';

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
  timeout: z.exactOptional(durationSchema),
});
const childSchema = z.looseObject({
  start_child: nameSchema.describe('Flow to run as a job of its own.'),
  id: z.exactOptional(idSchema),
  params: z.exactOptional(paramsSchema),
});
const timerSchema = z.looseObject({
  start_timer: z
    .union([durationSchema, z.string()])
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

export const decisionSchema = z.union(
  [
    scheduleSchema,
    childSchema,
    timerSchema,
    cancelSchema,
    markerSchema,
    againSchema,
    failSchema,
    completeSchema.refine((decision) => 'complete' in decision),
  ],
  {
    error:
      'must be a decision: {schedule}, {start_child}, {start_timer}, {cancel}, {record_marker}, {continue_as_new}, {complete} or {fail}',
  },
);
export type Decision = z.infer<typeof decisionSchema>;

/** Words that follow an id in the paths of steps; an id of that name would be taken for them. */
const reserved: ReadonlySet<unknown> = new Set(['undo', 'error', 'continue']);

/** The decisions in what a decider returned, or what is wrong with it. */
export type Answered =
  | { readonly ok: true; readonly decisions: readonly Decision[] }
  | { readonly ok: false; readonly reason: string };

/** Reads what a decider returned: a decision, a list of them, or nothing (nothing is to be done now). */
export function toDecisions(result: unknown): Answered {
  const list =
    result === undefined || result === null ? [] : Array.isArray(result) ? result : [result];
  const decisions: Decision[] = [];
  for (const [i, one] of (list as unknown[]).entries()) {
    const { id } = (one ?? {}) as { readonly id?: unknown };
    if (reserved.has(id)) {
      const reason = `decision ${i} has the id "${String(id)}", a word of the engine; choose another id`;
      return { ok: false, reason };
    }
    const parsed = decisionSchema.safeParse(one);
    if (!parsed.success) {
      const why = parsed.error.issues[0]?.message ?? 'is not a decision';
      return { ok: false, reason: `decision ${i} ${why}` };
    }
    decisions.push(parsed.data);
  }
  return { ok: true, decisions };
}
