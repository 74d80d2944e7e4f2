import { defaultPriority, defaultQueue } from './job.js';
import { isObject } from './object.js';
import { percentDecoded } from './percent.js';

/*
 * Work for programs outside: a step offers itself by the name of the signal for which it waits, and
 * whoever takes it gets a lease, by which the name changes. So nobody can answer for somebody else.
 */

/** A step that is to be done by a worker. */
export type Offer = {
  readonly queue: string;
  /** 0 first … 999 last. */
  readonly priority: number;
  /** Since when, epoch ms. */
  readonly at: number;
  /** What tells it from all others. */
  readonly id: string;
};

/** The signal of an offer. Such names sort as the line in which they stand: by priority, then by age. */
export function offerName({ queue, priority, at, id }: Offer): string {
  const place = `${String(priority).padStart(3, '0')}/${String(Math.round(at)).padStart(16, '0')}`;
  return `${offersIn(queue)}${place}/${id}`;
}

/** Where an offer stands in line among those of its priority: since when (epoch ms), and by what it is told from others. */
export type OfferPlace = Pick<Offer, 'at' | 'id'>;

/** How a step is offered. `late`: its job has expired at `end`. */
export type OfferOf =
  | { readonly kind: 'offer'; readonly signal: string; readonly timeoutMs?: number }
  | { readonly kind: 'late'; readonly end: number };

/** Nobody may wait longer than a year for a time. */
const longestOfferMs = 31_536_000_000;

/** How a step with these parameters is offered to workers, until its job expires. */
export function offerOfWork(
  job: Readonly<Record<string, unknown>>,
  params: unknown,
  now: number,
  place: OfferPlace,
): OfferOf {
  const { expires } = job;
  const end = typeof expires === 'string' ? Date.parse(expires) : Number(expires ?? Infinity);
  if (end <= now) return { kind: 'late', end };
  const { queue, priority } = workOptionsOf(params);
  const own = {
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority }),
  };
  const signal = offerWork({ ...job, ...own }, place);
  const timeoutMs = Math.min(end - now, longestOfferMs);
  return { kind: 'offer', signal, ...(end === Infinity ? {} : { timeoutMs }) };
}

/**
 * The signal for which a step waits that is to be done by a worker outside, in the queue and with the
 * priority of its job: `return wait(offerWork(job, { at: Date.now(), id: randomUUID() }))`. Workers
 * fetch it by `POST /ojs/v1/workers/fetch`. `id` must be another one for every attempt.
 */
export function offerWork(
  { queue, flow_definition: flow, parent, priority }: Readonly<Record<string, unknown>>,
  place: OfferPlace,
): string {
  const queues = [queue, isObject(flow) && flow['queue'], isObject(parent) && parent['queue']];
  return offerName({
    queue: queues.find((one) => typeof one === 'string') ?? defaultQueue,
    priority: typeof priority === 'number' ? priority : defaultPriority,
    ...place,
  });
}

/** What the names of all offers begin with. */
export const anyOffer = 'work/';

/** What the names of all offers in a queue begin with. */
export function offersIn(queue: string): string {
  return `${anyOffer}${encodeURIComponent(queue)}/`;
}

/** The queue of an offer; undefined for a signal that is none. */
export function queueOfOffer(signal: string): string | undefined {
  const queue = /^work\/([^/]+)\/\d{3}\/\d{16}\//.exec(signal)?.[1];
  return queue === undefined ? undefined : percentDecoded(queue);
}

/** The signal by which whoever has a lease answers. */
export function leaseName(id: string): string {
  return `lease/${id}`;
}

/** Whether a signal is an offer of work or the answer to one. */
export function isOfWork(signal: string): boolean {
  return /^(?:work|lease)\//.test(signal);
}

/** How long a worker has an offer without saying anything, ms, where nobody says otherwise. */
export const usualWorkLeaseMs = 30_000;

/** The longest lease, ms: a day. */
export const longestWorkLeaseMs = 86_400_000;

/** How much of work with the same key workers get in every window of `per` ms. */
export type WorkRate = { readonly key: string; readonly limit: number; readonly per: number };

/** How the task wants its work to be done: the parameter `worker`. Durations in ms. */
export type WorkOptions = {
  /** How workers know this kind of work; absent: by the name of the task. */
  readonly type?: string;
  /** The queue in which workers find it; absent: that of the job, which an engine has to serve. */
  readonly queue?: string;
  readonly lease?: number;
  /** Its place among others, as `priority` of a job; absent: that of the job. */
  readonly priority?: number;
  /** How workers call the step; absent: by its job, and its place in that. */
  readonly id?: string;
  /** What one attempt may take from the moment that a worker has it. */
  readonly timeout?: number;
  readonly rate?: WorkRate;
};

/** Returns the options in the parameters of a step; anything else is left out. */
export function workOptionsOf(params: unknown): WorkOptions {
  const { worker } = (params ?? {}) as { readonly worker?: unknown };
  const { type, queue, lease, timeout, priority, id, rate } = (worker ?? {}) as Readonly<
    Record<string, unknown>
  >;
  return {
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof queue === 'string' && queue !== '' ? { queue } : {}),
    ...(isLength(lease) ? { lease: Math.min(lease, longestWorkLeaseMs) } : {}),
    ...(isLength(timeout) ? { timeout } : {}),
    ...(isPriority(priority) ? { priority } : {}),
    ...(typeof id === 'string' ? { id } : {}),
    ...(isRate(rate) ? { rate } : {}),
  };
}

function isRate(value: unknown): value is WorkRate {
  if (!isObject(value)) return false;
  const { key, limit, per } = value;
  return typeof key === 'string' && isLength(limit) && isLength(per);
}

function isPriority(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 999;
}

function isLength(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}
