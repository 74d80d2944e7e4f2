import { z } from 'zod';
import { problemOfAnswer, summaryOf, warningsOfSignal } from '../../client-rules.js';
import type { ProblemCode } from '../../errors.js';
import type { RequestAction } from '../../model/request.js';
import { nameSchema, paramsSchema } from '../../model/scalars.js';
import { startSchema } from '../../model/signal.js';
import type { Principal } from '../access/principal.js';
import type { Api } from '../api.js';
import { refuseDocument } from '../answers/problems.js';
import { withSecretsOf } from '../answers/redact.js';
import { route, type Route } from '../route.js';
import { requestedSchema, warningsSchema } from '../schemas.js';
import { idParams, jobFor, answeredTo, known, waiting, waitSchema } from './common.js';
import { newJobOf, unknownSecret } from './new-job.js';
import { hindrancesOf } from './submit-many.js';

/** Who asks, and why. */
export const whoFields = {
  by: z.string().optional().describe('Who asks, where nobody has to sign in; else it is known.'),
  reason: z.string().optional().describe('Why; it is kept in the job.'),
};
const noteText = z.string().min(1, { error: 'must be a text, not empty' });
const bodies = {
  cancel: z.strictObject(whoFields),
  pause: z.strictObject(whoFields),
  resume: z.strictObject(whoFields),
  retry: z.strictObject({
    ...whoFields,
    from: z
      .string()
      .optional()
      .describe(
        'The step or structure to begin at again: name, <task>-<n> or path; "." is the whole flow.',
      ),
    params: paramsSchema.optional().describe('Parameters to change, by step or task.'),
    latest: z.boolean().optional().describe('true: with the definitions as they are now.'),
  }),
  skip: z.strictObject({ ...whoFields, step: z.string().describe('Name, <task>-<n> or path.') }),
  notes: z.strictObject({ ...whoFields, text: noteText }),
  info: z.strictObject({ ...whoFields, message: noteText }),
};

const answers = {
  200: { description: 'An engine has applied it.', schema: requestedSchema },
  202: { description: 'It is stored; an engine will apply it.', schema: requestedSchema },
};
/** What may stand behind the path of a request to a job. */
export const requestQuery = z.object({
  wait: waitSchema
    .optional()
    .describe('How long to wait for an engine; default 5s, 0: not at all.'),
});

/** How long a request to a job waits for an engine where nothing says so, ms. */
export const usualWaitMs = 5_000;

const summaries = {
  cancel: 'Ask for the end of a job.',
  pause: 'Let no new step of a job begin.',
  resume: 'Let a paused job go on.',
  retry: 'Let a job that has ended go on where it failed, or at a step.',
  skip: 'Leave a step out; it counts as done.',
  notes: 'Note something in a job.',
  info: 'Add a line to what is told about a job.',
} as const;
type Word = keyof typeof summaries;

const actionOf: Readonly<Record<Word, RequestAction>> = {
  cancel: 'cancel',
  pause: 'pause',
  resume: 'resume',
  retry: 'retry',
  skip: 'skip',
  notes: 'note',
  info: 'note',
};

/** Parameters may hold what stands for a secret in answers. */
const invalid: readonly ProblemCode[] = ['document_invalid'];

/** One route for each thing that can be asked of a job. */
export const requestRoutes: readonly Route[] = (Object.keys(summaries) as Word[]).map((word) => {
  const action = actionOf[word];
  const refusals: readonly ProblemCode[] =
    action === 'note' ? [] : ['request_refused', 'job_ended'];
  return route({
    method: 'POST',
    path: `/jobs/{id}/${word}`,
    id: `${word}Job`,
    tag: 'requests',
    summary: summaries[word],
    access: 'operator',
    params: idParams,
    query: requestQuery,
    body: { schema: bodies[word], optional: !['skip', 'notes', 'info'].includes(word) },
    answers,
    problems: ['document_missing', ...refusals, ...(word === 'retry' ? invalid : [])],
    handle: async ({ api, params: { id }, query: { wait = usualWaitMs }, body, ...call }) => {
      const { principal, headers, signal } = call;
      const { params } = body as { params?: Readonly<Record<string, unknown>> };
      const { lost } = withSecretsOf({ ...(params === undefined ? {} : { params }) }, undefined);
      if (lost.length > 0) refuseDocument('request', lost.map(unknownSecret));
      await jobFor(api, known({ principal }), id);
      const { message, ...asked } = body as { message?: string } & Record<string, unknown>;
      const options = {
        ...asked,
        ...(message === undefined ? {} : { text: message }),
        ...byOf(asked, known({ principal })),
        signal,
      };
      const requested = await answeredTo({ api, headers, level: 'operator' }, () =>
        waiting(api, wait, (waitMs) => api.client.request(id, action, { ...options, waitMs })),
      );
      if (requested.kind === 'stored') {
        return { status: 202, body: { outcome: 'stored', request: requested.request } };
      }
      const job = summaryOf(requested.job, api.now());
      const { notice } = requested;
      const noted = notice === undefined ? {} : { notice };
      return { status: 200, body: { outcome: 'applied', job, ...noted } };
    },
  });
});

