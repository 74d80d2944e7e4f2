import { z } from 'zod';
import { momentSchema, textSchema, type Known } from './scalars.js';

/** Ids of removals begin so; what follows is drawn by chance. */
export const removalPrefix = 'removal:';

/** Number of ids in a removal at most. */
export const mostRemoved = 1_000;

/** What retention is about to remove, or has removed: its tombstones are purged later. */
export const removalSchema = z
  .looseObject({
    _id: z.string().startsWith(removalPrefix),
    type: z.literal('removal'),
    at: momentSchema.describe('When they were removed.'),
    ids: z.array(textSchema).describe('The documents; one that is there again stays.'),
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
