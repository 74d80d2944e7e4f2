import { queueOfDocument, readSteps, type StepReading, type WorkerStep } from '../../client.js';
import { isObject } from '../../model/object.js';
import { defaultPriority } from '../../model/job.js';
import type { StoredDocument } from '../../model/document.js';
import { usualWorkLeaseMs, workOptionsOf } from '../../model/work.js';
import type { LiveJob } from '../../model/job.js';
import { entryOf } from '../../reading/entries.js';
import { upstreamOf } from '../../reading/node-outline.js';
import { textOf } from '../../words.js';
import { ojsVersion } from './protocol.js';
import { ojsRetrySchema, type Envelope } from './schemas.js';
import { isTerminal, ojsStateOf } from './states.js';
import { epochOf, timeText } from './times.js';

type Doc = Readonly<Record<string, unknown>>;

/** A job as the Open Job Spec has it. `now`: epoch ms. Reads any document, also a malformed one. */
export function envelopeOf(job: StoredDocument, now: number): Envelope {
  const { tags } = job;
  const ojs = ojsOf(job);
  const steps = readSteps(job);
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
    attempt: attemptsIn(job, steps),
    ...limitOfJob(job),
    ...retryOf(ojs),
    ...givenTime('scheduled_at', job['exec_after'], ojs),
    ...givenTime('expires_at', job['expires'], ojs),
    ...(Array.isArray(tags) ? { tags: tags.filter((tag) => typeof tag === 'string') } : {}),
    ...(typeof schema === 'string' ? { schema } : {}),
    ...timesOf(job, { ojs, steps, state }, now),
    ...outcomeOf(job, state),
  };
}

/** A step that a worker holds, as a job of the Open Job Spec. */
export function envelopeOfWork({ job, step }: WorkerStep, now: number): Envelope {
  const whole = envelopeOf(job, now);
  const work = workOptionsOf(step.params);
  const { error: _error, result: _result, completed_at: _end, retry, ...rest } = whole;
  const alone = isAlone(job);
  const own = keptStep(job, work.id);
  return {
    ...rest,
    ...(alone && retry !== undefined ? { retry } : {}),
    ...(own === undefined ? {} : stepFields(job, step, own)),
    id: workIdOf({ job, step }),
    ...(work.queue === undefined ? {} : { queue: work.queue }),
    type: work.type ?? (alone ? whole.type : step.task),
    state: 'active',
    args: workArgs(job, step.params, own),
    ...attemptIn(job, step),
    visibility_timeout_ms: Number(step.until) - Number(step.leased),
    ...(work.timeout === undefined ? {} : { timeout_ms: work.timeout }),
    ...timeText('started_at', step.leased),
    tws: {
      job: job._id,
      step: step.name,
      path: step.path,
      lease_ms: work.lease ?? usualWorkLeaseMs,
    },
  };
}

/** Which attempt a step is, and how long it was waited for after the one before. */
export function attemptIn(job: StoredDocument, { signal, path }: WorkerStep['step']) {
  const steps = readSteps(job);
  const own = steps.find((one) => one.path === path && one.signal === signal);
  if (own === undefined) return { attempt: 0 };
  const before = steps.findLast(
    ({ path: at, run, place, due }) =>
      at === path && run === own.run && place < own.place && due !== undefined,
  );
  const delay = before?.due === undefined ? undefined : before.due - Number(before.end);
  return {
    attempt: attemptOf(steps, own),
    ...(delay === undefined ? {} : { retry_delay_ms: delay }),
  };
}

/** How a step is called, and what it says of itself as work. */
export function stepWorkId(
  job: StoredDocument,
  { path, params }: { path: string; params?: unknown },
) {
  const { id, type, queue } = workOptionsOf(params);
  const own = isAlone(job) ? job._id : (id ?? `${job._id}/${path}`);
  return { id: own, type, queue };
}

/** What was kept of a step of a workflow, by its id. */
export function keptStep({ ojs }: StoredDocument, id: string | undefined): Doc | undefined {
  const steps = isObject(ojs) ? ojs['steps'] : undefined;
  const step = isObject(steps) && id !== undefined ? steps[id] : undefined;
  return isObject(step) ? step : undefined;
}

/** What a step of a workflow has for itself. */
function stepFields(job: StoredDocument, { path }: WorkerStep['step'], own: Doc) {
  const { meta, tags } = own;
  return {
    workflow_id: job._id,
    parent_results: [...upstreamOf(job as unknown as LiveJob, path)],
    meta: isObject(meta) ? meta : {},
    ...(Array.isArray(tags) ? { tags: tags as string[] } : {}),
    ...retryOf(own),
    ...limitOfStep(job, path),
  };
}

/** How often a step of a workflow is tried. */
function limitOfStep(job: StoredDocument, path: string): { readonly max_attempts?: number } {
  const retry = entryOf(job as unknown as LiveJob, path)?.retry;
  const limit = isObject(retry) ? (retry['limit'] ?? 0) : retry;
  return typeof limit === 'number' ? { max_attempts: limit + 1 } : {};
}

/** How a worker calls a step: by its job where that is all of it, else by its place as well. */
export function workIdOf({ job, step }: WorkerStep): string {
  if (isAlone(job)) return job._id;
  return workOptionsOf(step.params).id ?? `${job._id}/${step.path}`;
}