/** Nobody asks in the name of another. */
export function byOf(
  { by }: { readonly by?: unknown },
  { kind, name }: Principal,
): { by?: string } {
  if (kind !== 'local') return { by: name };
  return typeof by === 'string' ? { by } : {};
}

/** Who signs an answer. A token is nobody who is asked by name, unless that name is `token:NAME`. */
export function signedBy(body: { readonly by?: unknown }, principal: Principal): { by?: string } {
  return principal.kind === 'token' ? { by: `token:${principal.name}` } : byOf(body, principal);
}

export const signalRoute = route({
  method: 'POST',
  path: '/jobs/{id}/signal',
  id: 'signalJob',
  tag: 'requests',
  summary: 'Send a signal to a job; a step that waits for it goes on, now or later.',
  description:
    'With `wait` the request waits for the answer of the flow ("answer" of the step that waits for the signal). Its "schema" may refuse the data.',
  access: 'operator',
  params: idParams,
  query: z.object({
    wait: waitSchema.optional().describe('How long to wait for the answer; default: not at all.'),
  }),
  body: {
    schema: z.strictObject({
      name: nameSchema.describe('Name of the signal.'),
      data: z.unknown().optional().describe('Becomes the result of the waiting step.'),
      id: z
        .string()
        // A colon parts it from the id of the job, which may hold some.
        .regex(/^[\w.~-]{1,200}$/, { error: 'must be letters, digits and . ~ _ -' })
        .optional()
        .describe('The same signal sent again counts once.'),
      by: whoFields.by,
      start: startSchema.optional(),
    }),
  },
  answers: {
    200: {
      description: 'The job has answered.',
      schema: z
        .object({
          signal: z.string(),
          outcome: z.literal('answered'),
          answer: z.unknown().describe('What the flow says; null where it says nothing.'),
        })
        .meta({ id: 'SignalAnswered' }),
    },
    202: {
      description: 'It is stored; an engine will put it into the job. There is no answer yet.',
      schema: z
        .object({ signal: z.string(), warnings: warningsSchema.optional() })
        .meta({ id: 'Signalled' }),
    },
  },
  problems: [
    ...(['document_missing', 'job_ended', 'document_conflict'] as const),
    ...(['document_invalid', 'owner_refused'] as const),
    ...(['signal_refused', 'signal_failed', 'signal_unanswered'] as const),
  ],
  handle: async ({ api, params: { id: job }, query: { wait: waitFor = 0 }, body, ...call }) => {
    const { principal: asker, headers, signal: gone } = call;
    const principal = known({ principal: asker });
    const { name, data, id, start } = body;
    if (start !== undefined) await checkStart(api, { _id: job, ...start }, principal);
    const isThere = start === undefined || (await api.client.get(job)) !== undefined;
    const doc = isThere ? await jobFor(api, principal, job) : undefined;
    const warnings = warningsOfSignal(doc, name);
    const signal = await api.client.signal({
      job,
      name,
      ...(data === undefined ? {} : { data }),
      ...(id === undefined ? {} : { id }),
      ...signedBy(body, principal),
      ...(start === undefined ? {} : { start }),
    });
    if (waitFor > 0) {
      const sent = { job, id: signal };
      const told = await answeredTo({ api, headers, level: 'operator' }, () =>
        waiting(api, waitFor, (waitMs) => api.client.answer(sent, { waitMs, signal: gone })),
      );
      if (told.kind === 'answered') {
        return { status: 200, body: { signal, outcome: told.kind, answer: told.answer } };
      }
      const refusal = problemOfAnswer(told, job);
      if (refusal !== undefined) throw refusal;
    }
    const more = warnings.length === 0 ? {} : { warnings };
    return { status: 202, body: { signal, ...more } };
  },
});

/** Checked also where the job is there: it may be gone when an engine looks for it. */
async function checkStart(api: Api, start: object, principal: Principal): Promise<void> {
  const job = newJobOf(start, { principal });
  const hindrance = (await hindrancesOf(api, [job], principal)).get(job);
  if (hindrance !== undefined) throw hindrance;
}
