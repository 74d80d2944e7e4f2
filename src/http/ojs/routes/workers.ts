import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { readSteps, type WorkerStep, type WorkAnswer } from '../../../client.js';
import { leasedSteps, workIn } from '../../../client-rules.js';
import { problem, TwsError } from '../../../errors.js';
import { isObject } from '../../../model/object.js';
import type { StoredDocument } from '../../../model/document.js';
import { queueOfOffer } from '../../../model/work.js';
import { hasOwner, mayHave } from '../../access/owners.js';
import type { Principal } from '../../access/principal.js';
import type { Api } from '../../api.js';
import { waitUntilReady } from '../../feed/wait.js';
import type { RawCall } from '../../route.js';
import { jobFor, knownStill, waiting } from '../../routes/common.js';
import { envelopeOf, envelopeOfWork } from '../envelope.js';
import { failureOf } from '../failure.js';
import { ojsRoute } from '../route.js';
import { ackSchema, envelopeSchema, fetchSchema, heartbeatSchema, nackSchema } from '../schemas.js';
import { ojsStates } from '../states.js';
import { patienceMs } from './jobs.js';

export const fetchRoute = ojsRoute({
  method: 'POST',
  path: '/v1/workers/fetch',
  id: 'ojsFetch',
  summary: 'Take jobs to do; nobody else gets them while they are leased.',
  description: 'Where there is none it waits for one, two seconds at most.',
  access: 'operator',
  body: { schema: fetchSchema },
  answers: {
    200: {
      description: 'The jobs; none is no error.',
      schema: z.object({ jobs: z.array(envelopeSchema) }).meta({ id: 'OjsFetched' }),
    },
  },
  problems: ['document_refused'],
  handle: async ({ api, body, who, headers, signal }) => {
    const {
      queues,
      count = 1,
      worker_id: worker = who.name,
      visibility_timeout_ms: leaseMs,
    } = body;
    const isMeant = (job: StoredDocument): boolean => job['type'] === 'job' && mayHave(who, job);
    const take = () =>
      api.client.takeWork({
        queues: [...new Set(queues)],
        most: count,
        worker,
        leaseMs,
        isMeant,
        isOwner: (owner) => hasOwner(who, owner),
        now: api.now,
      });
    const isNew = (job: StoredDocument): boolean =>
      isMeant(job) &&
      readSteps(job).some(({ signal: name = '' }) => queues.includes(queueOfOffer(name) ?? ''));
    const works = await waiting(api, shortMs, (waitMs) =>
      takeOrWait(api, { take, isNew, waitMs, signal, headers }),
    );
    const now = api.now();
    return { status: 200, body: { jobs: works.map((work) => envelopeOfWork(work, now)) } };
  },
});

/** So long a request for work waits for some, ms. */
const shortMs = 2_000;

type Taking = {
  readonly take: () => Promise<readonly WorkerStep[]>;
  /** Whether a job that has changed may have work. */
  readonly isNew: (job: StoredDocument) => boolean;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly headers: IncomingHttpHeaders;
};

/** Takes what is there, or what comes in time. */
async function takeOrWait(api: Api, { take, isNew, waitMs, signal, headers }: Taking) {
  let wake: () => void = () => undefined;
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const leave = await api.hub.listen((change) => {
    if (change.kind !== 'removed' && isNew(change.job)) wake();
  });
  const timer = setTimeout(wake, waitMs);
  signal.addEventListener('abort', wake, { once: true });
  try {
    const first = await take();
    if (first.length > 0 || waitMs === 0) return first;
    await woken;
    if (signal.aborted) return [];
    await knownStill(api, headers, 'operator');
    return await take();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
    leave();
  }
}

const answeredSchema = z
  .looseObject({
    id: z.string(),
    job_id: z.string(),
    state: z.enum(ojsStates),
    attempt: z.number(),
    max_attempts: z.number().optional(),
    acknowledged: z.boolean().optional(),
    completed_at: z.string().optional(),
    next_attempt_at: z.string().optional(),
    discarded_at: z.string().optional(),
  })
  .meta({ id: 'OjsAnswered' });
const answered = {
  200: { description: 'It is in the job.', schema: answeredSchema },
  202: { description: 'It is stored; an engine will put it into the job.', schema: answeredSchema },
};
/** What answers for a job. */
const answering = {
  method: 'POST',
  access: 'operator',
  answers: answered,
  problems: ['document_missing', 'ojs_not_held', 'document_refused'],
} as const;

export const ackRoute = ojsRoute({
  ...answering,
  path: '/v1/workers/ack',
  id: 'ojsAck',
  summary: 'Say that a job is done, and with what result.',
  body: { schema: ackSchema },
  handle: async (call) => {
    const { job_id: id, worker_id: worker, result } = call.body;
    const { status, body } = await answerAs(call, { id, worker }, { data: result });
    return { status, body: { acknowledged: true, ...body } };
  },
});

export const nackRoute = ojsRoute({
  ...answering,
  path: '/v1/workers/nack',
  id: 'ojsNack',
  summary: 'Say that a job failed, and why; its retry policy says what becomes of it.',
  body: { schema: nackSchema },
  handle: async (call) => {
    const { job_id: id, worker_id: worker, error, requeue } = call.body;
    if (requeue === true) {
      const because = 'let the lease be over, or say an error that is retried.';
      throw problem('ojs_unsupported', { what: '"requeue"', because });
    }
    return answerAs(call, { id, worker }, { failure: failureOf(error) });
  },
});

