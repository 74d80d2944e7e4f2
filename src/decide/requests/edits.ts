import type { FinalJob, Job } from '../../model/job.js';
import type { JobRequest, RequestAction } from '../../model/request.js';
import { isObject } from '../../model/object.js';
import { without } from '../../model/record.js';
import { isRefusal, nextNumber, switchesIn, withRecord } from './records.js';
import { finalAlready, notEnded, withRefusal } from './refusal.js';

/**
 * A pause, its end, a cancel and a retry may be written into the job document instead of being
 * requested. They are put on record under `requests` like a request, when an engine first acts on them.
 *
 * W1 What `paused` and `cancel` say is on record in a job that an engine has written.
 * W2 The id of a record follows from the records before it, so that engines that write tips of their
 *    own record one edit under one id, and healing keeps it once.
 * W3 A final job holds neither, but for the cancel that ended it: what is written into it is a new edit.
 * W4 A job that has not ended holds no `retry`: it is refused as the request is, and not granted later.
 */

type Doc = Readonly<Record<string, unknown>>;

/**
 * Records what was asked for by editing the job, and refuses a retry, because the job has not
 * ended. Returns the same job when everything is recorded.
 */
export function withEdits<J extends Doc>(job: J, now: number): J {
  const { requests = [], paused, cancel, retry } = job;
  const isUntouched = paused === undefined && cancel === undefined && retry === undefined;
  if (isUntouched && job['requests'] === undefined) return job;
  if (!Array.isArray(requests)) return job;
  const edits = [pauseEdit(requests, paused === true), cancelEdit(requests, cancel)];
  const records = edits.filter((edit) => edit !== undefined);
  const recorded = records.reduce<J>((before, record) => {
    return withRecord(before, { ...record, edited: true, at: now });
  }, job);
  return isAsked(retry) ? withoutRetry(recorded, requests, now) : recorded;
}

/**
 * The job without the retry. Its refusal stands under `requests` alone: `retry_refused` tells a parent
 * that a child does not go on after its end.
 */
function withoutRetry<J extends Doc>(job: J, requests: readonly unknown[], now: number): J {
  const { retry, ...kept } = job;
  const id = String(job['_id']);
  const before = requests.filter((one) => isObject(one) && /^edit:retry:/.test(String(one['id'])));
  const _id = `edit:retry:${nextNumber(before)}`;
  const message = { ...retryAsked(retry), _id, type: 'request', job: id } as const;
  return withRefusal(kept as unknown as Job, message, notEnded(id), now) as unknown as J;
}

/** Returns what the key `retry` of a job asks for, as far as it can be read. */
export function retryAsked(retry: unknown): AskedEdit {
  const { from } = isObject(retry) ? retry : {};
  return { action: 'retry', ...(typeof from === 'string' ? { from } : {}) };
}

function pauseEdit(requests: readonly unknown[], isPaused: boolean): Doc | undefined {
  const before = switchesIn(requests, 'pause');
  const wasPaused = before.at(-1)?.['action'] === 'pause';
  if (isPaused === wasPaused) return undefined;
  const action: RequestAction = isPaused ? 'pause' : 'resume';
  return { id: `edit:${action}:${nextNumber(before)}`, action };
}

function cancelEdit(requests: readonly unknown[], cancel: unknown): Doc | undefined {
  const before = switchesIn(requests, 'cancel');
  const last = before.at(-1);
  const wasCancelled = last?.['action'] === 'cancel' && last['withdrawn'] !== true;
  if (isAsked(cancel) === wasCancelled) return undefined;
  const id = `edit:cancel:${nextNumber(before)}`;
  if (!isAsked(cancel)) return { id, action: 'cancel', withdrawn: true };
  return { id, action: 'cancel', ...wordsOf(cancel) };
}

/** Who asks for a cancel, and why, as far as that can be read. */
function wordsOf(cancel: unknown): { readonly by?: string; readonly reason?: string } {
  const { by, reason } = isObject(cancel) ? cancel : {};
  return {
    ...(typeof by === 'string' ? { by } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
  };
}

/** Whether the value of a key asks for something. */
export function isAsked(edit: unknown): boolean {
  return edit !== undefined && edit !== null && edit !== false;
}

/** Returns a job that ends without the wishes that its end settles (W3). */
export function withoutPauseAndCancel<J extends Doc>(job: J, state: FinalJob['state']): J {
  const { paused, cancel } = job;
  const over = [
    ...(isAsked(paused) ? ['paused'] : []),
    ...(state === '$$complete' && isAsked(cancel) ? ['cancel'] : []),
  ];
  return over.length === 0 ? job : without(job, ...over);
}

/** Whether anything other than a retry was asked of a final job since it ended. */
export function hasLateEdit({ state, paused, cancel }: Doc): boolean {
  return isAsked(paused) || (state === '$$complete' && isAsked(cancel));
}

/**
 * Returns the final job without a pause or cancel that was written into it since, and with their
 * refusals.
 */
export function withLateEditsRefused(job: FinalJob, now: number): FinalJob {
  if (!hasLateEdit(job)) return job;
  const { _id, state, paused, cancel } = job;
  const wanted: readonly AskedEdit[] = [
    ...(isAsked(paused) ? [{ action: 'pause' } as const] : []),
    ...(state === '$$complete' && isAsked(cancel)
      ? [{ action: 'cancel', ...wordsOf(cancel) } as const]
      : []),
  ];
  const because = finalAlready(_id);
  const recorded = wanted.reduce(
    (before, edit) => withRefusedEdit(before, edit, because, now),
    job,
  );
  return withoutPauseAndCancel(recorded, state);
}

type AskedEdit = Pick<JobRequest, 'action' | 'by' | 'reason' | 'from'>;

/**
 * Records an edit that was written into a final job and cannot be granted. The id of the record
 * follows from the revision that holds the edit.
 */
export function withRefusedEdit(
  job: FinalJob,
  edit: AskedEdit,
  because: string,
  now: number,
): FinalJob {
  const { _id, _rev, requests } = job;
  if (requests !== undefined && !Array.isArray(requests)) return job;
  const id = `edit:${edit.action}:${_rev}`;
  const message = { ...edit, _id: id, type: 'request', job: _id } as const;
  return withRefusal(job, message, because, now) as FinalJob;
}

/**
 * Returns the last refusal of something that was written into a final job, while nothing was asked
 * of it since. Its id ends with a revision; the id of an edit of a live job ends with a number
 * (W2).
 */
export function refusedEdit({ requests }: Doc): { action: string; refused: string } | undefined {
  const last: unknown = Array.isArray(requests) ? requests.at(-1) : undefined;
  if (!isObject(last) || !isRefusal(last)) return undefined;
  if (!/^edit:\w+:\d+-/.test(String(last['id']))) return undefined;
  return { action: String(last['action']), refused: String(last['refused']) };
}
