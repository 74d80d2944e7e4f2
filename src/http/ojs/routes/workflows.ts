import { problem } from '../../../errors.js';
import { isEndedJob } from '../../../client.js';
import type { StoredDocument } from '../../../model/document.js';
import type { Principal } from '../../access/principal.js';
import type { Api } from '../../api.js';
import { idParams, jobFor } from '../../routes/common.js';
import { newJobOf } from '../../routes/new-job.js';
import { hindrancesOf } from '../../routes/submit-many.js';
import { traceOf } from '../../routes/jobs.js';
import type { Target } from '../order.js';
import { ojsRoute, ownerOfNew } from '../route.js';
import { workflowIn, workflowOf } from '../workflow/answer.js';
import { workflowId } from '../workflow/ids.js';
import { jobOfWorkflow, typesIn } from '../workflow/order.js';
import { workflowAnswerSchema, workflowSchema } from '../workflow/schemas.js';
import { cancelledJob } from '../cancel.js';
import { offerOptions } from '../offers.js';
import { targetOfType } from '../target.js';
import { nextUuid } from './jobs.js';

export const makeWorkflowRoute = ojsRoute({
  method: 'POST',
  path: '/v1/workflows',
  id: 'ojsMakeWorkflow',
  summary:
    'Make a workflow, and begin it: a chain, a group, a batch, or steps that depend on others.',
  description:
    'It is one job, whose steps are the jobs of the workflow. Its depth is limited as that of flows is.',
  access: 'operator',
  headers: { traceparent: 'W3C trace context: the spans of the job will belong to that trace.' },
  body: { schema: workflowSchema },
  answers: {
    201: {
      description: 'It is made.',
      schema: workflowAnswerSchema,
      headers: { location: 'Path of the workflow.' },
    },
  },
  problems: ['document_invalid', 'document_refused', 'ojs_type_unknown'],
  handle: async ({ api, body, headers, who, signal }) => {
    const owner = ownerOfNew(who);
    const now = api.now();
    const targets = new Map<string, Target>();
    for (const type of typesIn(body)) targets.set(type, await targetOfType(api, type, owner));
    const id = workflowId(nextUuid(now));
    const made = jobOfWorkflow(body, {
      ...{ id, owner, now },
      targetOf: (type) => targets.get(type) as Target,
    });
    const options = { principal: who, trace: traceOf(headers['traceparent']) };
    const job = { ...newJobOf(made, options), _id: id };
    const [hindrance] = (await hindrancesOf(api, [job], who)).values();
    if (hindrance !== undefined) throw hindrance;
    const [ready = job] = await api.client.beginWork([job], offerOptions(api));
    const { rev } = await api.client.submit(ready, { signal });
    const location = `/ojs/v1/workflows/${encodeURIComponent(id)}`;
    return { status: 201, body: answerFor({ ...ready, _rev: rev }, api), headers: { location } };
  },
});

function answerFor(job: StoredDocument, api: Api) {
  const workflow = workflowOf(job, api.now());
  return { ...workflow, workflow };
}

/** @throws TwsError `document_missing`: also where the job is no workflow of this API */
async function workflowFor(api: Api, who: Principal, id: string): Promise<StoredDocument> {
  const job = await jobFor(api, who, id);
  if (workflowIn(job) === undefined) throw problem('document_missing', { id });
  return job;
}

export const workflowRoute = ojsRoute({
  method: 'GET',
  path: '/v1/workflows/{id}',
  id: 'ojsGetWorkflow',
  summary: 'A workflow, and how its steps stand.',
  access: 'viewer',
  params: idParams,
  answers: { 200: { description: 'The workflow.', schema: workflowAnswerSchema } },
  problems: ['document_missing'],
  handle: async ({ api, params: { id }, who }) => ({
    status: 200,
    body: answerFor(await workflowFor(api, who, id), api),
  }),
});

export const cancelWorkflowRoute = ojsRoute({
  method: 'DELETE',
  path: '/v1/workflows/{id}',
  id: 'ojsCancelWorkflow',
  summary: 'Cancel a workflow that has not ended.',
  access: 'operator',
  params: idParams,
  answers: {
    200: { description: 'It is done.', schema: workflowAnswerSchema },
    202: { description: 'It is stored; an engine will do it.', schema: workflowAnswerSchema },
  },
  problems: ['document_missing', 'ojs_state', 'request_refused', 'job_ended'],
  handle: async (call) => {
    const { api, params, who } = call;
    const before = await workflowFor(api, who, params.id);
    if (isEndedJob(before)) {
      const { state } = workflowOf(before, api.now());
      throw problem('ojs_state', { id: params.id, state, goal: 'cancelled' });
    }
    const after = await cancelledJob(call, before);
    return { status: isEndedJob(after) ? 200 : 202, body: answerFor(after, api) };
  },
});
