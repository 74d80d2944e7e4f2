import { z } from 'zod';
import { momentSchema, nameSchema, textSchema } from './scalars.js';
import { spanSchema, writtenSpanMs } from './span.js';

const cacheText = 'must be {key, ttl}';
const keyText = 'must be a JSONata expression (a string)';

/** `cache` of a task: its results are used again. */
export const cacheSchema = z
  .strictObject(
    {
      key: z.exactOptional(
        z
          .string({ error: keyText })
          .describe('JSONata over {params, results, job, step}; default: all parameters.'),
      ),
      ttl: spanSchema
        .refine((span) => writtenSpanMs(span) > 0, { error: 'must be longer than 0' })
        .describe('How long a result is used again.'),
    },
    { error: cacheText },
  )
  .describe('{key, ttl}: a result is used again by steps of this owner whose key is the same.');

/** A result that is kept for other steps, as it is stored. */
export const cachedResultSchema = z
  .looseObject({
    type: z.literal('cached-result'),
    owner: nameSchema.describe('Whose jobs use it.'),
    task: nameSchema.describe('Of which task.'),
    job: textSchema.describe('The job that made it.'),
    path: textSchema.describe('The step of that job.'),
    at: momentSchema.describe('When it was made.'),
    until: momentSchema.describe('Until when it is used.'),
    result: z.exactOptional(z.unknown().describe('The result, or the attachment that holds it.')),
  })
  .describe('A result of a task with "cache"; engines store and remove it.');

export type CachedResultDocument = z.infer<typeof cachedResultSchema>;

/** How the ids of such documents begin. */
export const cachedResultPrefix = 'cached-result:';

/** The attachment that holds a large one. */
export const cachedAttachment = 'result.json';
