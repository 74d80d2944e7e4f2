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

/** What the names of all offers in a queue begin with. */
export function offersIn(queue: string): string {
  return `work/${encodeURIComponent(queue)}/`;
}

/** The queue of an offer; undefined for a signal that is none. */
export function queueOfOffer(signal: string): string | undefined {
  const queue = /^work\/([^/]+)\/\d{3}\/\d{16}\//.exec(signal)?.[1];
  return queue === undefined ? undefined : decoded(queue);
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

/** How the task wants its work to be done: the parameter `worker`. Durations in ms. */
export type WorkOptions = {
  /** How workers know this kind of work; absent: by the name of the task. */
  readonly type?: string;
  /** The queue in which workers find it; absent: that of the job, which an engine has to serve. */
  readonly queue?: string;
  readonly lease?: number;
  /** What one attempt may take from the moment that a worker has it. */
  readonly timeout?: number;
};

/** Returns the options in the parameters of a step; anything else is left out. */
export function workOptionsOf(params: unknown): WorkOptions {
  const { worker } = (params ?? {}) as { readonly worker?: unknown };
  const { type, queue, lease, timeout } = (worker ?? {}) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof queue === 'string' && queue !== '' ? { queue } : {}),
    ...(isLength(lease) ? { lease: Math.min(lease, longestWorkLeaseMs) } : {}),
    ...(isLength(timeout) ? { timeout } : {}),
  };
}

function isLength(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
