import { defaultPriority } from '../../model/job.js';
import { isObject } from '../../model/object.js';
import type { Unique } from '../../model/unique.js';
import type { WorkRate } from '../../model/work.js';
import { ourUnique } from './unique.js';
import { durationMs } from './durations.js';
import { optionsOf, ourRetry, rankAndTags, unsupported, type SettledOptions } from './options.js';
import { optionNames, type OjsOrder } from './schemas.js';

/*
 * A job as the Open Job Spec has it becomes one of ours. What it says that cannot be done is refused;
 * nothing that would change its meaning is left out in silence.
 */

/** What the type of a job names. */
export type Target =
  | { readonly kind: 'flow' }
  /** `byType`: the task takes jobs of every type that is no flow and no task. */
  | {
      readonly kind: 'task';
      readonly name: string;
      readonly isWork: boolean;
      readonly hasRetry: boolean;
      /** It says how long a worker has its work. */
      readonly hasLease: boolean;
      readonly byType: boolean;
    };

export type Circumstances = {
  readonly target: Target;
  readonly owner: string;
  readonly id: string;
  /** Epoch ms. */
  readonly now: number;
};

/**
 * The job document of an order; what the specification adds is kept in `ojs`.
 * @throws TwsError `ojs_unsupported`, `request_invalid`
 */
export function jobOfOrder(
  order: OjsOrder,
  { target, owner, id, now }: Circumstances,
): Record<string, unknown> {
  const options = optionsOf(order);
  const after = options.scheduled_at ?? options.delay_until;
  const { expires_at: expires, queue } = options;
  return {
    _id: id,
    type: 'job',
    owner,
    ...workOf(order, options, target),
    ...(queue == null || isWork(target) ? {} : { queue }),
    ...rankAndTags(options),
    ...(after == null ? {} : { exec_after: timeOf(after, now) }),
    ...(expires == null ? {} : { expires: timeOf(expires, now) }),
    ...(options.pending === true ? { paused: true } : {}),
    ...(options.unique == null ? {} : { unique: uniqueOf(order, options) }),
    ojs: keptOf(order, options, now),
  };
}

function uniqueOf(order: OjsOrder, { unique, queue }: SettledOptions): Unique {
  const { type, args } = order;
  const meta = metaOf(order);
  return ourUnique(unique ?? {}, { type, queue: queue ?? 'default', args, meta });
}

/** What the specification has and our jobs have not, or in another form. */
function keptOf(order: OjsOrder, options: SettledOptions, now: number): Record<string, unknown> {
  const { queue, retry, expires_at: expires } = options;
  const scheduled = options.scheduled_at ?? options.delay_until;
  const { type, args, schema } = order;
  const meta = metaOf(order);
  const more = unknownIn(order);
  return {
    type,
    args,
    created_at: now,
    ...(Object.keys(meta).length === 0 ? {} : { meta }),
    ...(queue == null ? {} : { queue }),
    ...(schema == null ? {} : { schema }),
    ...(retry == null ? {} : { retry }),
    ...textKept('scheduled_at', scheduled),
    ...textKept('expires_at', expires),
    ...(Object.keys(more).length === 0 ? {} : { more }),
  };
}

/** What a client says beside the job, at either place. */
export function metaOf({
  meta,
  options,
}: Pick<OjsOrder, 'meta' | 'options'>): Record<string, unknown> {
  return { ...meta, ...options?.metadata };
}

/** These are of a whole job; a step of a workflow begins when it is its turn. */
const ofWholeJobs = ['scheduled_at', 'delay_until', 'expires_at', 'unique', 'pending'] as const;

/**
 * The entry of a workflow for a step: a task, or a flow that runs as a child job. `id`: that of the step.
 * @throws TwsError `ojs_unsupported`, `request_invalid`
 */
export function entryOfOrder(
  order: OjsOrder,
  target: Target,
  id: string | undefined,
): Record<string, unknown> {
  const options = optionsOf(order);
  const whole = ofWholeJobs.find((name) => options[name] != null);
  if (whole !== undefined) {
    unsupported(`"${whole}" of a step`, 'a step of a workflow begins when it is its turn.');
  }
  const work = workOf(order, options, target);
  if (target.kind === 'flow') return work;
  const [entry] = work['tasks'] as readonly Record<string, unknown>[];
  if (!target.isWork) return entry ?? {};
  const { params } = entry ?? {};
  const { worker } = (params ?? {}) as { readonly worker?: object };
  const place = options.priority == null ? {} : { priority: defaultPriority - options.priority };
  const named = id === undefined ? {} : { id };
  return { name: order.type, ...entry, params: { worker: { ...worker, ...place, ...named } } };
}

