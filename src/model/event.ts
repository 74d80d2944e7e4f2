import { z } from 'zod';
import { nameSchema, textSchema } from './scalars.js';

/**
 * Something that happened and that jobs may wait for, stored as a document: it releases every step
 * that waits for its type and key, also one that comes to wait later.
 */
export const eventSchema = z
  .looseObject({
    type: z.literal('event'),
    event: nameSchema.describe('Type of the event, for example "payment".'),
    key: z.exactOptional(textSchema.describe('What it is about, for example an order number.')),
    data: z.exactOptional(z.unknown().describe('Becomes the result of the waiting steps.')),
    /** Read where it is needed (`readTriggered`): a mistake in it holds up no wait. */
    triggered: z.exactOptional(
      z.unknown().describe('The jobs that it started by "on" of flows; engines write it.'),
    ),
  })
  .describe(
    'An event: releases every step that waits for its type and key, and starts jobs of flows by "on".',
  );

export type EventDocument = z.infer<typeof eventSchema>;

/** The telling id of an event document; storing it twice is a conflict, not a second event. */
export function eventId({ type, key }: { readonly type: string; readonly key: string }): string {
  return `event:${type}:${key}`;
}
