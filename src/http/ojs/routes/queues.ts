import { z } from 'zod';
import { defaultQueue } from '../../../model/job.js';
import type { StoredDocument } from '../../../model/document.js';
import type { Status } from '../../../model/status.js';
import { queueSchema } from '../../../model/scalars.js';
import { assertAllOwners, ownersFor } from '../../access/owners.js';
import type { Principal } from '../../access/principal.js';
import type { Api } from '../../api.js';
import { countParam } from '../../routes/common.js';
import { queueOfJob } from '../envelope.js';
import { ojsRoute } from '../route.js';
import { paginationSchema } from '../schemas.js';
import { ojsStateOf, type OjsState } from '../states.js';

/** So many jobs of a kind are looked through. */
const mostLooked = 5_000;
const together = 500;
const open: readonly Status[] = ['queued', 'scheduled', 'running', 'waiting', 'paused'];

const queueStatus = z
  .enum(['active', 'paused'])
  .describe('paused: workers get nothing from it, and engines begin no step of its jobs.');

const statusOf = (paused: boolean) => (paused ? ('paused' as const) : ('active' as const));

export const queuesRoute = ojsRoute({
  method: 'GET',
  path: '/v1/queues',
  id: 'ojsQueues',
  summary: 'The queues that engines serve, and those of jobs that have not ended.',
  access: 'viewer',
  query: z.object({
    limit: countParam(1, 200).optional().describe('Default 50.'),
    offset: countParam(0, 1_000_000).optional(),
    cursor: countParam(0, 1_000_000).optional().describe('next_cursor of the page before.'),
  }),
  answers: {
    200: {
      description: 'The queues, by name.',
      schema: z
        .object({
          queues: z.array(z.object({ name: z.string(), status: queueStatus })),
          pagination: paginationSchema,
        })
        .meta({ id: 'OjsQueues' }),
    },
  },
  handle: async ({ api, query, who }) => {
    const { limit = 50, offset = 0, cursor = offset } = query;
    const engines = api.pulse.look(await api.client.engines(), api.now());
    const served = engines.flatMap(({ engine, alive }) => (alive ? (engine.queues ?? []) : []));
    const { jobs } = await look(api, who, open);
    const paused = await api.client.pausedQueues();
    const names = new Set([defaultQueue, ...served, ...paused, ...jobs.map(queueOfJob)]);
    const all = [...names].sort();
    const queues = all
      .slice(cursor, cursor + limit)
      .map((name) => ({ name, status: statusOf(paused.has(name)) }));
    const after = cursor + queues.length;
    const more = after < all.length;
    const pagination = {
      total: all.length,
      limit,
      offset: cursor,
      has_more: more,
      ...(more ? { next_cursor: String(after) } : {}),
    };
    return { status: 200, body: { queues, pagination } };
  },
});

const statsSchema = z
  .object({
    queue: z.object({
      name: z.string(),
      available: z.number(),
      active: z.number(),
      scheduled: z.number(),
      retryable: z.number(),
      pending: z.number(),
      discarded: z.number(),
      completed: z.number(),
      paused: z.boolean(),
    }),
    status: queueStatus,
    stats: z.object({
      available: z.number(),
      active: z.number(),
      scheduled: z.number(),
      retryable: z.number(),
      pending: z.number(),
      discarded: z.number(),
      completed_last_hour: z.number(),
      failed_last_hour: z.number(),
      avg_duration_ms: z.number().optional(),
      throughput_per_second: z.number(),
    }),
    complete: z
      .boolean()
      .describe(
        `false: there are more than ${mostLooked} jobs of a kind, of which the newest count.`,
      ),
    computed_at: z.string(),
  })
  .meta({ id: 'OjsQueueStats' });

const hourMs = 3_600_000;

