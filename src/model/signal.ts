import { z } from 'zod';
import { nameSchema, textSchema } from './scalars.js';
import { failureSchema } from './step.js';

/** A message to one job, stored as a small document of its own: no race for the job's revision. */
export const signalDocumentSchema = z
  .looseObject({
    type: z.literal('signal'),
    job: textSchema.describe('Id of the job; it may be stored before the job is.'),
    name: nameSchema.describe('Name of the signal.'),
    data: z.exactOptional(z.unknown().describe('Becomes the result of the waiting step.')),
    failure: z.exactOptional(
      failureSchema.describe('Instead of data: the waiting step fails so, by its retry policy.'),
    ),
    by: z.exactOptional(textSchema.describe('Who sends it.')),
  })
  .describe('A signal to a job: {job, name, data} or {job, name, failure}.');

export type SignalDocument = z.infer<typeof signalDocumentSchema> & {
  readonly _id: string;
  readonly _rev?: string;
};
