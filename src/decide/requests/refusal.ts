import type { Job } from '../../model/job.js';
import type { JobRequest } from '../../model/request.js';
import type { SignalDocument } from '../../model/signal.js';
import { isObject } from '../../model/object.js';
import { isRecordOf, isRefusal, revisionOf } from './records.js';

/** Returns why a job that has ended takes nothing more. */
export const finalAlready = (job: string): string => `Job ${job} is final already.`;

/** Returns why a job that has not ended is not retried. */
export const notEnded = (job: string): string =>
  `Job ${job} has not ended; only a job that has ended can be retried.`;

/** Maximum number of refusals that a job keeps; the oldest are dropped first. */
export const mostRefusals = 100;

/**
 * Records a message that could not be applied under `requests`: what was asked for, `at` when
 * (epoch ms), and in `refused` why it changed nothing. Everything else stays as it is, also in a
 * final job. Returns the same job when the refusal is recorded already.
 */
export function withRefusal(
  job: Job,
  message: JobRequest | SignalDocument,
  refused: string,
  at: number,
): Job {
  const requests = requestsOf(job);
  if (requests.some((record) => isRecordOf(record, message))) return job;
  const asked = message.type === 'signal' ? askedBySignal(message) : askedByRequest(message);
  const known = Object.fromEntries(
    Object.entries(asked).filter(([, value]) => value !== undefined),
  );
  const all = [...requests, { id: message._id, ...revisionOf(message), ...known, at, refused }];
  const refusals = all.filter((record) => isObject(record) && isRefusal(record));
  const dropped = new Set(refusals.slice(0, Math.max(0, refusals.length - mostRefusals)));
  return { ...job, requests: all.filter((record) => !dropped.has(record)) } as Job;
}

function askedByRequest({ action, step, from, to, text, by, reason }: JobRequest) {
  return { action, step, from, to, text, by, reason };
}

function askedBySignal({ name, by }: SignalDocument) {
  return { action: 'signal', name, by };
}

/** Of a final job, which is read whatever it holds, they may be anything. */
function requestsOf(job: Job): readonly unknown[] {
  const { requests } = job as Readonly<Record<string, unknown>>;
  return Array.isArray(requests) ? requests : [];
}
