import type { Job } from '../model/job.js';
import type { JobRequest } from '../model/request.js';
import type { SignalDocument } from '../model/signal.js';

/** A job keeps so many refusals; the oldest give way. */
export const mostRefusals = 100;

/**
 * The job with a record of a message that could not be applied, under `requests`: what was asked for,
 * `at` when (epoch ms), and in `refused` why it changed nothing. All else stays as it is, also in a
 * final job. Returns the same job where the refusal is on record already.
 */
export function withRefusal(
  job: Job,
  message: JobRequest | SignalDocument,
  refused: string,
  at: number,
): Job {
  const requests = requestsOf(job);
  if (requests.some(({ id }) => id === message._id)) return job;
  const asked = message.type === 'signal' ? askedBySignal(message) : askedByRequest(message);
  const known = Object.fromEntries(
    Object.entries(asked).filter(([, value]) => value !== undefined),
  );
  const all = [...requests, { id: message._id, ...known, at, refused }];
  const surplus = all.filter(isRefusal).length - mostRefusals;
  const dropped = new Set(all.filter(isRefusal).slice(0, Math.max(0, surplus)));
  return { ...job, requests: all.filter((record) => !dropped.has(record)) } as Job;
}

/** Whether a record under `requests` tells of something that could not be applied. */
export function isRefusal(record: Readonly<Record<string, unknown>>): boolean {
  return record['refused'] !== undefined;
}

function askedByRequest({ action, step, from, text, by, reason }: JobRequest) {
  return { action, step, from, text, by, reason };
}

function askedBySignal({ name, by }: SignalDocument) {
  return { action: 'signal', name, by };
}

function requestsOf(job: Job): readonly Readonly<Record<string, unknown>>[] {
  const { requests } = job as Readonly<Record<string, unknown>>;
  return Array.isArray(requests) ? (requests as Readonly<Record<string, unknown>>[]) : [];
}
