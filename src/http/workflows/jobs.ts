import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { ownersFor } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import type { Api } from '../api.js';
import { cancelledJob } from '../ojs/cancel.js';
import type { Route } from '../route.js';
import { answeredTo, jobFor, waiting } from '../routes/common.js';
import { traceOf } from '../routes/jobs.js';
import { newJobOf } from '../routes/new-job.js';
import { byOf } from '../routes/requests.js';
import { hindrancesOf } from '../routes/submit-many.js';
import { versionOf } from '../../model/flow-versions.js';
import { ownerOf } from '../../model/task.js';
import { flowKey } from './definition.js';
import {
  executionOf,
  executions,
  infoOf,
  jobSeen,
  resumedJob,
  statusesOf,
  waitingStep,
  type Execution,
} from './job.js';
import { chainRoute } from './route.js';
import { textual, workflowFor, workflowsFor } from './workflows.js';

const uuidParams = z.object({ uuid: z.string().min(1) });
const anyBody = z.record(z.string(), z.unknown());

/** So many jobs a list has at the most. */
const mostJobs = 1_000;

const listJobs = chainRoute({
  method: 'GET',
  path: '/jobs',
  access: 'viewer',
  anyQuery: true,
  handle: async ({ api, query, who }) => {
    const { execution, offset, limit, ...params } = query as Readonly<Record<string, unknown>>;
    const asked = executionIn(execution);
    const from = countIn(offset, 'offset', 0);
    const most = Math.min(countIn(limit, 'limit', mostJobs), mostJobs);
    const wanted = Object.entries(params);
    const found: object[] = [];
    for await (const job of jobsOf(api, who, asked)) {
      const own = job.seen['params'] as Readonly<Record<string, unknown>>;
      if (wanted.every(([key, value]) => textual(own[key]) === value)) found.push(job.seen);
      if (found.length >= from + most) break;
    }
    const body = found.slice(from, from + most);
    return { status: 200, body, headers: { 'x-count': String(body.length) } };
  },
});

/** @throws TwsError `workflow_job_invalid` */
function executionIn(given: unknown): Execution | undefined {
  if (given === undefined || given === '') return undefined;
  const known = executions.find((one) => one === given);
  if (known !== undefined) return known;
  throw problem('workflow_job_invalid', {
    reason: `"execution" is one of ${executions.join(', ')}.`,
  });
}

function countIn(given: unknown, name: string, usual: number): number {
  if (given === undefined) return usual;
  if (typeof given === 'string' && /^\d{1,9}$/.test(given)) return Number(given);
  throw problem('workflow_job_invalid', { reason: `"${name}" is no whole number.` });
}

/** The jobs of workflows, newest first. */
async function* jobsOf(api: Api, who: Principal, execution: Execution | undefined) {
  const flows = new Map(
    (await workflowsFor(api, who)).map(({ doc, seen }) => [flowKey(doc, seen.name), seen]),
  );
  const status = execution === undefined ? {} : { status: statusesOf[execution] };
  const search = { owners: ownersFor(who, undefined), ...status };
  let cursor: string | undefined;
  do {
    const now = api.now();
    const page = await api.client.search(search, { limit: 200, cursor, now });
    for (const job of page.jobs) {
      const flow = flows.get(flowKey(job, job['flow']));
      if (flow === undefined) continue;
      const seen = jobSeen(job, flow, now);
      if (execution === undefined || seen['execution'] === execution) yield { job, seen };
    }
    ({ cursor } = page);
  } while (cursor !== undefined);
}

/** What a job has beside its parameters. */
const jobFields = z.looseObject({
  workflow: z.string({ error: '"workflow" is required' }).min(1),
  uuid: z.string().min(1).max(200).optional(),
  target: z.string().optional(),
  locks: z.string().optional(),
  exec_after: z.string().optional(),
  num_attempts: z.unknown().optional(),
});

/** No other job of a workflow with the same target and parameters, until it has ended. */
const unique = { name: 'node-workflow target', key: '$string([job.target, params])' } as const;

const postJob = chainRoute({
  method: 'POST',
  path: '/jobs',
  access: 'operator',
  body: { schema: jobFields },
  handle: async ({ api, body, headers, who, signal }) => {
    const { workflow, uuid = randomUUID(), target, locks, exec_after: after, ...rest } = body;
    const { num_attempts: _attempts, ...params } = rest;
    const { doc, seen } = await workflowFor(api, who, workflow);
    if (seen.chain.length === 0) {
      throw problem('workflow_job_invalid', { reason: 'its workflow has no task.' });
    }
    // Its uuid means this document, its name the current version.
    const version = workflow === seen.name ? undefined : versionOf(doc);
    const given = {
      ...{ _id: uuid, flow: seen.name, owner: ownerOf(doc), params },
      ...(version === undefined ? {} : { flow_version: version }),
      ...(after === undefined ? {} : { exec_after: after }),
      ...(locks === undefined ? {} : { locks }),
      ...(target === undefined ? {} : { target, unique }),
    };
    const job = newJobOf(given, { principal: who, trace: traceOf(headers['traceparent']) });
    const hindrance = (await hindrancesOf(api, [job], who)).get(job);
    if (hindrance !== undefined) throw hindrance;
    const holder = await api.client.holder({ ...job, _id: uuid });
    if (holder !== undefined && target !== undefined) {
      const isLocked = holder.kind === 'pattern';
      throw problem('workflow_target', { target, job: holder.job, isLocked });
    }
    await api.client.submit(job, { signal });
    const now = api.now();
    const stored = { ...job, _id: uuid, submitted: now };
    const location = `/jobs/${encodeURIComponent(uuid)}`;
    const answer = { location, 'request-id': uuid };
    return { status: 201, body: jobSeen(stored, seen, now), headers: answer };
  },
});

