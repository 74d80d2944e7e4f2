import { z } from 'zod';
import { isEndedJob, type JobToSubmit } from '../../../client.js';
import { problem, type TwsError } from '../../../errors.js';
import type { StoredDocument } from '../../../model/document.js';
import type { Principal } from '../../access/principal.js';
import type { Api } from '../../api.js';
import { mostDocuments } from '../../../validate/limits.js';
import { answeredTo, idParams, jobFor } from '../../routes/common.js';
import type { Refused } from '../../answers/problems.js';
import { orderedJobOf, type NewJobOptions } from '../../routes/new-job.js';
import { cancelledJob, patienceMs } from '../cancel.js';
import { offerOptions } from '../offers.js';
import { byOf } from '../../routes/requests.js';
import { hindrancesOf } from '../../routes/submit-many.js';
import { traceOf } from '../../routes/jobs.js';
import { waitUntilReady } from '../../feed/wait.js';
import { envelopeOf } from '../envelope.js';
import { jobOfOrder, type Target } from '../order.js';
import { ojsRoute, ownerOfNew } from '../route.js';
import { targetsOf } from '../target.js';
import {
  envelopeSchema,
  jobAnswerSchema,
  orderSchema,
  type Envelope,
  type OjsOrder,
} from '../schemas.js';
import { envelopeOfStep } from '../workflow/step.js';
import { jobOrStep } from '../workflow/find.js';
import { isTerminal, ojsStateOf } from '../states.js';
import { createUuids } from '../uuid.js';

/** Ids of jobs sort as the jobs were enqueued. */
export const nextUuid = createUuids();

const trace = {
  traceparent: 'W3C trace context: the spans of the job will belong to that trace.',
};
const refusals = [
  'document_invalid',
  'document_refused',
  'ojs_type_unknown',
  'ojs_duplicate',
  'not_unique',
  'unique_key',
] as const;

export const enqueueRoute = ojsRoute({
  method: 'POST',
  path: '/v1/jobs',
  id: 'ojsEnqueue',
  summary: 'Enqueue a job.',
  access: 'operator',
  headers: trace,
  body: { schema: orderSchema },
  answers: {
    200: { description: 'The job with the same key ("ignore").', schema: jobAnswerSchema },
    201: {
      description: 'Enqueued.',
      schema: jobAnswerSchema,
      headers: { location: 'Path of the job.' },
    },
  },
  problems: refusals,
  handle: async ({ api, body, headers, who, signal }) => {
    const [enqueued] = await enqueue(api, [body], {
      principal: who,
      trace: traceOf(headers['traceparent']),
      signal,
    });
    if (enqueued === undefined) throw new Error('A job was enqueued and is none.');
    const { job, existing, replaces } = enqueued;
    if (existing) return { status: 200, body: { job: envelopeOf(job, api.now()) } };
    if (replaces !== undefined) await untilEnded(api, replaces, signal);
    const location = `/ojs/v1/jobs/${encodeURIComponent(job._id)}`;
    return { status: 201, body: { job: envelopeOf(job, api.now()) }, headers: { location } };
  },
});

export const enqueueManyRoute = ojsRoute({
  method: 'POST',
  path: '/v1/jobs/batch',
  id: 'ojsEnqueueMany',
  summary: 'Enqueue many jobs; when one is not valid, none.',
  description:
    'All are checked before the first is stored, also whether a unique key is taken, by a stored job or by another one of the batch. What changes while they are stored – the database goes away, another client takes a key – may leave some of them stored with an answer that is an error: give the jobs ids of your own, and send the same ids again, to learn which are there.',
  access: 'operator',
  headers: trace,
  body: { schema: z.object({ jobs: z.array(orderSchema).min(1).max(mostDocuments) }) },
  answers: {
    201: {
      description: 'Enqueued.',
      schema: z
        .object({ jobs: z.array(envelopeSchema), count: z.number() })
        .meta({ id: 'OjsJobsAnswer' }),
    },
  },
  problems: refusals,
  handle: async ({ api, body, headers, who, signal }) => {
    const jobs = await enqueue(api, body.jobs, {
      principal: who,
      trace: traceOf(headers['traceparent']),
      signal,
    });
    const now = api.now();
    return {
      status: 201,
      body: { jobs: jobs.map(({ job }) => envelopeOf(job, now)), count: jobs.length },
    };
  },
});