type Held = { readonly id: string; readonly worker: string | undefined };
type Asked = Pick<RawCall, 'api' | 'headers' | 'signal'> & { readonly who: Principal };

/** Stores an answer and tells what came of it. @throws TwsError `ojs_not_held`, `document_missing` */
async function answerAs({ api, who, headers, signal }: Asked, held: Held, answer: WorkAnswer) {
  const work = await heldBy(api, who, held);
  if (work === undefined) throw problem('ojs_not_held', { id: held.id });
  try {
    await api.client.answerWork(work, answer);
  } catch (error) {
    // One answer counts for each lease.
    if (!(error instanceof TwsError) || error.code !== 'document_conflict') throw error;
    throw problem('ojs_not_held', { id: held.id });
  }
  const { signal: name = '' } = work.step;
  const read = () => jobFor(api, who, work.job._id);
  const job = await waitUntilReady({
    hub: api.hub,
    id: work.job._id,
    read,
    readAgain: async () => {
      await knownStill(api, headers, 'operator');
      return read();
    },
    isReady: (now) => workIn(now, name) === undefined,
    waitMs: patienceMs,
    signal,
  });
  return outcomeOf(api, held.id, job, work);
}

function outcomeOf(api: Api, id: string, job: StoredDocument, { step }: WorkerStep) {
  const { path, attempt, run, signal = '' } = step;
  const whole = envelopeOf(job, api.now());
  const most = whole.max_attempts === undefined ? {} : { max_attempts: whole.max_attempts };
  const about = { id, job_id: id, attempt, ...most };
  if (workIn(job, signal) !== undefined)
    return { status: 202, body: { ...about, state: 'active' } };
  const steps: readonly unknown[] = Array.isArray(job['steps']) ? job['steps'] : [];
  const ended = steps
    .filter(isObject)
    .find((one) => one['path'] === path && one['attempt'] === attempt && one['run'] === run);
  // The lease was over first, or the job was cancelled: the answer came too late.
  if (ended?.['signal_id'] === undefined) throw problem('ojs_not_held', { id });
  const { due, end } = ended;
  const at = new Date(Number(end)).toISOString();
  if (ended['state'] === '$$complete') {
    return { status: 200, body: { ...about, state: 'completed', completed_at: at } };
  }
  if (typeof due === 'number') {
    const next = new Date(due).toISOString();
    return { status: 200, body: { ...about, state: 'retryable', next_attempt_at: next } };
  }
  return {
    status: 200,
    body: { ...about, state: 'discarded', completed_at: at, discarded_at: at },
  };
}

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
          state: z.literal('running'),
          jobs_extended: z.array(z.string()),
          server_time: z.string(),
        })
        .meta({ id: 'OjsHeard' }),
    },
  },
  problems: ['document_refused'],
  handle: async ({ api, body, who }) => {
    const { worker_id: worker, job_id: one, active_jobs: many = [], visibility_timeout_ms } = body;
    const ids = [...new Set([...(one === undefined ? [] : [one]), ...many])];
    const renew = async (id: string) => {
      const work = await heldBy(api, who, { id, worker }).catch(unlessMissing);
      const options = { leaseMs: visibility_timeout_ms, now: api.now };
      return work && (await api.client.renewWork(work, options));
    };
    const extended: string[] = [];
    for (let from = 0; from < ids.length; from += besideEachOther) {
      const some = ids.slice(from, from + besideEachOther);
      const renewed = await Promise.all(some.map(renew));
      extended.push(...some.filter((_, i) => renewed[i] !== undefined));
    }
    const time = new Date(api.now()).toISOString();
    return { status: 200, body: { state: 'running', jobs_extended: extended, server_time: time } };
  },
});

function unlessMissing(error: unknown): undefined {
  if (error instanceof TwsError && error.code === 'document_missing') return undefined;
  throw error;
}

/**
 * What a worker has by the name that it was told: a job, or a job and the place of a step in it.
 * Undefined where nobody has it, or another worker. @throws TwsError `document_missing`
 */
async function heldBy(
  api: Api,
  who: Principal,
  { id, worker }: Held,
): Promise<WorkerStep | undefined> {
  const isOwn = ({ step }: WorkerStep): boolean => worker === undefined || step.worker === worker;
  const at = id.lastIndexOf('/');
  const whole = await jobFor(api, who, id).catch(at > 0 ? unlessMissing : undefined);
  const own = whole === undefined ? [] : worksOf(whole).filter(isOwn);
  if (own.length > 0) return own.length === 1 ? own[0] : undefined;
  if (at <= 0) return undefined;
  // A job may have the name by which a step of another one is told.
  const job = await jobFor(api, who, id.slice(0, at)).catch(
    whole === undefined ? undefined : unlessMissing,
  );
  const path = id.slice(at + 1);
  return job && worksOf(job).find((work) => work.step.path === path && isOwn(work));
}

function worksOf(job: StoredDocument): readonly WorkerStep[] {
  return leasedSteps(job).map((step) => ({ job, step }));
}
