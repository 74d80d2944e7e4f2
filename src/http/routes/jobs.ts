import { z } from 'zod';
import type { SubmitOptions } from '../../client.js';
import { summaryOf } from '../../client-rules.js';
import { problem } from '../../errors.js';
import { asVersion, whyNotChosen } from '../../model/flow-versions.js';
import { ownerOf, defaultOwner } from '../../model/task.js';
import { closest } from '../../model/closest.js';
import type { Api } from '../api.js';
import { Refused, refuseDocument, firstMistakes } from '../answers/problems.js';
import { contentsOfJob, warningsOfJob } from '../../validate/single.js';
import { mostDocuments } from '../../validate/limits.js';
import { prefix, route, type RouteAnswer } from '../route.js';
import {
  bulkSchema,
  checkedSchema,
  jobBodySchema,
  jobListSchema,
  submittedSchema,
} from '../schemas.js';
import { countParam, flagParam, known } from './common.js';
import { filterShape, searchOfFilter } from './job-filter.js';
import { newJobOf, withSoleOwner, type NewJobOptions } from './new-job.js';
import { hindrancesOf, submitMany } from './submit-many.js';
import { textOf } from '../../words.js';

const oneOrMany = z.union([jobBodySchema, z.array(jobBodySchema).max(mostDocuments)]);

export const submitRoute = route({
  method: 'POST',
  path: '/jobs',
  id: 'submitJobs',
  tag: 'jobs',
  summary: 'Submit a job, or many.',
  description:
    'One document is answered with 201, or 200 when it was submitted before (by the same _id or Idempotency-Key). Many, as a list or as NDJSON, are answered with a report about each. A job without "owner" gets the only owner of who submits it; with several, or all, it is one of DEFAULT.',
  access: 'operator',
  query: z.object({
    atomic: flagParam.optional().describe('true: of many, store none when one is not valid.'),
  }),
  headers: {
    'idempotency-key': 'Any text: the same again means the same job. Not with many.',
    traceparent: 'W3C trace context: the spans of the job will belong to that trace.',
  },
  body: {
    schema: oneOrMany,
    types: ['application/json', 'application/x-ndjson'],
    checkedBy: 'route',
  },
  answers: {
    200: {
      description: 'It was submitted before, or: the report about many.',
      schema: z.union([submittedSchema, bulkSchema]),
    },
    201: {
      description: 'Submitted.',
      schema: submittedSchema,
      headers: { location: 'Path of the job.' },
    },
  },
  problems: [
    'document_invalid',
    'document_conflict',
    'id_taken',
    'not_unique',
    'unique_key',
    'document_refused',
    'owner_refused',
    'bulk_refused',
    'bulk_too_many',
  ],
  handle: async ({ api, body, query, headers, principal: who, signal }) => {
    const principal = known({ principal: who });
    const { atomic = false } = query;
    const trace = traceOf(headers['traceparent']);
    const key = keyOf(headers['idempotency-key']);
    if (Array.isArray(body)) {
      if (key !== undefined) refuseKey('many jobs take an _id each instead of one key.');
      return submitMany(api, body, { principal, trace, atomic, signal });
    }
    return submitOne(api, body, { principal, trace, key, signal });
  },
});

async function submitOne(
  api: Api,
  body: unknown,
  options: NewJobOptions & SubmitOptions,
): Promise<RouteAnswer> {
  const job = newJobOf(withSoleOwner(body, options.principal), options);
  const warnings = firstMistakes([...warningsOfJob(job), ...(await flowWarnings(api, job))]);
  const more = warnings.length === 0 ? {} : { warnings };
  const hindrance = (await hindrancesOf(api, [job], options.principal)).get(job);
  if (hindrance !== undefined) throw hindrance;
  const submitted = await api.client.submit(job, { signal: options.signal });
  return {
    status: submitted.existed ? 200 : 201,
    body: { ...submitted, ...more },
    headers: { location: `${prefix}/jobs/${encodeURIComponent(submitted.id)}` },
  };
}

/** The job is stored in any case: the flow may come later, and the job tells what became of it. */
async function flowWarnings({ client }: Api, job: Readonly<Record<string, unknown>>) {
  const { flow } = job;
  if (typeof flow !== 'string') return [];
  const owner = ownerOf(job);
  const { flow_version: asked } = job;
  const choice = await client.chosenFlow({ name: flow, owner }, { version: asVersion(asked) });
  if (choice.kind === 'chosen') return [];
  if (choice.kind !== 'none') {
    const path = choice.kind === 'absent' ? 'flow_version' : 'flow';
    return [{ path, message: `Flow "${flow}" ${whyNotChosen(choice, asked)}` }];
  }
  const flows = await client.definitions('flow');
  const visible = flows.filter((doc) => [owner, defaultOwner].includes(ownerOf(doc)));
  const close = closest(
    flow,
    visible.map(({ name }) => textOf(name)),
  );
  const todo = close === undefined ? 'Store it, or the job fails.' : `Did you mean "${close}"?`;
  return [{ path: 'flow', message: `There is no flow "${flow}" of owner "${owner}" yet. ${todo}` }];
}

function keyOf(header: string | string[] | undefined): string | undefined {
  const key = [header].flat()[0];
  if (key === undefined || (key !== '' && key.length <= 255)) return key;
  return refuseKey('it must be a text of 1 to 255 characters.');
}

function refuseKey(reason: string): never {
  throw problem('request_invalid', { part: 'header idempotency-key', reason });
}

/** The trace context of a header; what is none is left out, as its specification asks. */
export function traceOf(header: string | string[] | undefined): string | undefined {
  const text = [header].flat()[0];
  return text !== undefined && /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text)
    ? text
    : undefined;
}

export const checkJobRoute = route({
  method: 'POST',
  path: '/jobs/check',
  id: 'checkJob',
  tag: 'jobs',
  summary: 'Check a job and store nothing.',
  access: 'viewer',
  body: { schema: jobBodySchema, checkedBy: 'route' },
  answers: { 200: { description: 'What was found.', schema: checkedSchema } },
  problems: ['owner_refused'],
  handle: async ({ api, body, principal }) => {
    try {
      const who = known({ principal });
      const job = newJobOf(withSoleOwner(body, who), { principal: who });
      const refused = (await api.client.unwelcome([job])).get(job);
      if (refused !== undefined) refuseDocument('job', [refused]);
      const contents = await contentsOfJob(job, api.client, api.plugins);
      const found = [...warningsOfJob(job), ...(await flowWarnings(api, job)), ...contents];
      const warnings = firstMistakes(found);
      return { status: 200, body: { ok: true, problems: [], warnings } };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return {
        status: 200,
        body: { ok: false, problems: firstMistakes(error.found), warnings: [] },
      };
    }
  },
});

export const listRoute = route({
  method: 'GET',
  path: '/jobs',
  id: 'findJobs',
  tag: 'jobs',
  summary: 'Find jobs, newest first.',
  access: 'viewer',
  query: z.object({
    ...filterShape,
    limit: countParam(1, 500).optional().describe('Jobs of a page; default 50.'),
    cursor: z.string().optional().describe('Of the page before.'),
  }),
  answers: { 200: { description: 'The jobs.', schema: jobListSchema } },
  problems: ['owner_refused', 'cursor_invalid'],
  handle: async ({ api, query, principal }) => {
    const { limit = 50, cursor, ...filter } = query;
    const now = api.now();
    const search = searchOfFilter(filter, known({ principal }));
    const page = await api.client.search(search, { limit, cursor, now });
    const jobs = page.jobs.map((job) => summaryOf(job, now));
    return { status: 200, body: { ...page, jobs } };
  },
});
