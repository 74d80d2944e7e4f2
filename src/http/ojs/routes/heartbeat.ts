import { z } from 'zod';
import type { WorkerStep } from '../../../client.js';
import { isObject } from '../../../model/object.js';
import { workerWishes, type WorkerWish } from '../../../model/worker.js';
import type { Api } from '../../api.js';
import { leaseLengthMs } from '../durations.js';
import { heldBy } from '../held.js';
import { ojsRoute } from '../route.js';
import { heartbeatSchema } from '../schemas.js';
import { unlessMissing } from '../workflow/find.js';

/** So many leases are renewed at a time: the last of many must not wait until it is over. */
const besideEachOther = 8;

export const heartbeatRoute = ojsRoute({
  method: 'POST',
  path: '/v1/workers/heartbeat',
  id: 'ojsHeartbeat',
  summary: 'Ask for more time; tells which jobs the worker still has.',
  access: 'operator',
  body: { schema: heartbeatSchema },
  answers: {
    200: {
      description: 'The jobs that it has.',
      schema: z
        .object({
          state: z
            .enum(['running', ...workerWishes])
            .describe('quiet: take nothing more; terminate: end when the jobs are done.'),
          jobs_extended: z.array(z.string()),
          server_time: z.string(),
        })
        .meta({ id: 'OjsHeard' }),
    },
  },
  problems: ['document_refused'],
  handle: async ({ api, body, who }) => {
    const { worker_id: worker, job_id: one, active_jobs: had, active_job_ids: named = [] } = body;
    const { visibility_timeout_ms: ms, visibility_timeout: length } = body;
    const leaseMs = ms ?? (length === undefined ? undefined : leaseLengthMs(length));
    const many = Array.isArray(had) ? had : [];
    const ids = [...new Set([...(one === undefined ? [] : [one]), ...named, ...many])];
    const renew = async (id: string) => {
      const work = await unlessMissing(heldBy(api, who, { id, worker }));
      const options = { leaseMs, worker, now: api.now };
      return work && (await api.client.renewWork(work, options));
    };
    const extended: string[] = [];
    const works: WorkerStep[] = [];
    for (let from = 0; from < ids.length; from += besideEachOther) {
      const some = ids.slice(from, from + besideEachOther);
      const renewed = await Promise.all(some.map(renew));
      extended.push(...some.filter((_, i) => renewed[i] !== undefined));
      works.push(...renewed.flatMap((work) => work ?? []));
    }
    const { queues, hostname, pid, concurrency, labels } = body;
    const active = Array.isArray(had) || had === undefined ? ids.length : had;
    const facts = { worker, state: body.state, queues, hostname, pid, concurrency, labels, active };
    const wanted = await api.client.hearWorker(facts, api.now());
    const tested = works
      .map((work) => testDirectiveOf(api, work))
      .find((word) => word !== undefined);
    const state = tested ?? wanted ?? 'running';
    const time = new Date(api.now()).toISOString();
    return { status: 200, body: { state, jobs_extended: extended, server_time: time } };
  },
});

/** What a job tells its worker, where the server is under test. */
function testDirectiveOf({ testDirectives }: Api, { job }: WorkerStep): WorkerWish | undefined {
  const { ojs } = job;
  const meta = isObject(ojs) && isObject(ojs['meta']) ? ojs['meta'] : {};
  return testDirectives ? workerWishes.find((wish) => wish === meta['test_directive']) : undefined;
}