/** Stores new jobs, all or none as far as they can be judged before. Answers what was stored. */
async function enqueue(
  api: Api,
  orders: readonly OjsOrder[],
  { signal, ...options }: NewJobOptions & { readonly signal: AbortSignal },
): Promise<readonly Enqueued[]> {
  api.hub.attend();
  const owner = ownerOfNew(options.principal);
  const now = api.now();
  const targets = await targetsOf(api, orders, owner);
  const fresh = new Set<string>();
  const jobs = orders.map((order): JobToSubmit & { readonly _id: string } => {
    const target = targets.get(order.type) as Target;
    const id = order.id ?? nextUuid(now);
    if (order.id === undefined) fresh.add(id);
    const made = { ...jobOfOrder(order, { target, owner, id, now }), _id: id };
    return { ...orderedJobOf(made, options), _id: id };
  });
  const [hindrance, conflicts] = await Promise.all([
    hindranceOf(api, jobs, { principal: options.principal, fresh }),
    // A single order is refused by its submit.
    jobs.length > 1 ? api.client.uniqueConflicts(jobs) : new Map(),
    keepSchedules(api, orders, jobs),
  ]);
  if (hindrance !== undefined) throw hindrance;
  const [taken] = conflicts.values();
  if (taken !== undefined) throw taken;
  const ready = await api.client.beginWork(jobs, offerOptions(api));
  const stored = await api.client.submitMany(ready, { signal, fresh });
  return Promise.all(
    stored.map(async (one, i) => {
      if (one.kind === 'refused') throw one.problem;
      const job = ready[i] as JobToSubmit & { readonly _id: string };
      if (one.existing === true) {
        const there = await api.client.get(one.id);
        if (there !== undefined) return { job: there, existing: true, replaces: undefined };
      }
      // Somebody else had the same thought at the same time.
      if (one.existed) throw problem('ojs_duplicate', { id: one.id });
      return { job: { ...job, _rev: one.rev }, existing: false, replaces: one.replaces };
    }),
  );
}

/** With `replace_except_schedule` a job begins when the one that it replaces would have begun. */
async function keepSchedules(
  { client }: Api,
  orders: readonly OjsOrder[],
  jobs: (JobToSubmit & { readonly _id: string })[],
): Promise<void> {
  for (const [i, order] of orders.entries()) {
    const { on_conflict: conflict } = order.unique ?? order.options?.unique ?? {};
    const job = jobs[i];
    if (job === undefined || conflict !== 'replace_except_schedule') continue;
    const after = (await client.uniqueRival(job))?.['exec_after'];
    if (after !== undefined) jobs[i] = { ...job, exec_after: after };
  }
}

/** A job that was enqueued, or the one with the same key; `replaces`: the job that is cancelled for it. */
type Enqueued = {
  readonly job: StoredDocument;
  readonly existing: boolean;
  readonly replaces: string | undefined;
};

/** Waits until a job that is replaced has ended, as far as an engine ends it in time. */
async function untilEnded(api: Api, id: string, signal: AbortSignal): Promise<void> {
  const read = async (): Promise<StoredDocument> =>
    (await api.client.get(id)) ?? { _id: id, _rev: '', state: '$$cancelled' };
  await waitUntilReady({
    ...{ hub: api.hub, id, read, readAgain: read, isReady: isEndedJob },
    ...{ waitMs: replacedMs, signal },
  });
}

/** So long the answer about a job waits for the end of the one that it replaces, ms. */
const replacedMs = 5_000;

