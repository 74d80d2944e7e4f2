import { z } from 'zod';
import { archiveSchema, ownArchiveSchema } from './archive.js';
import { toProblems, type Problem } from './problems.js';
import { spanSchema } from './span.js';
import { refuseUnknown } from './unknown-keys.js';

/** How a job may have ended, each with a limit of its own in `retain`. */
export const endedStatuses = ['succeeded', 'failed', 'cancelled'] as const;
export type EndedStatus = (typeof endedStatuses)[number];

const limits = ['age', 'count'] as const;
const retainKeys = [...endedStatuses, 'archive'] as const;
const ofRetain = 'must be {succeeded, failed, cancelled}, each {age, count}, and {archive}';
const ofLimit = 'must be {age, count}, or one of them';
const countText = 'must be a number of jobs (a whole number, 0 or more)';

const limitSchema = z
  .looseObject(
    {
      age: z.exactOptional(
        spanSchema.describe(
          'Jobs are removed when they ended longer ago: milliseconds, or a text such as "30d"; whole seconds.',
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

const retainOf = (archive: typeof archiveSchema) =>
  z
    .looseObject(
      {
        succeeded: z.exactOptional(limitSchema.describe('Limits for jobs that succeeded.')),
        failed: z.exactOptional(limitSchema.describe('Limits for jobs that failed.')),
        cancelled: z.exactOptional(limitSchema.describe('Limits for jobs that were cancelled.')),
        archive: z.exactOptional(archive),
      },
      { error: ofRetain },
    )
    .superRefine((retain, context) => refuseUnknown(retain, retainKeys, context))
    .meta({ additionalProperties: false })
    .describe('Which jobs that have ended stay, by status; what it does not name stays.');

/** `retain` of `tws.json`: which jobs that have ended stay, and where the others are archived. */
export const retainSchema = retainOf(archiveSchema);

/** `retain` of a flow: it may name no place outside the project. */
export const flowRetainSchema = retainOf(ownArchiveSchema);

export type Retain = z.infer<typeof retainSchema>;
/** At least one of the two; a job that is beyond either is removed. */
export type RetainLimit = z.infer<typeof limitSchema>;

/** `rule` is absent when nothing is written, and when what is written cannot be read. */
export type ReadRetain = { readonly rule?: Retain; readonly problems: readonly Problem[] };

/**
 * Reads the `retain` of a flow as it is stored: a mistake in it never keeps a job of the flow from
 * running, and removes no job. Paths of problems begin with `retain`.
 */
export function readRetain(written: unknown): ReadRetain {
  if (written === undefined) return { problems: [] };
  const document = { retain: written };
  const { data, error } = z.looseObject({ retain: flowRetainSchema }).safeParse(document);
  if (data !== undefined) return { rule: data.retain, problems: [] };
  return { problems: toProblems(error.issues, document) };
}
