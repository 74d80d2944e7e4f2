import { z } from 'zod';
import { textSchema } from './scalars.js';

export const requestActions = ['cancel', 'pause', 'resume'] as const;

/** A wish for a live job, stored as a small document of its own: no race for the job's revision. */
export const requestSchema = z
  .looseObject({
    type: z.literal('request'),
    job: textSchema.describe('Id of the job.'),
    action: z.enum(requestActions, { error: `must be one of ${requestActions.join(', ')}` }),
    by: z.exactOptional(textSchema),
    reason: z.exactOptional(textSchema),
  })
  .describe('A request to a live job: cancel, pause, resume.');

export type RequestAction = (typeof requestActions)[number];
export type JobRequest = z.infer<typeof requestSchema> & { readonly _id: string };
