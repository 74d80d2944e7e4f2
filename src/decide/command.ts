import { isFinal, type Job } from '../model/job.js';
import type { JobRequest } from '../model/request.js';

/**
 * What became of a request. `repeated`: the job has it on record already; `refused`: it can do
 * nothing here; `because` says why.
 */
export type Commanded =
  | { readonly kind: 'applied'; readonly job: Job }
  | { readonly kind: 'repeated' }
  | { readonly kind: 'refused'; readonly because: string };

/** Applies a request to a job, once: the job keeps a record of it under `requests`. */
export function command(job: Job, request: JobRequest, now: number): Commanded {
  const requests = recordOf(job);
  if (requests.some((applied) => applied['id'] === request._id)) return { kind: 'repeated' };
  if (isFinal(job)) return { kind: 'refused', because: `Job ${job._id} is final already.` };
  const { by, reason, action } = request;
  const who = { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
  const recorded = {
    ...job,
    requests: [...requests, { id: request._id, action, ...who, at: now }],
  };
  switch (action) {
    case 'cancel':
      return { kind: 'applied', job: { ...recorded, cancel: who } as Job };
    case 'pause':
      return { kind: 'applied', job: { ...recorded, paused: true } as Job };
    case 'resume':
      return { kind: 'applied', job: { ...recorded, paused: false } as Job };
  }
}

function recordOf(job: Job): readonly Readonly<Record<string, unknown>>[] {
  const { requests } = job as { readonly requests?: unknown };
  return Array.isArray(requests) ? (requests as Readonly<Record<string, unknown>>[]) : [];
}
