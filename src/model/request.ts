import { z } from 'zod';
import { toProblems } from './problems.js';
import { askedVersionSchema, flagSchema, paramsSchema, textSchema } from './scalars.js';

export const requestActions = [
  ...(['cancel', 'pause', 'resume', 'retry', 'skip', 'note', 'migrate'] as const),
] as const;

const stepSchema = textSchema.describe('A step, by its name, its <task>-<n> or its path.');

/** A request to a job, stored as a small document of its own: no race for the job's revision. */
export const requestSchema = z
  .looseObject({
    type: z.literal('request'),
    job: textSchema.describe('Id of the job.'),
    action: z
      .enum(requestActions, { error: `must be one of ${requestActions.join(', ')}` })
      .describe('What is asked for.'),
    by: z.exactOptional(textSchema.describe('Who asks for it.')),
    reason: z.exactOptional(textSchema.describe('Why, for the record.')),
    step: z.exactOptional(stepSchema.describe('skip: the step to leave out.')),
    from: z.exactOptional(
      stepSchema.describe(
        'retry: the step or the structure to begin at again; "." is the whole flow.',
      ),
    ),
    params: z.exactOptional(paramsSchema.describe('retry: parameters to change, by step or task.')),
    latest: z.exactOptional(flagSchema.describe('retry: with the definitions as they are now.')),
    text: z.exactOptional(textSchema.describe('note: what is to be remembered.')),
    to: z.exactOptional(
      askedVersionSchema.describe(
        'migrate: the version of the flow; absent: the flow as it is stored now.',
      ),
    ),
  })
  .describe('A request to a job: cancel, pause, resume, retry, skip, note, migrate.');

export type RequestAction = (typeof requestActions)[number];
export type JobRequest = z.infer<typeof requestSchema> & {
  readonly _id: string;
  readonly _rev?: string;
};

/** How a final job goes on, as a request asks or as its key `retry` says. */
export const retryRequestSchema = z
  .union(
    [
      flagSchema,
      z.looseObject({
        from: z.exactOptional(stepSchema),
        params: z.exactOptional(paramsSchema),
        latest: z.exactOptional(flagSchema),
      }),
    ],
    { error: 'must be true or {from, params, latest}' },
  )
  .describe('In a final job: it goes on at the step that failed, or at "from".');

export type RetryRequest = {
  readonly from?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly latest?: boolean;
};

const retrySchema = z.object({ retry: retryRequestSchema });

/** Reads the key `retry` of a final job. `reason`: what is wrong with it. */
export function readRetryRequest(
  retry: unknown,
):
  | { readonly ok: true; readonly request: RetryRequest }
  | { readonly ok: false; readonly reason: string } {
  const parsed = retrySchema.safeParse({ retry });
  if (!parsed.success) {
    const [first] = toProblems(parsed.error.issues, { retry });
    return { ok: false, reason: String(first?.message) };
  }
  const { retry: request } = parsed.data;
  return { ok: true, request: typeof request === 'boolean' ? {} : request };
}