const getJob = chainRoute({
  method: 'GET',
  path: '/jobs/{uuid}',
  access: 'viewer',
  params: uuidParams,
  handle: async ({ api, params: { uuid }, who }) => {
    const job = await jobFor(api, who, uuid);
    const body = await seenBy(api, who, job);
    return { status: 200, body, headers: { 'request-id': uuid } };
  },
});

async function seenBy(api: Api, who: Principal, job: StoredDocument) {
  const all = await workflowsFor(api, who);
  const key = flowKey(job, job['flow']);
  const flow = all.find(({ doc, seen }) => flowKey(doc, seen.name) === key);
  return jobSeen(job, flow?.seen, api.now());
}

const cancelJob = chainRoute({
  method: 'POST',
  path: '/jobs/{uuid}/cancel',
  access: 'operator',
  params: uuidParams,
  body: { schema: anyBody, optional: true },
  handle: async ({ api, params: { uuid }, headers, signal, who }) => {
    const job = await jobFor(api, who, uuid);
    const execution = executionOf(job, api.now());
    if (execution === 'succeeded' || execution === 'failed') {
      throw problem('workflow_job_state', { id: uuid, execution, goal: 'canceled' });
    }
    const isOver = job['state'] === '$$cancelled';
    const after = isOver ? job : await cancelledJob({ api, headers, signal, who }, job);
    const seen = await seenBy(api, who, after);
    // What an engine has not done yet is asked for, and nothing takes it back.
    const body = { ...seen, execution: 'canceled' };
    return { status: 200, body, headers: { 'request-id': uuid } };
  },
});

const resumeJob = chainRoute({
  method: 'POST',
  path: '/jobs/{uuid}/resume',
  access: 'operator',
  params: uuidParams,
  body: { schema: anyBody, optional: true },
  handle: async ({ api, params: { uuid }, body: { result, error }, who }) => {
    const job = await jobFor(api, who, uuid);
    const now = api.now();
    const execution = executionOf(job, now);
    const step = waitingStep(job);
    if (execution !== 'waiting' || step === undefined) {
      throw problem('workflow_job_state', { id: uuid, execution, goal: 'resumed' });
    }
    const isError = Boolean(error);
    const told = { result: isError ? '' : result || 'OK', error: isError ? error : '' };
    const message = typeof error === 'string' ? error : JSON.stringify(error);
    await api.client.signal({
      job: uuid,
      name: String(step['signal']),
      ...(isError
        ? { failure: { name: 'WorkflowError', message, retryable: false } }
        : { data: told.result }),
      ...byOf({}, who),
    });
    const seen = resumedJob(await seenBy(api, who, job), told, now);
    return { status: 200, body: seen, headers: { 'request-id': uuid } };
  },
});

const getInfo = chainRoute({
  method: 'GET',
  path: '/jobs/{uuid}/info',
  access: 'viewer',
  params: uuidParams,
  handle: async ({ api, params: { uuid }, who }) => {
    const job = await jobFor(api, who, uuid);
    return { status: 200, body: infoOf(job), headers: { 'request-id': uuid } };
  },
});

/** So long the answer waits for an engine to write the information into the job, ms. */
const infoMs = 5_000;

const postInfo = chainRoute({
  method: 'POST',
  path: '/jobs/{uuid}/info',
  access: 'operator',
  params: uuidParams,
  body: { schema: anyBody },
  handle: async ({ api, params: { uuid }, body, headers, signal, who }) => {
    await jobFor(api, who, uuid);
    const asked = { text: JSON.stringify(body), ...byOf({}, who), signal };
    await answeredTo({ api, headers, level: 'operator' }, () =>
      waiting(api, infoMs, (waitMs) => api.client.request(uuid, 'note', { ...asked, waitMs })),
    );
    return { status: 200, headers: { 'request-id': uuid } };
  },
});

/** The routes about jobs. */
export const jobsOfWorkflows: readonly Route[] = [
  listJobs,
  postJob,
  getJob,
  cancelJob,
  resumeJob,
  getInfo,
  postInfo,
];
