import { z } from 'zod';
import { endedStatuses } from './retain.js';
import { momentSchema, textSchema, type Known } from './scalars.js';

/** Id of the one document of a database that says who applies `retain` next, and what came of it. */
export const retentionId = 'retention';

const countsSchema = z.record(z.enum(endedStatuses), z.int().min(0));

/** What a pass did: `at` is when it began, the counts are jobs that were not made for another job. */
const lastPassSchema = z.looseObject({
  at: momentSchema,
  ms: z.number().min(0),
  removed: countsSchema,
  kept: z.int().min(0),
  archived: z.exactOptional(z.int().min(0)),
  purged: z.exactOptional(z.int().min(0)),
  compacted: z.exactOptional(z.boolean()),
  failures: z.exactOptional(z.array(textSchema)),
  by: textSchema,
});
export type LastPass = Known<z.infer<typeof lastPassSchema>>;

/**
 * The claim on the next pass. Whoever stores it with `running` has it, until `running.until`: a pass renews
 * it, and after a process that died another one may begin then.
 */
export const retentionSchema = z
  .looseObject({
    _id: z.literal(retentionId),
    type: z.literal('retention'),
    next: momentSchema.describe('No engine begins a pass by itself before this time.'),
    running: z.exactOptional(
      z
        .looseObject({
          by: textSchema,
          since: momentSchema,
          until: momentSchema,
          host: z.exactOptional(textSchema),
          pid: z.exactOptional(z.int()),
        })
        .describe(
          'The pass that runs: {by, since, until, host, pid}; over when "until" has passed, and on its own machine when its process is gone.',
        ),
    ),
    last: z.exactOptional(
      lastPassSchema.describe(
        'The last pass: {at, ms, removed, kept, archived, purged, failures, compacted, by}, jobs by status.',
      ),
    ),
  })
  .describe('Retention: which process removes old jobs next, and what the last pass removed.');
export type RetentionDocument = Known<z.infer<typeof retentionSchema>>;
