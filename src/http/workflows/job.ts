import { statusOf } from '../../reading/status.js';
import { chainResultsOf, type ChainResult } from '../../reading/chain-results.js';
import { isCancelRequested } from '../../model/job.js';
import { isObject } from '../../model/object.js';
import { isOfWork } from '../../model/work.js';
import { toEpochMs } from '../../model/scalars.js';
import type { Status } from '../../model/status.js';
import { seenWorkflow, type SeenWorkflow } from './definition.js';

/** The words for how a job stands. */
export const executions = [
  'queued',
  'running',
  'retried',
  'succeeded',
  'failed',
  'canceled',
  'waiting',
] as const;
export type Execution = (typeof executions)[number];

/** The statuses in which a job may be that stands so. */
export const statusesOf: Readonly<Record<Execution, readonly Status[]>> = {
  queued: ['queued', 'scheduled', 'paused'],
  running: ['running', 'waiting'],
  retried: ['queued', 'scheduled', 'waiting', 'running'],
  succeeded: ['succeeded'],
  failed: ['failed'],
  canceled: ['cancelled', 'queued', 'scheduled', 'paused', 'running', 'waiting'],
  waiting: ['waiting'],
};

type Doc = Readonly<Record<string, unknown>>;

/** How a job stands, in the words of node-workflow. One that is to be cancelled counts as cancelled. */
export function executionOf(job: Doc, now: number): Execution {
  const status = statusOf(job, now);
  switch (status) {
    case 'succeeded':
    case 'failed':
      return status;
    case 'cancelled':
      return 'canceled';
    case 'queued':
    case 'scheduled':
    case 'paused':
    case 'running':
    case 'waiting':
      if (isCancelRequested(job)) return 'canceled';
      return liveExecution(job, status, now);
  }
}

function liveExecution(job: Doc, status: Status, now: number): Execution {
  if (waitingStep(job) !== undefined) return 'waiting';
  if (typeof job['resume_at'] === 'number' && job['resume_at'] > now) return 'retried';
  return status === 'running' || status === 'waiting' ? 'running' : 'queued';
}

/** The step of a job that waits for a signal; not one that is for a worker, which has a say of its own. */
export function waitingStep({ steps }: Doc): Doc | undefined {
  const all = Array.isArray(steps) ? (steps as readonly unknown[]).filter(isObject) : [];
  return all.findLast(
    ({ state, signal }) => state === '$$waiting' && typeof signal === 'string' && !isOfWork(signal),
  );
}

/** A job as clients of node-workflow see it. `flow`: the workflow as it is stored, where it is there. */
export function jobSeen(job: Doc, flow: SeenWorkflow | undefined, now: number): Doc {
  const { data, params, exec_after: after, start } = job;
  const own: Doc = isObject(job['flow_definition']) ? job['flow_definition'] : {};
  const workflow = seenWorkflow({ ...own, tasks: job['tasks'] }, flow?.uuid) ?? flow;
  const known: Doc = workflow ?? {};
  const { uuid, name, chain_md5: _chain, onerror_md5: _onerror, ...more } = known;
  const results = chainResultsOf(job);
  const created = start ?? job['submitted'];
  return {
    ...objectIn(data),
    ...more,
    ...pick(job, ['target', 'locks']),
    uuid: job['_id'],
    workflow_uuid: uuid ?? flow?.uuid,
    name: name ?? job['flow'],
    params: { ...objectIn(params), ...objectIn(objectIn(data)['params']) },
    execution: executionOf(job, now),
    num_attempts: Number(job['restarts'] ?? 0),
    ...timeText('exec_after', after ?? created),
    ...timeText('created_at', created),
    ...timeText('started', start),
    ...elapsedOf(job, now),
    chain_results: results.chain,
    onerror_results: results.onerror,
    oncancel_results: results.oncancel,
  };
}

const objectIn = (value: unknown): Doc => (isObject(value) ? value : {});

/** Seconds that a job has taken so far. */
function elapsedOf({ start, end }: Doc, now: number): Doc {
  if (typeof start !== 'number') return {};
  return { elapsed: ((typeof end === 'number' ? end : now) - start) / 1_000 };
}

/** The job once it is resumed: the result of the task that waited is what it was told. */
export function resumedJob(seen: Doc, told: Pick<ChainResult, 'result' | 'error'>, now: number) {
  const chain = seen['chain_results'] as readonly ChainResult[];
  const at = chain.findLastIndex(({ error }) => error === 'wait');
  const finished = { finished_at: new Date(now).toISOString() };
  return {
    ...seen,
    execution: told.error === '' ? 'queued' : 'failed',
    chain_results: chain.map((one, i) => (i === at ? { ...one, ...told, ...finished } : one)),
  };
}

/** The information about a job: what was posted, and what its tasks have told, in the order of time. */
export function infoOf({ notes, steps }: Doc): readonly unknown[] {
  const posted = listOf(notes).map((note) => ({
    at: Number(note['at']),
    info: parsed(note['text']),
  }));
  const lines = listOf(steps).flatMap((step) => listOf(step['log']));
  const told = lines.flatMap(({ at, data }) =>
    isObject(data) && 'info' in data
      ? [{ at: Number(at), info: { data: data['info'], ...timeText('date', at) } }]
      : [],
  );
  return [...posted, ...told].toSorted((a, b) => a.at - b.at).map(({ info }) => info);
}

const listOf = (value: unknown): readonly Doc[] =>
  Array.isArray(value) ? (value as readonly unknown[]).filter(isObject) : [];

/** What `POST …/info` noted is an object; another note is a message. */
function parsed(text: unknown): unknown {
  try {
    const value = JSON.parse(String(text)) as unknown;
    if (isObject(value)) return value;
  } catch {
    // Somebody else noted it.
  }
  return { message: text };
}

function timeText(key: string, at: unknown): Doc {
  const isTime = typeof at === 'number' || typeof at === 'string';
  return isTime ? { [key]: new Date(toEpochMs(at)).toISOString() } : {};
}

function pick(job: Doc, keys: readonly string[]): Doc {
  return Object.fromEntries(keys.flatMap((key) => (key in job ? [[key, job[key]]] : [])));
}
