import { z } from 'zod';
import { durationSchema, momentSchema, nameSchema, textSchema, type Known } from './scalars.js';
import { spanSchema, writtenSpanMs } from './span.js';

/** The highest limit of a rate. */
const mostInWindow = 100_000;
const limitText = `must be a whole number from 1 to ${mostInWindow}`;
const perText = 'must be a duration of at least 1 ms: milliseconds, or a text such as "1s"';

/** How much of something may begin in every window of time. */
export const rateSchema = z
  .looseObject(
    {
      limit: z
        .int({ error: limitText })
        .min(1, { error: limitText })
        .max(mostInWindow, { error: limitText })
        .describe('How many may begin in every window.'),
      per: z
        .union([durationSchema, z.string()], { error: perText })
        .refine(isWindow, { error: perText })
        .describe('Length of the window: milliseconds, or a text such as "1s".'),
      key: z.exactOptional(
        z
          .string({ error: 'must be a JSONata expression (a string)' })
          .min(1, { error: 'must be a JSONata expression, not empty' })
          .describe('JSONata: each of its values has windows of its own.'),
      ),
      name: z.exactOptional(
        nameSchema.describe('Rates of an owner with the same name share their windows.'),
      ),
    },
    { error: 'must be {limit, per}, with key and name if wanted' },
  )
  .describe('{limit, per, key, name}: how many may begin in every window of time.');

export type RateLimit = Known<z.infer<typeof rateSchema>>;

function isWindow(per: number | string): boolean {
  if (typeof per === 'number') return per >= 1;
  return spanSchema.safeParse(per).success && writtenSpanMs(per) >= 1;
}

/** One that may begin. Older ones are merged: `n` of them, with the latest time. */
export const grantSchema = z.looseObject({
  at: momentSchema.describe('Its stamp, by the clock of the engine that took it.'),
  gen: z.int().min(1).describe('The number of the revision with which it came.'),
  for: z.exactOptional(textSchema.describe('The attempt that has it.')),
  by: z.exactOptional(textSchema.describe('The write with which it came.')),
  grace: z.exactOptional(
    z.number().min(0).describe('So much longer it counts where that is more than usual, ms.'),
  ),
  n: z.exactOptional(z.int().min(1).describe('So many older ones in one; default 1.')),
});

/** A grant, as a document holds it. */
export type Grant = Known<z.infer<typeof grantSchema>>;

/**
 * What has begun, or may, of what a rate limits, as a document that all engines change by
 * compare-and-set only: its id is `rate:<sha256>` of what is limited.
 */
export const rateDocumentSchema = z
  .looseObject({
    _id: z.string().regex(/^rate:/, { error: 'must begin with "rate:"' }),
    type: z.literal('rate'),
    of: textSchema.describe(
      'What is limited: `task "http"`, or the name of the rate, `"outside"`.',
    ),
    owner: z.exactOptional(textSchema.describe('Whose rate it is; a queue has no owner.')),
    value: z.exactOptional(textSchema.describe('The value of its key, as JSON, or a hash.')),
    limit: z.exactOptional(z.number().describe('How many may begin, as was last asked for.')),
    per: z.number().describe('Length of the longest window, ms.'),
    per_at: z.exactOptional(momentSchema.describe('When somebody last asked for that length.')),
    grants: z.array(grantSchema).describe('What was granted and still counts.'),
    born: textSchema.describe('Tells it from a document of the same id before it.'),
    nonce: textSchema.describe('Of the last write: tells its writer that it took place.'),
  })
  .describe('The grants of a rate limit; its id is `rate:<sha256>` of what is limited.');

export type RateDocument = Known<z.infer<typeof rateDocumentSchema>>;

/** Whether an id is one that engines give to such documents: people may call a job "rate:…", too. */
export function isRateId(id: string): boolean {
  return /^rate:[0-9a-f]{64}$/.test(id);
}
