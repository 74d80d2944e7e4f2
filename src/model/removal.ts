import { z } from 'zod';
import { momentSchema, textSchema, type Known } from './scalars.js';

/** Ids of removals begin so; a UUID follows. */
export const removalPrefix = 'removal:';

const removalId = /^removal:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Number of documents in a removal at most. */
export const mostRemoved = 1_000;

/** What retention has removed: its tombstones are purged later. */
export const removalSchema = z
  .looseObject({
    _id: z.string().regex(removalId),
    type: z.literal('removal'),
    at: momentSchema.describe('When they were removed.'),
    tombstones: z
      .record(z.string(), textSchema)
      .describe('The revision of the tombstone by the id of its document; no other one is purged.'),
    purging: z.exactOptional(
      z
        .literal(true)
        .describe(
          'A purge has begun: documents that are there again have to be written once more.',
        ),
    ),
  })
  .describe('Removal: documents that retention has removed and whose tombstones it will purge.');
export type RemovalDocument = Known<z.infer<typeof removalSchema>>;
