import { z } from 'zod';
import { archivedFactsSchema, type ArchivedJobWhole } from '../../client.js';
import { problem } from '../../errors.js';
import { retentionId, retentionSchema } from '../../model/retention.js';
import { assertAllOwners, hasOwner, mayHave, ownersFor } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import type { Api } from '../api.js';
import { route, type Route } from '../route.js';
import { countParam, known, ofAllOwners } from './common.js';

const usualJobs = 100;
const mostJobs = 1_000;

const limitSchema = z.object({
  age: z.union([z.number(), z.string()]).optional(),
  count: z.number().optional(),
});
const ruleSchema = z.object({
  flow: z
    .string()
    .optional()
    .describe('`name::owner`; absent: what is kept of flows that say nothing, by `tws.json`.'),
  limits: z.object({
    succeeded: limitSchema.optional(),
    failed: limitSchema.optional(),
    cancelled: limitSchema.optional(),
  }),
  archive: z.string().optional().describe('Where jobs are copied to before they are removed.'),
});

const retentionStateSchema = z
  .object({
    configured: z.boolean().describe('Whether a flow or tws.json says which jobs go.'),
    problems: z
      .array(z.object({ flow: z.string(), message: z.string() }))
      .describe('What flows say that cannot be followed: none of their jobs is removed.'),
    expired: z.number().describe('Events whose life has ended; the next pass removes them.'),
    rules: z.array(ruleSchema).describe('What is kept: the default first, then single flows.'),
    ...retentionSchema.pick({ next: true, running: true, last: true }).partial().shape,
  })
  .meta({ id: 'RetentionState' });

const archivedJobSchema = archivedFactsSchema
  .extend({
    archive: z.string().describe('Where it is.'),
    at: z.number().describe('When it was archived.'),
  })
  .meta({ id: 'ArchivedJob' });

const retentionRoute = route({
  method: 'GET',
  path: '/retention',
  id: 'getRetention',
  tag: 'operation',
  summary: 'What removes old jobs: whether it is configured, the last pass and the next.',
  description: ofAllOwners,
  access: 'viewer',
  answers: { 200: { description: 'How it stands.', schema: retentionStateSchema } },
  problems: ['owners_needed'],
  handle: async ({ api: { client, archives }, principal }) => {
    assertAllOwners(known({ principal }), 'see the retention of all jobs');
    const { toPurge: _toPurge, ...state } = await client.readRetention(archives.usual);
    const { data } = retentionSchema.safeParse(await client.get(retentionId));
    const { next, running, last } = data ?? {};
    const told = { ...(next && { next }), ...(running && { running }), ...(last && { last }) };
    return { status: 200, body: { ...state, ...told } };
  },
});

const listRoute = route({
  method: 'GET',
  path: '/archive',
  id: 'listArchived',
  tag: 'operation',
  summary: 'Archived jobs, the one that ended last first.',
  description: 'They are in the archives that `tws.json` of this server and the stored flows name.',
  access: 'viewer',
  query: z.object({
    job: z.string().optional().describe('The id of one job.'),
    flow: z.string().optional().describe('A name, or `name::owner`.'),
    owner: z.string().optional(),
    since: z.coerce.number().optional().describe('Only jobs that ended then or later (epoch ms).'),
    limit: countParam(1, mostJobs).optional().describe(`Jobs at most; default ${usualJobs}.`),
  }),
  answers: {
    200: {
      description: 'The jobs.',
      schema: z
        .object({ jobs: z.array(archivedJobSchema), more: z.boolean() })
        .meta({ id: 'ArchivedJobs' }),
    },
  },
  problems: ['owner_refused', 'archive_unset', 'archive_failed'],
  handle: async ({ api: { client, archives }, query, principal }) => {
    const { job, flow, owner, since, limit = usualJobs } = query;
    const owners = ownersFor(known({ principal }), owner);
    const all = await client.archived(archives, { job, flow, since });
    const jobs = all.filter((one) => owners === undefined || owners.includes(one.owner));
    return { status: 200, body: { jobs: jobs.slice(0, limit), more: jobs.length > limit } };
  },
});

const params = z.object({ id: z.string().min(1).describe('Id of the job.') });

const getRoute = route({
  method: 'GET',
  path: '/archive/{id}',
  id: 'getArchived',
  tag: 'operation',
  summary: 'An archived job with the documents that went with it.',
  access: 'viewer',
  params,
  answers: {
    200: {
      description: 'The job.',
      schema: archivedJobSchema
        .extend({ docs: z.array(z.looseObject({})).describe('The job first.') })
        .meta({ id: 'ArchivedJobWhole' }),
    },
  },
  problems: ['archived_missing', 'archive_unset', 'archive_failed'],
  handle: async ({ api, params: { id }, principal: who }) => {
    const principal = known({ principal: who });
    const { docs, ...facts } = await visibleJob(api, id, principal);
    const theirs = docs.filter((doc) => mayHave(principal, doc));
    return { status: 200, body: { ...facts, docs: theirs } };
  },
});

const restoreRoute = route({
  method: 'POST',
  path: '/archive/{id}/restore',
  id: 'restoreArchived',
  tag: 'operation',
  summary: 'Put an archived job back, with its child jobs and notifications.',
  description: 'It can be repeated. The copy in the archive stays.',
  access: 'operator',
  params,
  answers: {
    200: {
      description: 'It is back.',
      schema: z
        .object({
          job: z.string(),
          stored: z.array(z.string()).describe('Jobs that were put back.'),
          there: z.array(z.string()).describe('Jobs that were back already.'),
        })
        .meta({ id: 'RestoredJob' }),
    },
  },
  problems: ['archived_missing', 'archive_unset', 'restore_taken', 'archive_failed'],
  handle: async ({ api, params: { id }, principal: who }) => {
    const principal = known({ principal: who });
    const { docs } = await visibleJob(api, id, principal);
    // A child job may have another owner.
    const isForeign = docs.some((doc) => doc['type'] === 'job' && !mayHave(principal, doc));
    if (isForeign) throw problem('archived_missing', { job: id });
    const { stored, there } = await api.client.restore(api.archives, id);
    return { status: 200, body: { job: id, stored, there } };
  },
});

/** Retention and archives. */
export const archiveRoutes: readonly Route[] = [retentionRoute, listRoute, getRoute, restoreRoute];

/** @throws TwsError `archived_missing`, also for a job of an owner whose jobs somebody may not see */
async function visibleJob(
  { client, archives }: Api,
  job: string,
  principal: Principal,
): Promise<ArchivedJobWhole> {
  const found = await client.archivedJob(archives, { job });
  if (!hasOwner(principal, found.owner)) throw problem('archived_missing', { job });
  return found;
}
