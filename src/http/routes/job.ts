import { z } from 'zod';
import { isEndedJob, readSteps } from '../../client.js';
import { explainChain, summaryOf } from '../../client-rules.js';
import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { statusOf } from '../../reading/status.js';
import { mayHave } from '../access/owners.js';
import { waitUntilReady } from '../feed/wait.js';
import { route } from '../route.js';
import { explainedSchema, historySchema, infoSchema, jobSchema, resultSchema } from '../schemas.js';
import { flagParam, idParams, jobFor, known, knownStill, waiting, waitSchema } from './common.js';
import { textOf } from '../../words.js';

export const removeJobRoute = route({
  method: 'DELETE',
  path: '/jobs/{id}',
  id: 'removeJob',
  tag: 'jobs',
  summary: 'Remove a job that has ended.',
  access: 'admin',
  params: idParams,
  query: z.object({
    children: flagParam.optional().describe('true: the child jobs that it made as well.'),
  }),
  answers: {
    200: {
      description: 'Removed.',
      schema: z.object({ removed: z.array(z.string()) }).meta({ id: 'RemovedJobs' }),
    },
  },
  problems: ['document_missing', 'job_unfinished', 'job_family_large', 'document_conflict'],
  handle: async ({ api, params: { id }, query: { children = false }, principal }) => {
    const mayRemove = (doc: StoredDocument): boolean => mayHave(known({ principal }), doc);
    const removed = await api.client.removeJob(id, { children, mayRemove });
    return { status: 200, body: { removed } };
  },
});

export const getRoute = route({
  method: 'GET',
  path: '/jobs/{id}',
  id: 'getJob',
  tag: 'jobs',
  summary: 'A job as it is now, or as it is when it has ended.',
  access: 'viewer',
  params: idParams,
  query: z.object({
    wait: waitSchema
      .optional()
      .describe(
        'Wait so long for its end (30s, 500ms, 2m; at most 120s), or for a change with rev.',
      ),
    rev: z.string().optional().describe('With wait: answer as soon as it has another revision.'),
  }),
  headers: { 'if-none-match': 'A revision: answered with 304 while it is still that one.' },
  answers: {
    200: { description: 'The job.', schema: jobSchema, headers: { etag: 'The revision.' } },
    304: { description: 'It is still of the revision of if-none-match.' },
  },
  problems: ['document_missing'],
  handle: async ({ api, params: { id }, query, headers, principal, signal }) => {
    const read = () => jobFor(api, known({ principal }), id);
    const readAgain = async () => jobFor(api, await knownStill(api, headers, 'viewer'), id);
    const { wait = 0, rev } = query;
    const isReady = (job: StoredDocument): boolean =>
      rev === undefined ? isEndedJob(job) : job._rev !== rev;
    const job = await waiting(api, wait, (waitMs) =>
      waitMs === 0
        ? read()
        : waitUntilReady({ hub: api.hub, id, read, readAgain, isReady, waitMs, signal }),
    );
    const etag = `"${job._rev}"`;
    if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } };
    const body = { ...summaryOf(job, api.now()), document: job };
    return { status: 200, body, headers: { etag } };
  },
});

export const historyRoute = route({
  method: 'GET',
  path: '/jobs/{id}/history',
  id: 'getHistory',
  tag: 'jobs',
  summary: 'What has happened in a job, in order.',
  access: 'viewer',
  params: idParams,
  answers: { 200: { description: 'The events.', schema: historySchema } },
  problems: ['document_missing'],
  handle: async ({ api, params: { id }, principal }) => {
    await jobFor(api, known({ principal }), id);
    return { status: 200, body: { events: await api.client.history(id) } };
  },
});

export const explainRoute = route({
  method: 'GET',
  path: '/jobs/{id}/explain',
  id: 'explainJob',
  tag: 'jobs',
  summary: 'Why a job does not move, and what can be done about it.',
  access: 'viewer',
  params: idParams,
  answers: { 200: { description: 'The reasons.', schema: explainedSchema } },
  problems: ['document_missing'],
  handle: async ({ api, params: { id }, principal: who }) => {
    const principal = known({ principal: who });
    await jobFor(api, principal, id);
    const chain = await explainChain(id, {
      look: (one) => api.client.explain(one, api.pulse, (other) => mayHave(principal, other)),
      isThere: async (child) => {
        const doc = await api.client.get(child);
        return doc?.['type'] === 'job' && mayHave(principal, doc);
      },
    });
    const now = api.now();
    const jobs = chain.map(({ job, reasons }) => ({
      id: job._id,
      status: statusOf(job, now),
      reasons,
    }));
    return { status: 200, body: { jobs, settled: chain.every(({ settled }) => settled) } };
  },
});

export const resultRoute = route({
  method: 'GET',
  path: '/jobs/{id}/results/{step}',
  id: 'getResult',
  tag: 'jobs',
  summary: 'The result of a step, also one that is too large to stand in the job.',
  access: 'viewer',
  params: idParams.extend({
    step: z.string().min(1).describe('The step: its name, <task>-<n> or path.'),
  }),
  answers: { 200: { description: 'The result.', schema: resultSchema } },
  problems: ['document_missing', 'result_missing'],
  handle: async ({ api, params: { id, step }, principal }) => {
    const job = await jobFor(api, known({ principal }), id);
    return { status: 200, body: { result: await api.client.result(job, step) } };
  },
});

export const infoRoute = route({
  method: 'GET',
  path: '/jobs/{id}/info',
  id: 'getInfo',
  tag: 'jobs',
  summary: 'What steps have told while they ran, and what was noted.',
  access: 'viewer',
  params: idParams,
  answers: { 200: { description: 'Lines, the oldest first, and progress.', schema: infoSchema } },
  problems: ['document_missing'],
  handle: async ({ api, params: { id }, principal }) => {
    const job = await jobFor(api, known({ principal }), id);
    return { status: 200, body: { lines: linesOf(job), progress: progressOf(job) } };
  },
});

type Line = { readonly at: number; readonly from: 'step' | 'note'; readonly message: string };

function linesOf(job: StoredDocument): readonly Line[] {
  const { steps, notes } = job;
  const ofSteps = objectsIn(steps).flatMap((step) =>
    objectsIn(step['log']).map(({ at, message, data }) => ({
      at: timeOf(at),
      from: 'step' as const,
      ...aboutStep(step),
      message: textOf(message),
      ...(data === undefined ? {} : { data }),
    })),
  );
  const noted = objectsIn(notes).map(({ at, text, by }) => ({
    at: timeOf(at),
    from: 'note' as const,
    message: textOf(text),
    ...(typeof by === 'string' ? { by } : {}),
  }));
  return [...ofSteps, ...noted].toSorted((a, b) => a.at - b.at);
}

function progressOf(job: StoredDocument): readonly object[] {
  const open = new Set(
    readSteps(job)
      .filter(({ state }) => state === '$$active' || state === '$$ready')
      .map(({ path, attempt }) => `${path} ${attempt}`),
  );
  return objectsIn(job['steps']).flatMap((step) => {
    const { progress, reported } = step;
    if (progress === undefined || !open.has(`${textOf(step['path'])} ${textOf(step['attempt'])}`)) {
      return [];
    }
    const when = typeof reported === 'number' ? { reported } : {};
    return [{ ...aboutStep(step), progress, ...when }];
  });
}

function aboutStep({ name, path, attempt }: Record<string, unknown>) {
  return { step: textOf(name), path: textOf(path), attempt: timeOf(attempt) };
}

function objectsIn(list: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function timeOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