/** Why jobs cannot be stored: `ojs_duplicate` for an id that is there, or twice in what was sent. */
async function hindranceOf(
  api: Api,
  jobs: readonly (JobToSubmit & { readonly _id: string })[],
  { principal, fresh }: { readonly principal: Principal; readonly fresh: ReadonlySet<string> },
): Promise<TwsError | Refused | undefined> {
  const ids = jobs.map(({ _id }) => _id).filter((id) => !fresh.has(id));
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  const [there, hindrances] = await Promise.all([
    ids.length === 0 ? new Map<string, StoredDocument>() : api.client.getMany(ids),
    hindrancesOf(api, jobs, principal),
  ]);
  const taken = twice ?? ids.find((id) => there.has(id));
  if (taken !== undefined) return problem('ojs_duplicate', { id: taken });
  const [hindrance] = hindrances.values();
  return hindrance;
}

export const ojsInfoRoute = ojsRoute({
  method: 'GET',
  path: '/v1/jobs/{id}',
  id: 'ojsGetJob',
  summary: 'A job, however it was submitted.',
  access: 'viewer',
  params: idParams,
  answers: { 200: { description: 'The job.', schema: jobAnswerSchema } },
  problems: ['document_missing'],
  handle: async ({ api, params: { id }, who }) => {
    return { status: 200, body: { job: await envelopeBy(api, who, id) } };
  },
});

/** A job, or a step of one by the id that workers know. @throws TwsError `document_missing` */
async function envelopeBy(api: Api, who: Principal, id: string): Promise<Envelope> {
  const { job, step } = await jobOrStep(api, who, id);
  const told = step ? envelopeOfStep(job, id, api.now()) : envelopeOf(job, api.now());
  if (told === undefined) throw problem('document_missing', { id });
  return told;
}

const changedSchema = jobAnswerSchema;
const changed = {
  200: { description: 'It is done.', schema: changedSchema },
  202: { description: 'It is stored; an engine will do it.', schema: changedSchema },
};

/** What asks something of a job. */
const changing = {
  access: 'operator',
  params: idParams,
  answers: changed,
  problems: ['document_missing', 'ojs_state', 'request_refused', 'job_ended'],
} as const;

export const cancelRoute = ojsRoute({
  method: 'DELETE',
  path: '/v1/jobs/{id}',
  id: 'ojsCancel',
  summary: 'Cancel a job that has not ended.',
  ...changing,
  handle: async ({ api, params: { id }, who, headers, signal }) => {
    const { job: before, step } = await jobOrStep(api, who, id);
    if (step) {
      const because = 'cancel the workflow, or the job that it is a step of.';
      throw problem('ojs_unsupported', { what: 'To cancel a step alone', because });
    }
    const state = ojsStateOf(before, api.now());
    if (isTerminal(state)) throw problem('ojs_state', { id, state, goal: 'cancelled' });
    const after = await cancelledJob({ api, headers, signal, who }, before);
    return changedTo(api, isEndedJob(after) ? 200 : 202, after, state);
  },
});

export const activateRoute = ojsRoute({
  method: 'POST',
  path: '/v1/jobs/{id}/activate',
  id: 'ojsActivate',
  summary: 'Let a pending job begin.',
  ...changing,
  handle: async ({ api, params: { id }, who, headers, signal }) => {
    const before = await jobFor(api, who, id);
    const state = ojsStateOf(before, api.now());
    if (state !== 'pending') throw problem('ojs_state', { id, state, goal: 'activated' });
    const asked = { ...byOf({}, who), waitMs: patienceMs, signal };
    const requested = await answeredTo({ api, headers, level: 'operator' }, () =>
      api.client.request(id, 'resume', asked),
    );
    if (requested.kind === 'stored') return changedTo(api, 202, before, state);
    return changedTo(api, 200, requested.job, state);
  },
});

/** The job after something was asked of it, and how it was before. */
function changedTo(api: Api, status: 200 | 202, job: StoredDocument, before: string) {
  const envelope = envelopeOf(job, api.now());
  return { status, body: { job: { ...envelope, previous_state: before } } };
}
