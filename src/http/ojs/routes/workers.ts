import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { TakenWork, WorkerStep, WorkAnswer } from '../../../client.js';
import { workIn } from '../../../client-rules.js';
import { problem, TwsError } from '../../../errors.js';
import { isObject } from '../../../model/object.js';
import type { StoredDocument } from '../../../model/document.js';
import { textOf } from '../../../words.js';
import { hasOwner, mayHave } from '../../access/owners.js';
import type { Principal } from '../../access/principal.js';
import type { Api } from '../../api.js';
import { waitUntilReady } from '../../feed/wait.js';
import type { RawCall } from '../../route.js';
import { jobFor, knownStill, waiting } from '../../routes/common.js';
import { attemptIn, envelopeOf, envelopeOfWork, limitOfJob } from '../envelope.js';
import { unlessMissing } from '../workflow/find.js';
import { leaseLengthMs } from '../durations.js';
import { failureOf } from '../failure.js';
import { heldBy, type HeldWork } from '../held.js';
import { ojsRoute } from '../route.js';
import { ackSchema, envelopeSchema, fetchSchema, nackSchema } from '../schemas.js';
import { ojsStateOf, ojsStates } from '../states.js';
import { patienceMs } from '../cancel.js';
import { workLine, type WorkWish } from '../work-line.js';
import { offerOptions } from '../offers.js';

export const fetchRoute = ojsRoute({
  method: 'POST',
  path: '/v1/workers/fetch',
  id: 'ojsFetch',
  summary: 'Take jobs to do; nobody else gets them while they are leased.',
  description: 'Where there is none it waits for one: two seconds, or as long as "wait_ms" says.',
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
      batch_size: batch = 1,
      count = batch,
      wait_ms: patience = shortMs,
      visibility_timeout: length,
      worker_id: worker = who.name,
      visibility_timeout_ms: leaseMs = length === undefined ? undefined : leaseLengthMs(length),
    } = body;
    const isMeant = (job: StoredDocument): boolean => job['type'] === 'job' && mayHave(who, job);
    const reach = JSON.stringify(who.owners);
    const take = (mayMiss: boolean) =>
      api.client.takeWork({
        mayMiss,
        queues: [...new Set(queues)],
        most: count,
        worker,
        leaseMs,
        isMeant,
        isOwner: (owner) => hasOwner(who, owner),
        now: api.now,
      });
    const works = await waiting(api, patience, (waitMs) =>
      takeOrWait(api, { take, queues, reach, isMeant, waitMs, signal, headers }),
    );
    const now = api.now();
    return { status: 200, body: { jobs: works.map((work) => envelopeOfWork(work, now)) } };
  },
});

/** So long a request for work waits for some, ms. */
const shortMs = 2_000;

type Taking = WorkWish & {
  readonly take: (mayMiss: boolean) => Promise<TakenWork>;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly headers: IncomingHttpHeaders;
};

/** Takes what is there, or what comes in time. */
async function takeOrWait(api: Api, { take, waitMs, signal, headers, ...wish }: Taking) {
  if (waitMs === 0) return (await took(api, await take(false), signal)).works;
  const place = await workLine(api.hub).join(wish);
  let isOver = false;
  const end = (): void => {
    isOver = true;
    place.wake();
  };
  const timer = setTimeout(end, waitMs);
  signal.addEventListener('abort', end, { once: true });
  // Until this request has looked itself, whoever comes after it has to.
  let mayBeMore = true;
  try {
    for (;;) {
      const { works, isLimited, isLeft } = await took(api, await take(!isOver), signal);
      mayBeMore = works.length > 0 || isLimited || signal.aborted;
      if (mayBeMore || isOver) return works;
      mayBeMore = true;
      // What others kept changing is still there, and nobody may tell of it again.
      if (!isLeft) await place.woken();
      if (signal.aborted) return [];
      await knownStill(api, headers, 'operator');
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    place.leave(mayBeMore);
  }
}

/** What was taken, or nothing, given back, when nobody hears of it any more. Tells of what went wrong. */
async function took(api: Api, taken: TakenWork, signal: AbortSignal): Promise<TakenWork> {
  const warn = (reason: unknown): void => {
    api.log.warn({ error: textOf(reason) }, 'A step could not be given to a worker.');
  };
  taken.errors.forEach(warn);
  if (!signal.aborted) return taken;
  const back = await Promise.allSettled(
    taken.works.map((work) => api.client.returnWork(work, api.now)),
  );
  for (const one of back) if (one.status === 'rejected') warn(one.reason);
  return { ...taken, works: [] };
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
    retry_delay_ms: z.number().optional().describe('The wait before the next attempt.'),
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
    if (requeue === true) return giveBack(call, { id, worker });
    return answerAs(call, { id, worker }, { failure: failureOf(error) });
  },
});

