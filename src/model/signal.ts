import { z } from 'zod';
import { shownId, unfitId } from './ids.js';
import { momentSchema, nameOf, nameSchema, paramsSchema, textSchema } from './scalars.js';
import { failureSchema } from './step.js';

/** What a signal that answers a form says beside the answer. */
const addressSchema = z.object({
  as: z.exactOptional(
    textSchema.describe('As what that one answers a form: admin, link, or group:NAME.'),
  ),
  step: z.exactOptional(textSchema.describe('Path of the step that it is for; absent: any.')),
  attempt: z.exactOptional(z.int().min(1).describe('The attempt of that step; absent: any.')),
  via: z.exactOptional(
    textSchema.describe('How the answer was given: page, inbox, api or command.'),
  ),
});

const proofSchema = textSchema.describe('Of an answer as "link": what the server adds to it.');

/** A signal as its job keeps it. */
export const keptSignalSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  at: momentSchema,
  data: z.exactOptional(z.unknown()),
  failure: z.exactOptional(failureSchema),
  by: z.exactOptional(textSchema),
  ...addressSchema.shape,
  proof: z.exactOptional(proofSchema),
});

/** The job that a signal starts where there is none of the id that it names. */
export const startSchema = z
  .strictObject(
    {
      flow: nameOf('flow').describe('Name of the flow.'),
      owner: z.exactOptional(nameSchema.describe('Owner of flow and job; default DEFAULT.')),
      params: z.exactOptional(paramsSchema),
    },
    { error: 'must be {flow, owner, params}' },
  )
  .describe('Starts the job with this flow, owner and params where there is none of that id.');

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
    ...addressSchema.shape,
    proof: z.exactOptional(proofSchema),
    start: z.exactOptional(startSchema),
  })
  .superRefine(({ job, start }, context) => {
    const unfit = start === undefined ? undefined : unfitId(job);
    if (unfit === undefined) return;
    const message = `${unfit} where the signal starts it; it is ${shownId(job)}`;
    context.addIssue({ code: 'custom', path: ['job'], message });
  })
  .describe('A signal to a job: {job, name, data} or {job, name, failure}.');

/** What a signal says of the job that it starts. */
export type SignalStart = z.infer<typeof startSchema>;

export type SignalDocument = z.infer<typeof signalDocumentSchema> & {
  readonly _id: string;
  readonly _rev?: string;
};
