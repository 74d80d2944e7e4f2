import { z } from 'zod';
import { toProblems, type Problem } from './problems.js';
import { spanSchema } from './span.js';

/** How a job may have ended, each with a limit of its own in `retain`. */
export const endedStatuses = ['succeeded', 'failed', 'cancelled'] as const;
export type EndedStatus = (typeof endedStatuses)[number];

const limits = ['age', 'count'] as const;
const ofRetain = 'must be {succeeded, failed, cancelled}, each {age, count}';
const ofLimit = 'must be {age, count}, or one of them';
const countText = 'must be a number of jobs (a whole number, 0 or more)';

const limitSchema = z
  .looseObject(
    {
      age: z.exactOptional(
        spanSchema.describe(
          'Jobs are removed when they ended longer ago: milliseconds, or ISO 8601 ("P30D"); whole seconds.',
        ),
      ),
      count: z.exactOptional(
        z
          .int({ error: countText })
          .min(0, { error: countText })
          .describe('Number of the newest jobs of the flow, by their end, that stay.'),
      ),
    },
    { error: ofLimit },
  )
  .superRefine((limit, context) => {
    refuseUnknown(limit, limits, context);
    if (limit.age !== undefined || limit.count !== undefined) return;
    const issue = { code: 'custom' as const, message: 'must have "age", "count" or both' };
    if (Object.keys(limit).length === 0) context.addIssue(issue);
  })
  .meta({ additionalProperties: false });

/** `retain` of a flow and of `tws.json`: which jobs that have ended stay. What it does not name stays. */
export const retainSchema = z
  .looseObject(
    {
      succeeded: z.exactOptional(limitSchema.describe('Limits for jobs that succeeded.')),
      failed: z.exactOptional(limitSchema.describe('Limits for jobs that failed.')),
      cancelled: z.exactOptional(limitSchema.describe('Limits for jobs that were cancelled.')),
    },
    { error: ofRetain },
  )
  .superRefine((retain, context) => refuseUnknown(retain, endedStatuses, context))
  .meta({ additionalProperties: false })
  .describe('Which jobs that have ended stay, by status; what it does not name stays.');

export type Retain = z.infer<typeof retainSchema>;
/** At least one of the two; a job that is beyond either is removed. */
export type RetainLimit = z.infer<typeof limitSchema>;

/** A key that nothing reads would keep jobs, or remove them, against the author's will. */
function refuseUnknown(
  value: object,
  known: readonly string[],
  context: z.core.$RefinementCtx<unknown>,
): void {
  for (const key of Object.keys(value).filter((one) => !known.includes(one))) {
    const message = `must be left out: there can be only ${known.join(', ')}`;
    context.addIssue({ code: 'custom', path: [key], message, params: { isComplete: true } });
  }
}

/** `rule` is absent when nothing is written, and when what is written cannot be read. */
export type ReadRetain = { readonly rule?: Retain; readonly problems: readonly Problem[] };

/**
 * Reads the `retain` of a flow as it is stored: a mistake in it never keeps a job of the flow from
 * running, and removes no job. Paths of problems begin with `retain`.
 */
export function readRetain(written: unknown): ReadRetain {
  if (written === undefined) return { problems: [] };
  const document = { retain: written };
  const { data, error } = z.looseObject({ retain: retainSchema }).safeParse(document);
  if (data !== undefined) return { rule: data.retain, problems: [] };
  return { problems: toProblems(error.issues, document) };
}