/** A time comes back as it was given; one from now on becomes a time. */
function textKept(key: string, text: string | null | undefined): Record<string, string> {
  return text == null || text.startsWith('+') ? {} : { [key]: text };
}

function isWork(target: Target): boolean {
  return target.kind === 'task' && target.isWork;
}

/** What runs: the flow, or one step of the task. */
function workOf(order: OjsOrder, options: SettledOptions, target: Target): Record<string, unknown> {
  if (target.kind === 'flow') return flowWork(order, options);
  const { name, isWork, hasRetry, byType } = target;
  const { retry } = options;
  const policy = retry == null ? (isWork && !hasRetry ? {} : undefined) : retry;
  const entry = {
    task: name,
    ...(byType ? { name: order.type } : {}),
    ...(policy === undefined ? {} : { retry: ourRetry(policy) }),
  };
  const work = isWork ? workerWork(order, options, target) : engineWork(order, options, name);
  return { tasks: [{ ...entry, ...work }] };
}

/** A flow says itself how its steps are done. @throws TwsError `ojs_unsupported` */
function flowWork({ type, args }: OjsOrder, options: SettledOptions) {
  const { retry, timeoutMs, leaseMs, rate_limit: rate } = options;
  const because = `${JSON.stringify(type)} is a flow, which says itself how its steps are tried again and how long they may take.`;
  if (retry != null) unsupported('"retry"', because);
  if (timeoutMs !== undefined) unsupported('"timeout"', because);
  if (leaseMs !== undefined) unsupported('"visibility_timeout"', because);
  if (rate != null) unsupported('"rate_limit"', because);
  return { flow: type, ...paramsOf(args) };
}

/** What a step that an engine does is given. @throws TwsError `ojs_unsupported` */
function engineWork(
  { args }: OjsOrder,
  { timeoutMs, leaseMs, rate_limit: rate }: SettledOptions,
  task: string,
) {
  if (rate != null) unsupported('"rate_limit"', `the task "${task}" has a "rate" of its own.`);
  if (leaseMs !== undefined) {
    const because = `the task "${task}" is done by an engine, not by a worker.`;
    unsupported('"visibility_timeout"', because);
  }
  return { ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }), ...paramsOf(args) };
}

/**
 * What a step that workers do is given. They get the args from `ojs`, as they are: no template in them
 * is filled in.
 */
function workerWork(
  { type }: OjsOrder,
  options: SettledOptions,
  { byType, hasLease }: Extract<Target, { kind: 'task' }>,
) {
  const { queue, timeoutMs, leaseMs = hasLease ? undefined : specLeaseMs } = options;
  const rate = rateOf(options);
  const worker = {
    ...(byType ? { type } : {}),
    // Any engine offers it: the queue is that of the workers.
    ...(queue == null ? {} : { queue }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    ...(leaseMs === undefined ? {} : { lease: leaseMs }),
    ...(rate === undefined ? {} : { rate }),
  };
  return Object.keys(worker).length === 0 ? {} : { params: { worker } };
}

/** What the specification gives a worker where nobody says otherwise, ms (worker protocol, section 5.2). */
const specLeaseMs = 1_800_000;

/** How much of such work workers get. */
function rateOf({ queue, rate_limit: limited }: SettledOptions): WorkRate | undefined {
  const { max_per_second: perSecond, rate, key } = limited ?? {};
  const limit = perSecond ?? rate?.limit;
  if (limit === undefined) return undefined;
  const per = rate === undefined ? 1_000 : Math.max(1, durationMs(rate.period) ?? 1_000);
  return { key: key ?? `queue ${queue ?? 'default'}`, limit, per };
}

/** One object is the parameters themselves, anything else their `args`. */
function paramsOf(args: readonly unknown[]): { readonly params?: object } {
  const [first] = args;
  if (args.length === 0) return {};
  return { params: args.length === 1 && isObject(first) ? first : { args } };
}

/** What the specification asks to keep though nobody knows what it means. */
function unknownIn(order: OjsOrder): Record<string, unknown> {
  return Object.fromEntries(Object.entries(order).filter(([key]) => !meaningful.has(key)));
}

/** Known, or set by whoever keeps the job: what a client says of it counts for nothing. */
const meaningful: ReadonlySet<string> = new Set([
  ...optionNames,
  ...['specversion', 'id', 'type', 'args', 'meta', 'schema', 'options', 'state', 'attempt'],
  ...['max_attempts', 'created_at', 'enqueued_at', 'started_at', 'completed_at', 'cancelled_at'],
  ...['discarded_at', 'next_attempt_at', 'error', 'errors', 'result', 'tws'],
]);

function timeOf(text: string, now: number): number {
  return text.startsWith('+') ? now + (durationMs(text.slice(1)) ?? 0) : Date.parse(text);
}
