import { queueOfDocument, readSteps, type StepReading, type WorkerStep } from '../../client.js';
import { isObject } from '../../model/object.js';
import { defaultPriority } from '../../model/job.js';
import type { StoredDocument } from '../../model/document.js';
import { toEpochMs } from '../../model/scalars.js';
import { usualWorkLeaseMs, workOptionsOf } from '../../model/work.js';
import { textOf } from '../../words.js';
import { ojsVersion } from './protocol.js';
import { ojsRetrySchema, type Envelope } from './schemas.js';
import { isTerminal, ojsStateOf } from './states.js';

type Doc = Readonly<Record<string, unknown>>;

/** A job as the Open Job Spec has it. `now`: epoch ms. Reads any document, also a malformed one. */
export function envelopeOf(job: StoredDocument, now: number): Envelope {
  const { ojs: given, tags } = job;
  const ojs = isObject(given) ? given : {};
  const state = ojsStateOf(job, now);
  const schema = ojs['schema'];
  return {
    ...(isObject(ojs['more']) ? ojs['more'] : {}),
    specversion: ojsVersion,
    id: job._id,
    type: typeOf(job, ojs),
    state,
    queue: queueOfJob(job),
    args: argsOf(job, ojs),
    meta: isObject(ojs['meta']) ? ojs['meta'] : {},
    priority: defaultPriority - (numberOf(job['priority']) ?? defaultPriority),
    ...attemptsOf(job),
    ...retryOf(ojs),
    ...time('scheduled_at', job['exec_after']),
    ...time('expires_at', job['expires']),
    ...(Array.isArray(tags) ? { tags: tags.filter((tag) => typeof tag === 'string') } : {}),
    ...(typeof schema === 'string' ? { schema } : {}),
    ...timesOf(job, ojs, state, now),
    ...outcomeOf(job, state),
  };
}

/** A step that a worker holds, as a job of the Open Job Spec. */
export function envelopeOfWork({ job, step }: WorkerStep, now: number): Envelope {
  const whole = envelopeOf(job, now);
  const work = workOptionsOf(step.params);
  const { error: _error, result: _result, completed_at: _end, retry, ...rest } = whole;
  const alone = isAlone(job);
  return {
    ...rest,
    ...(alone && retry !== undefined ? { retry } : {}),
    id: workIdOf({ job, step }),
    ...(work.queue === undefined ? {} : { queue: work.queue }),
    type: work.type ?? (alone ? whole.type : step.task),
    state: 'active',
    args: workArgs(job, step.params),
    attempt: step.attempt,
    visibility_timeout_ms: Number(step.until) - Number(step.leased),
    ...(work.timeout === undefined ? {} : { timeout_ms: work.timeout }),
    ...time('started_at', step.leased),
    tws: {
      job: job._id,
      step: step.name,
      path: step.path,
      lease_ms: work.lease ?? usualWorkLeaseMs,
    },
  };
}

/** How a worker calls a step: by its job where that is all of it, else by its place as well. */
export function workIdOf({ job, step }: WorkerStep): string {
  return isAlone(job) ? job._id : `${job._id}/${step.path}`;
}

/** Whether a job has one step and no more. */
export function isAlone({ tasks }: StoredDocument): boolean {
  const list = isObject(tasks) ? tasks['sequence'] : tasks;
  if (!Array.isArray(list) || list.length !== 1) return false;
  const only: unknown = list[0];
  return typeof only === 'string' || (isObject(only) && typeof only['task'] === 'string');
}

/** The queue of a job; that of an order for a worker, where engines of any queue offer it. */
export function queueOfJob(job: Doc): string {
  const { queue, ojs } = job;
  const ordered = isObject(ojs) ? ojs['queue'] : undefined;
  return typeof queue !== 'string' && typeof ordered === 'string' ? ordered : queueOfDocument(job);
}

function typeOf(job: StoredDocument, ojs: Doc): string {
  const known = [ojs['type'], job['flow']].find((one) => typeof one === 'string');
  return known ?? 'tws.tasks';
}

function argsOf({ params }: Doc, ojs: Doc): unknown[] {
  const { args } = ojs;
  if (Array.isArray(args)) return args as unknown[];
  return isObject(params) && Object.keys(params).length > 0 ? [params] : [];
}

/** What a worker works on: the parameters of its step, or where it has none what was enqueued. */
function workArgs(job: StoredDocument, params: unknown): unknown[] {
  const { worker: _worker, ...own } = isObject(params) ? params : {};
  const { args } = own as { readonly args?: unknown };
  if (Array.isArray(args)) return args as unknown[];
  if (Object.keys(own).length > 0) return [own];
  const { ojs } = job;
  return isObject(ojs) && Array.isArray(ojs['args']) ? (ojs['args'] as unknown[]) : [];
}