/** Whether a job has one step and no more. */
export function isAlone({ tasks }: StoredDocument): boolean {
  const list = isObject(tasks) ? tasks['sequence'] : tasks;
  if (!Array.isArray(list) || list.length !== 1) return false;
  const only: unknown = list[0];
  return typeof only === 'string' || (isObject(only) && typeof only['task'] === 'string');
}

/** What was ordered: the job tells it, or the flow that was made for a cron job. */
function ojsOf({ ojs, flow_definition: flow, schedule }: Doc): Doc {
  if (isObject(ojs)) return ojs;
  const ofFlow = isObject(flow) ? flow['ojs'] : undefined;
  if (!isObject(ofFlow)) return {};
  const slot = isObject(schedule) ? schedule['slot'] : undefined;
  return typeof slot === 'number' ? { created_at: slot, ...ofFlow } : ofFlow;
}

/** The queue of a job; that of an order for a worker, where engines of any queue offer it. */
export function queueOfJob(job: Doc): string {
  const { queue } = job;
  const { queue: ordered } = ojsOf(job);
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
function workArgs(job: StoredDocument, params: unknown, kept: Doc | undefined): unknown[] {
  if (Array.isArray(kept?.['args'])) return kept['args'] as unknown[];
  const { worker: _worker, ...own } = isObject(params) ? params : {};
  const { args } = own as { readonly args?: unknown };
  if (Array.isArray(args)) return args as unknown[];
  if (Object.keys(own).length > 0) return [own];
  const { args: ordered } = ojsOf(job);
  return Array.isArray(ordered) ? (ordered as unknown[]) : [];
}

function attemptsIn(job: StoredDocument, steps: readonly StepReading[]): number {
  const run = Number(job['run'] ?? 1);
  const attempts = steps.filter((step) => step.run === run).map((step) => attemptOf(steps, step));
  return Math.max(0, ...attempts);
}

/** How often a job of one step is tried. */
export function limitOfJob(job: StoredDocument): { readonly max_attempts?: number } {
  const limit = isAlone(job) ? limitOf(job) : undefined;
  return limit === undefined ? {} : { max_attempts: limit + 1 };
}

/**
 * The number of an attempt for workers: it begins anew when a dead letter is tried again, and what was given
 * back, or nobody has fetched yet, counts for nothing.
 */
export function attemptOf(steps: readonly StepReading[], step: StepReading): number {
  const counted = steps.filter(
    ({ place, path, run, ...one }) =>
      place <= step.place && path === step.path && run === step.run && counts(one),
  );
  return counted.length;
}

function counts({ state, plugin, worker, structure }: Omit<StepReading, 'place' | 'path' | 'run'>) {
  if (structure !== undefined) return false;
  // One that was given back is cancelled, and has nobody to count for.
  return plugin === 'worker' ? worker !== undefined : state !== '$$skipped';
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

function retryOf({ retry }: Doc): Pick<Envelope, 'retry'> {
  if (retry === undefined) return {};
  const parsed = ojsRetrySchema.safeParse(retry);
  return parsed.success ? { retry: parsed.data } : {};
}

type Read = {
  readonly ojs: Doc;
  readonly steps: readonly StepReading[];
  readonly state: Envelope['state'];
};

function timesOf(job: StoredDocument, { ojs, steps, state }: Read, now: number): Partial<Envelope> {
  const created = numberOf(ojs['created_at']);
  const after = epochOf(job['exec_after']) ?? 0;
  const available = created === undefined ? undefined : Math.max(created, Math.min(after, now));
  const last = steps.at(-1);
  return {
    ...timeText('created_at', created),
    ...(state === 'scheduled' || state === 'pending' ? {} : timeText('enqueued_at', available)),
    ...timeText('started_at', begunAt(last)),
    ...(state === 'retryable' ? timeText('next_attempt_at', last?.due) : {}),
    ...endOf(job, state, steps.some(hasBegun)),
  };
}

/** Somebody has worked on it. */
function hasBegun({ plugin, worker, start, accepted }: StepReading): boolean {
  return plugin === 'worker' ? worker !== undefined : (start ?? accepted) !== undefined;
}

/** Work begins when a worker has it, not when it is offered. */
function begunAt(step: StepReading | undefined): number | undefined {
  if (step?.plugin === 'worker') return step.leased;
  return step?.leased ?? step?.start ?? step?.accepted;
}

/** When a job ended, under the names of its state. */
function endOf({ end }: Doc, state: Envelope['state'], wasBegun: boolean): Partial<Envelope> {
  switch (state) {
    case 'completed':
      return timeText('completed_at', end);
    case 'cancelled':
      return timeText('cancelled_at', end);
    case 'discarded':
      // What expired before it began was never done.
      return {
        ...(wasBegun ? timeText('completed_at', end) : {}),
        ...timeText('discarded_at', end),
      };
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
      isObject(failure) ? [{ ...errorOf(failure), attempt, ...timeText('occurred_at', end) }] : [],
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
export function errorOf(failure: Doc): NonNullable<Envelope['error']> {
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

/** A time as it was given, unless the job has got another one since. */
function givenTime<K extends string>(key: K, value: unknown, ojs: Doc): { [P in K]?: string } {
  const text = ojs[key];
  const isSame = typeof text === 'string' && epochOf(text) === epochOf(value);
  return isSame ? ({ [key]: text } as { [P in K]?: string }) : timeText(key, value);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