export const queueStatsRoute = ojsRoute({
  method: 'GET',
  path: '/v1/queues/{name}/stats',
  id: 'ojsQueueStats',
  summary: 'How many jobs of a queue are in which state, and what ended in the last hour.',
  description: 'The jobs are counted one by one: ask for it now and then, not all the time.',
  access: 'viewer',
  params: z.object({ name: z.string().min(1) }),
  answers: { 200: { description: 'The figures.', schema: statsSchema } },
  handle: async ({ api, params: { name }, who }) => {
    const now = api.now();
    const ofQueue = (jobs: readonly StoredDocument[]) =>
      jobs.filter((job) => queueOfJob(job) === name);
    const lists = await Promise.all([
      look(api, who, open),
      look(api, who, ['failed']),
      look(api, who, ['succeeded']),
    ]);
    const [live, failed, succeeded] = lists.map(({ jobs }) => ofQueue(jobs));
    const justNow = (jobs: readonly StoredDocument[] = []) =>
      jobs.filter(({ end }) => typeof end === 'number' && end > now - hourMs);
    const done = justNow(succeeded);
    const lengths = done.map(({ start, end }) => Number(end) - Number(start));
    const mean = lengths.reduce((sum, ms) => sum + ms, 0) / lengths.length;
    const counts = countStates(live ?? [], now);
    const stats = {
      ...counts,
      discarded: failed?.length ?? 0,
      completed_last_hour: done.length,
      failed_last_hour: justNow(failed).length,
      ...(Number.isFinite(mean) ? { avg_duration_ms: Math.round(mean) } : {}),
      throughput_per_second: done.length / (hourMs / 1000),
    };
    const complete = lists.every((list) => list.complete);
    const computed = new Date(now).toISOString();
    const paused = (await api.client.pausedQueues()).has(name);
    const { discarded } = stats;
    const queue = { name, ...counts, discarded, completed: succeeded?.length ?? 0, paused };
    const body = { queue, status: statusOf(paused), stats, complete, computed_at: computed };
    return { status: 200, body };
  },
});

const switchedSchema = z
  .object({
    queue: z.object({ name: z.string(), paused: z.boolean() }),
    status: queueStatus,
    paused_at: z.string().optional().describe('Absent when it was paused before.'),
  })
  .meta({ id: 'OjsQueueSwitched' });

/** Pausing a queue, and letting it go on. */
export const queueSwitchRoutes = (['pause', 'resume'] as const).map((word) =>
  ojsRoute({
    method: 'POST',
    path: `/v1/queues/{name}/${word}`,
    id: word === 'pause' ? 'ojsPauseQueue' : 'ojsResumeQueue',
    summary:
      word === 'pause'
        ? 'Pause a queue: workers get nothing from it, and its jobs begin no step; new jobs are accepted.'
        : 'Let a queue go on.',
    access: 'operator',
    params: z.object({ name: queueSchema }),
    answers: { 200: { description: 'It is so now.', schema: switchedSchema } },
    problems: ['owners_needed', 'document_conflict'],
    handle: async ({ api, params: { name }, who }) => {
      assertAllOwners(who, `${word} a queue`);
      const paused = word === 'pause';
      const { changed } = await api.client.switchQueue({ queue: name, paused });
      const since = paused && changed ? { paused_at: new Date(api.now()).toISOString() } : {};
      const body = { queue: { name, paused }, status: statusOf(paused), ...since };
      return { status: 200, body };
    },
  }),
);

const counted = ['available', 'active', 'scheduled', 'retryable', 'pending'] as const;

function countStates(jobs: readonly StoredDocument[], now: number) {
  const states = jobs.map((job) => ojsStateOf(job, now));
  const count = (state: OjsState): number => states.filter((one) => one === state).length;
  return Object.fromEntries(counted.map((state) => [state, count(state)]));
}

type Looked = { readonly jobs: readonly StoredDocument[]; readonly complete: boolean };

/** The newest jobs of these statuses that somebody may see. */
async function look(
  { client, now }: Api,
  who: Principal,
  status: readonly Status[],
): Promise<Looked> {
  const search = { status, owners: ownersFor(who, undefined) };
  const jobs: StoredDocument[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.search(search, { limit: together, cursor, now: now() });
    jobs.push(...page.jobs);
    cursor = page.cursor;
  } while (cursor !== undefined && jobs.length < mostLooked);
  return { jobs, complete: cursor === undefined };
}