type Asked = Pick<RawCall, 'api' | 'headers' | 'signal'> & { readonly who: Principal };

/** Stores an answer and tells what came of it. @throws TwsError `ojs_not_held`, `document_missing` */
async function answerAs({ api, who, headers, signal }: Asked, held: HeldWork, answer: WorkAnswer) {
  const work = await heldBy(api, who, held);
  if (work === undefined) throw await notHeld(api, who, held.id);
  let job: StoredDocument | undefined;
  try {
    job = await api.client.answerWork(work, answer, offerOptions(api));
  } catch (error) {
    // One answer counts for each lease.
    if (!(error instanceof TwsError) || error.code !== 'document_conflict') throw error;
    throw await notHeld(api, who, held.id);
  }
  if (job !== undefined) return outcomeOf(api, held.id, job, work);
  const { signal: name = '' } = work.step;
  const read = () => jobFor(api, who, work.job._id);
  job = await waitUntilReady({
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

/** Gives a job back that a worker has: it is fetchable at once. @throws TwsError `ojs_not_held` */
async function giveBack({ api, who }: Asked, held: HeldWork) {
  const work = await heldBy(api, who, held);
  const job = work && (await api.client.returnWork(work, api.now));
  if (work === undefined || job === undefined) throw await notHeld(api, who, held.id);
  const { attempt } = envelopeOf(job, api.now());
  const about = { id: held.id, job_id: held.id, attempt, ...limitOfJob(job) };
  return { status: 200, body: { ...about, state: 'available' } };
}

/** The problem that nobody has a job, with how it stands. */
async function notHeld(api: Api, who: Principal, id: string): Promise<TwsError> {
  const job = await unlessMissing(jobFor(api, who, id));
  return problem('ojs_not_held', {
    id,
    ...(job === undefined ? {} : { state: ojsStateOf(job, api.now()) }),
  });
}

function outcomeOf(api: Api, id: string, job: StoredDocument, { job: before, step }: WorkerStep) {
  const { path, attempt: number, run, signal = '' } = step;
  const { attempt } = attemptIn(before, step);
  const about = { id, job_id: id, attempt, ...limitOfJob(job) };
  if (workIn(job, signal) !== undefined)
    return { status: 202, body: { ...about, state: 'active' } };
  const steps: readonly unknown[] = Array.isArray(job['steps']) ? job['steps'] : [];
  const ended = steps
    .filter(isObject)
    .find((one) => one['path'] === path && one['attempt'] === number && one['run'] === run);
  // The lease was over first, or the job was cancelled: the answer came too late.
  if (ended?.['signal_id'] === undefined) {
    throw problem('ojs_not_held', { id, state: ojsStateOf(job, api.now()) });
  }
  const { due, end } = ended;
  const at = new Date(Number(end)).toISOString();
  if (ended['state'] === '$$complete') {
    return { status: 200, body: { ...about, state: 'completed', completed_at: at } };
  }
  if (typeof due === 'number') {
    const next = {
      next_attempt_at: new Date(due).toISOString(),
      retry_delay_ms: due - Number(end),
    };
    return { status: 200, body: { ...about, state: 'retryable', ...next } };
  }
  return {
    status: 200,
    body: { ...about, state: 'discarded', completed_at: at, discarded_at: at },
  };
}
