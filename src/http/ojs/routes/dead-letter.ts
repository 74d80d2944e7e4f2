import { z } from 'zod';
import { problem } from '../../../errors.js';
import type { StoredDocument } from '../../../model/document.js';
import { ownersFor } from '../../access/owners.js';
import type { Principal } from '../../access/principal.js';
import type { Api } from '../../api.js';
import { answeredTo, countParam, despiteEngines, idParams, jobFor } from '../../routes/common.js';
import { byOf } from '../../routes/requests.js';
import { envelopeOf, queueOfJob } from '../envelope.js';
import { ojsRoute } from '../route.js';
import { envelopeSchema, jobAnswerSchema, paginationSchema } from '../schemas.js';
import { ojsStateOf } from '../states.js';
import { patienceMs } from '../cancel.js';

/** So many failed jobs are looked through for those of one queue, or of a later page. */
const mostLooked = 5_000;
/** So many are read together. */
const together = 200;

export const deadLettersRoute = ojsRoute({
  method: 'GET',
  path: '/v1/dead-letter',
  id: 'ojsDeadLetters',
  summary: 'Jobs that failed, newest first.',
  description: `Of a queue, and of what lies before an offset, the newest ${mostLooked} failed jobs are looked through.`,
  access: 'viewer',
  query: z.object({
    queue: z.string().optional(),
    limit: countParam(1, 200).optional().describe('Default 50.'),
    offset: countParam(0, mostLooked).optional().describe('So many are left out; better: cursor.'),
    cursor: z.string().optional().describe('next_cursor of the page before.'),
  }),
  answers: {
    200: {
      description: 'The jobs.',
      schema: z
        .object({ jobs: z.array(envelopeSchema), pagination: paginationSchema })
        .meta({ id: 'OjsDeadLetters' }),
    },
  },
  problems: ['cursor_invalid'],
  handle: async ({ api, query, who }) => {
    const { queue, limit = 50, offset = 0, cursor } = query;
    const { jobs, next } = await pageOf(api, who, { queue, limit, offset, cursor });
    const total = await totalOf(api, who, queue);
    const now = api.now();
    const pagination = {
      total,
      limit,
      ...(cursor === undefined ? { offset } : {}),
      has_more: next !== undefined,
      ...(next === undefined ? {} : { next_cursor: next }),
    };
    return { status: 200, body: { jobs: jobs.map((job) => envelopeOf(job, now)), pagination } };
  },
});

type Wanted = {
  readonly queue: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly cursor: string | undefined;
};

async function pageOf(
  { client, now }: Api,
  who: Principal,
  { queue, limit, offset, cursor }: Wanted,
): Promise<{ readonly jobs: readonly StoredDocument[]; readonly next: string | undefined }> {
  const search = { status: ['failed'], owners: ownersFor(who, undefined) } as const;
  const jobs: StoredDocument[] = [];
  let skipped = 0;
  let next = cursor;
  for (let looked = 0; looked < mostLooked;) {
    // A page is never longer than what is still wanted: its cursor then leads to just what follows.
    const wanted = skipped < offset ? offset - skipped : limit - jobs.length;
    const page = await client.search(search, {
      limit: Math.min(together, wanted),
      cursor: next,
      now: now(),
    });
    looked += Math.max(1, page.jobs.length);
    const own = page.jobs.filter((job) => queue === undefined || queueOfJob(job) === queue);
    if (skipped < offset) skipped += own.length;
    else jobs.push(...own);
    next = page.cursor;
    if (next === undefined || jobs.length >= limit) break;
  }
  return { jobs, next };
}

/** How many there are; of one queue as far as they are looked through. */
async function totalOf(
  { client, now }: Api,
  who: Principal,
  queue: string | undefined,
): Promise<number> {
  const owners = ownersFor(who, undefined);
  if (queue === undefined) return (await client.count(owners)).failed;
  let total = 0;
  let cursor: string | undefined;
  for (let looked = 0; looked < mostLooked; looked += together) {
    const page = await client.search(
      { status: ['failed'], owners },
      { limit: together, cursor, now: now() },
    );
    total += page.jobs.filter((job) => queueOfJob(job) === queue).length;
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  return total;
}

/** A job that failed; any other is none of the dead letters. @throws TwsError `document_missing` */
async function deadLetter(api: Api, who: Principal, id: string): Promise<StoredDocument> {
  const job = await jobFor(api, who, id);
  if (ojsStateOf(job, api.now()) !== 'discarded') throw problem('document_missing', { id });
  return job;
}

export const deadLetterRoute = ojsRoute({
  method: 'GET',
  path: '/v1/dead-letter/{id}',
  id: 'ojsDeadLetter',
  summary: 'A job that failed.',
  access: 'viewer',
  params: idParams,
  answers: { 200: { description: 'The job.', schema: jobAnswerSchema } },
  problems: ['document_missing'],
  handle: async ({ api, params: { id }, who }) => {
    const job = await deadLetter(api, who, id);
    return { status: 200, body: { job: envelopeOf(job, api.now()) } };
  },
});

export const retryDeadRoute = ojsRoute({
  method: 'POST',
  path: '/v1/dead-letter/{id}/retry',
  id: 'ojsRetryDeadLetter',
  summary: 'Let a job that failed go on where it did.',
  access: 'operator',
  params: idParams,
  answers: {
    200: { description: 'It goes on.', schema: jobAnswerSchema },
    202: { description: 'It is stored; an engine will do it.', schema: jobAnswerSchema },
  },
  problems: ['document_missing', 'request_refused'],
  handle: async ({ api, params: { id }, who, headers, signal }) => {
    const before = await deadLetter(api, who, id);
    const asked = { ...byOf({}, who), waitMs: patienceMs, signal };
    const requested = await answeredTo({ api, headers, level: 'operator' }, () =>
      api.client.request(id, 'retry', asked),
    );
    const stored = requested.kind === 'stored';
    const job = envelopeOf(stored ? before : requested.job, api.now());
    return { status: stored ? 202 : 200, body: { job } };
  },
});

export const removeDeadRoute = ojsRoute({
  method: 'DELETE',
  path: '/v1/dead-letter/{id}',
  id: 'ojsRemoveDeadLetter',
  summary: 'Remove a job that failed, for ever.',
  access: 'admin',
  params: idParams,
  answers: {
    200: {
      description: 'It is gone.',
      schema: z.object({ deleted: z.boolean(), job_id: z.string() }).meta({ id: 'OjsRemoved' }),
    },
  },
  problems: ['document_missing', 'document_conflict'],
  handle: async ({ api, params: { id }, who }) => {
    // Engines write into it who was told of its end.
    await despiteEngines(async () => {
      const { _rev } = await deadLetter(api, who, id);
      await api.client.remove(id, _rev);
    });
    return { status: 200, body: { deleted: true, job_id: id } };
  },
});