function attemptsOf(job: StoredDocument): { attempt: number; max_attempts?: number } {
  // What nobody has fetched yet is no attempt of a worker.
  const attempts = readSteps(job).map(({ attempt = 1, plugin, worker }) =>
    plugin === 'worker' && worker === undefined ? attempt - 1 : attempt,
  );
  const limit = isAlone(job) ? limitOf(job) : undefined;
  return {
    attempt: Math.max(0, ...attempts),
    ...(limit === undefined ? {} : { max_attempts: limit + 1 }),
  };
}

/** The retries of a job of one step: as it says itself, or its task. */
function limitOf({ tasks, definitions }: StoredDocument): number | undefined {
  const list = isObject(tasks) ? tasks['sequence'] : tasks;
  const [only] = list as readonly unknown[];
  const own = isObject(only) ? only : {};
  const [task] = isObject(definitions) ? Object.values(definitions) : [];
  const retry = own['retry'] ?? (isObject(task) ? (task['retry'] ?? 0) : undefined);
  return numberOf(isObject(retry) ? (retry['limit'] ?? 0) : retry);
}

function retryOf(ojs: Doc): Pick<Envelope, 'retry'> {
  const parsed = ojsRetrySchema.safeParse(ojs['retry']);
  return parsed.success ? { retry: parsed.data } : {};
}

function timesOf(
  job: StoredDocument,
  ojs: Doc,
  state: Envelope['state'],
  now: number,
): Partial<Envelope> {
  const created = numberOf(ojs['created_at']);
  const steps = readSteps(job);
  const after = momentOf(job['exec_after']) ?? 0;
  const available = created === undefined ? undefined : Math.max(created, Math.min(after, now));
  const last = steps.at(-1);
  return {
    ...time('created_at', created),
    ...(state === 'scheduled' || state === 'pending' ? {} : time('enqueued_at', available)),
    ...time('started_at', begunAt(last)),
    ...(state === 'retryable' ? time('next_attempt_at', last?.due) : {}),
    ...endOf(job, state),
  };
}

/** Work begins when a worker has it, not when it is offered. */
function begunAt(step: StepReading | undefined): number | undefined {
  return step?.leased ?? step?.start ?? step?.accepted;
}

/** When a job ended, under the names of its state. */
function endOf({ end }: Doc, state: Envelope['state']): Partial<Envelope> {
  switch (state) {
    case 'completed':
      return time('completed_at', end);
    case 'cancelled':
      return time('cancelled_at', end);
    case 'discarded':
      return { ...time('completed_at', end), ...time('discarded_at', end) };
    case 'scheduled':
    case 'available':
    case 'pending':
    case 'active':
    case 'retryable':
      return {};
  }
}

function outcomeOf(job: StoredDocument, state: Envelope['state']): Partial<Envelope> {
  const steps: readonly unknown[] = Array.isArray(job['steps']) ? job['steps'] : [];
  const last = steps.at(-1);
  const errors = steps
    .filter(isObject)
    .flatMap(({ failure, attempt, end }) =>
      isObject(failure) ? [{ ...errorOf(failure), attempt, ...time('failed_at', end) }] : [],
    );
  const history = errors.length === 0 ? {} : { errors };
  if (state === 'completed') {
    const own = isAlone(job) && isObject(last) ? last['result'] : undefined;
    const result = job['result'] ?? own;
    return { ...history, ...(result === undefined ? {} : { result }) };
  }
  const own = isTerminal(state) ? job['failure'] : undefined;
  const newest = isObject(own) ? errorOf(own) : errors.at(-1);
  return { ...history, ...(newest === undefined ? {} : { error: newest }) };
}

const late: ReadonlySet<string> = new Set([
  ...['StepTimeout', 'FlowTimeout', 'TotalTimeout', 'WaitTimeout'],
  ...['HeartbeatTimeout', 'AcceptTimeout', 'WorkerLost'],
]);

/** A failure in the words of the specification: a code of its vocabulary, and our name as the type. */
function errorOf(failure: Doc): NonNullable<Envelope['error']> {
  const { name, message, code, retryable, details } = failure;
  const type = textOf(name);
  const known = late.has(type) ? 'timeout' : type === 'Cancelled' ? 'cancelled' : 'handler_error';
  return {
    code: typeof code === 'string' ? code : known,
    type,
    message: textOf(message),
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
    ...(isObject(details) ? { details } : {}),
  };
}

function time<K extends string>(key: K, value: unknown): { [P in K]?: string } {
  const ms = momentOf(value);
  const date = new Date(ms ?? NaN);
  return Number.isNaN(date.getTime())
    ? {}
    : ({ [key]: date.toISOString() } as { [P in K]?: string });
}

function momentOf(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const ms = toEpochMs(value);
  return Number.isFinite(ms) ? ms : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
