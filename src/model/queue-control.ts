import { z } from 'zod';
import { rateSchema } from './rate.js';
import { flagSchema, nameSchema, textSchema, type Known } from './scalars.js';

/**
 * What somebody wants of a queue, as a document that stays. While `paused` is true its jobs begin no
 * step, and workers get nothing from it; what runs goes on.
 */
export const queueControlSchema = z
  .looseObject({
    type: z.literal('queue-control'),
    queue: nameSchema.describe('Name of the queue.'),
    paused: z.exactOptional(flagSchema.describe('true: its jobs begin no step.')),
    rate: z.exactOptional(
      rateSchema.describe(
        '{limit, per, key, name}: how many attempts of its jobs begin in every window.',
      ),
    ),
    reason: z.exactOptional(textSchema.describe('Why, for people.')),
    problems: z.exactOptional(
      z
        .array(z.looseObject({ path: textSchema, message: textSchema }))
        .describe('What is wrong; engines write it.'),
    ),
  })
  .describe('Pauses a queue, or limits how much of it begins.');

export type QueueControl = Known<z.infer<typeof queueControlSchema>> & { readonly _id: string };

/** Returns the id of the control that commands write: `mail` -> `queue-control:mail`. */
export function queueControlId(queue: string): string {
  return `queue-control:${queue}`;
}

/**
 * What counts for each queue of its controls, those with lower ids first: the first one that pauses it, else the
 * first, with the first rate that one of them has.
 */
export function queueWishes(controls: readonly QueueControl[]): ReadonlyMap<string, QueueControl> {
  const byQueue = new Map<string, QueueControl>();
  for (const control of controls) {
    const first = byQueue.get(control.queue);
    const isNews = control.paused === true && first?.paused !== true;
    const counts = first === undefined || isNews ? control : first;
    const rate = first?.rate ?? control.rate;
    byQueue.set(control.queue, rate === undefined ? counts : { ...counts, rate });
  }
  return byQueue;
}
