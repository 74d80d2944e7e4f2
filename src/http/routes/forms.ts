import { z } from 'zod';
import { problemOfAnswer } from '../../client-rules.js';
import { epochMsSchema } from '../../model/summary.js';
import { formFactsOf } from '../../reading/form-facts.js';
import { shownForm } from '../../reading/open-forms.js';
import { ownersFor } from '../access/owners.js';
import { reaches, type Principal } from '../access/principal.js';
import { route } from '../route.js';
import { formFactsSchema } from '../schemas.js';
import {
  answeredTo,
  countParam,
  flagParam,
  idParams,
  jobFor,
  known,
  waiting,
  waitSchema,
} from './common.js';
import { signedBy, whoFields } from './requests.js';

const namesOf = (what: string) => z.array(z.string()).optional().describe(what);
const formSchema = z
  .object({
    job: z.string(),
    flow: z.string(),
    owner: z.string(),
    path: z.string().describe('Path of the step.'),
    step: z.string().describe('Its name.'),
    attempt: z.number(),
    signal: z.string().describe('The signal that brings the answer.'),
    since: epochMsSchema,
    title: z.string().optional(),
    text: z.string().optional(),
    assignee: namesOf('Users who may answer.'),
    group: namesOf('Roles of users who may answer.'),
    due: epochMsSchema.optional(),
    form: z.record(z.string(), z.unknown()).describe('JSON Schema of the answer.'),
  })
  .meta({ id: 'OpenForm' });
const formsSchema = z.array(formSchema);

/** `GET /inbox`: the forms that wait for an answer. */
export const inboxRoute = route({
  method: 'GET',
  path: '/inbox',
  id: 'listInbox',
  tag: 'requests',
  summary: 'The forms that wait for an answer, by when they are due.',
  description: 'Without `for`, `group` and `all`: those that the caller may answer.',
  access: 'viewer',
  query: z.object({
    for: z.string().optional().describe('Only those for this user.'),
    group: z.string().optional().describe('Only those for this role.'),
    all: flagParam.optional().describe('true: those of everybody.'),
    owner: z.string().optional(),
    limit: countParam(1, 1_000).optional().describe('At most this many; default 100.'),
  }),
  answers: {
    200: {
      description: 'What is due first comes first.',
      schema: z
        .object({ forms: formsSchema, more: z.boolean().describe('true: there are others.') })
        .meta({ id: 'Inbox' }),
    },
  },
  problems: ['owner_refused'],
  handle: async ({ api, query: { for: user, group, all, owner, limit }, principal }) => {
    const asker = known({ principal });
    const owners = ownersFor(asker, owner);
    const given = { user, ...(group === undefined ? {} : { groups: [group] }) };
    const isGiven = user !== undefined || group !== undefined || all === true;
    const whose = isGiven ? given : ownForms(asker);
    const { forms, more } = await api.client.inbox({ owners, most: limit, ...whose });
    return { status: 200, body: { forms, more } };
  },
});

/** Of somebody on this machine nobody knows the name. */
function ownForms(asker: Principal) {
  const { kind, roles, level } = asker;
  if (kind === 'local') return {};
  const { by: user } = signedBy({}, asker);
  return { user, groups: roles, anyone: reaches({ level } as Principal, 'operator') };
}

/** `GET /jobs/ID/forms`: those of one job. */
export const formsRoute = route({
  method: 'GET',
  path: '/jobs/{id}/forms',
  id: 'listForms',
  tag: 'requests',
  summary: 'The forms of a job: those that wait for an answer, and what became of all.',
  access: 'viewer',
  params: idParams,
  answers: {
    200: {
      description: 'In the order in which they began.',
      schema: z
        .object({
          forms: formsSchema,
          asked: z
            .array(formFactsSchema)
            .describe('What its steps ask and asked: whom, what is told when, and who answered.'),
        })
        .meta({ id: 'FormsOfJob' }),
    },
  },
  problems: ['document_missing'],
  handle: async ({ api, params: { id }, principal }) => {
    const doc = await jobFor(api, known({ principal }), id);
    const forms = (await api.client.forms(doc)).map(shownForm);
    return { status: 200, body: { forms, asked: formFactsOf(doc) } };
  },
});

/** An engine that runs has taken an answer by then. */
const usualWaitMs = 5_000;

/** `POST /jobs/ID/answer`: answers a form. */
export const answerRoute = route({
  method: 'POST',
  path: '/jobs/{id}/answer',
  id: 'answerForm',
  tag: 'requests',
  summary: 'Answer a form of a job.',
  description:
    'Those who are asked by name or role may answer with the level viewer; what asks everybody takes an operator.',
  access: 'viewer',
  params: idParams,
  query: z.object({
    wait: waitSchema
      .optional()
      .describe('How long to wait for an engine; default 5s, 0: not at all.'),
  }),
  body: {
    schema: z.strictObject({
      step: z.string().optional().describe('Path or name of the step, where several wait.'),
      attempt: z.int().min(1).optional(),
      data: z.unknown().optional().describe('The answer: an object that suits the form.'),
      by: whoFields.by,
      via: z.enum(['page', 'inbox', 'api']).optional().describe('How it is given; default: api.'),
    }),
  },
  answers: {
    200: {
      description: 'The answer is in the job.',
      schema: z
        .object({ signal: z.string(), step: z.string(), outcome: z.literal('answered') })
        .meta({ id: 'FormAnswered' }),
    },
    202: {
      description: 'It is stored; an engine will put it into the job.',
      schema: z
        .object({ signal: z.string(), step: z.string(), outcome: z.literal('stored') })
        .meta({ id: 'FormAnswerStored' }),
    },
  },
  problems: [
    ...(['document_missing', 'job_ended', 'document_conflict', 'signal_refused'] as const),
    'signal_unanswered',
    ...(['form_answered', 'form_missing', 'form_ambiguous'] as const),
    ...(['form_not_asked', 'form_unfit'] as const),
  ],
  handle: async ({ api, params: { id }, query: { wait = usualWaitMs }, body, ...call }) => {
    const { principal, headers, signal: gone } = call;
    const asker = known({ principal });
    await jobFor(api, asker, id);
    const { roles, level } = asker;
    const { step, attempt, data, via = 'api' } = body;
    const may = { isAdmin: level === 'admin', isViewer: !reaches(asker, 'operator') };
    const who = { ...signedBy(body, asker), roles, ...may };
    const given = { job: id, step, attempt, data, via };
    const { form, signal } = await api.client.answerForm({ ...given, ...who });
    const sent = { job: form.job, id: signal };
    const told = await answeredTo({ api, headers, level: 'viewer' }, () =>
      waiting(api, wait, (waitMs) => api.client.answer(sent, { waitMs, signal: gone })),
    );
    // A step that fails by an answer has taken it.
    const refusal = told.kind === 'failed' ? undefined : problemOfAnswer(told, form.job);
    if (refusal !== undefined) throw refusal;
    const about = { signal, step: form.step };
    return told.kind === 'pending'
      ? { status: 202, body: { ...about, outcome: 'stored' } }
      : { status: 200, body: { ...about, outcome: 'answered' } };
  },
});
