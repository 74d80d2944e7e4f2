import { randomUUID } from 'node:crypto';
import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/parse.js';
import type { RequestAction } from '../model/request.js';
import type { Store } from '../store/store.js';
import { listed } from '../words.js';
import { differencesOf } from './same-job.js';
import { writeDocument } from './writes.js';

/** A job as users write it; `_id` may be left out. */
export type JobToSubmit = {
  readonly _id?: string;
  readonly type: 'job';
  readonly [key: string]: unknown;
};

/** `existed`: a job of that id was there before; nothing was written. */
export type Submitted = { readonly id: string; readonly rev: string; readonly existed: boolean };

/** What a request says beside its action; see `model/request.ts`. */
export type RequestDetails = {
  readonly by?: string;
  readonly reason?: string;
  readonly step?: string;
  readonly from?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly latest?: boolean;
  readonly text?: string;
};

export type RequestOptions = RequestDetails & {
  /** How long to wait for an engine, in ms; default 5000, 0: not at all. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
};

/** `applied`: an engine took it; `stored`: none has taken it yet, one will. */
export type Requested =
  | { readonly kind: 'applied'; readonly job: StoredDocument }
  | { readonly kind: 'stored'; readonly request: string };

/** Stores a new job; of several submits of one id at once, one stores it and the others find it. */
export async function submitJob(store: Store, job: JobToSubmit): Promise<Submitted> {
  const id = job._id ?? randomUUID().replaceAll('-', '');
  if (job._id !== undefined) {
    const there = await store.get(id);
    if (there !== undefined) return existing(there, job);
  }
  try {
    const rev = await writeDocument(store, { ...job, _id: id });
    return { id, rev, existed: false };
  } catch (error) {
    if (!(error instanceof TwsError) || !mayBeThere.includes(error.code)) throw error;
    const there = await store.get(id);
    if (there === undefined) throw error;
    return existing(there, job);
  }
}

/** Somebody was faster, or an engine was before the lost answer could be looked up. */
export const mayBeThere: readonly string[] = ['document_conflict', 'write_unknown'];

/** The same order again is no mistake; another document under that id is one. */
export function existing(there: StoredDocument, job: JobToSubmit): Submitted {
  const differences = there['type'] === 'job' ? differencesOf(there, job) : ['type'];
  if (differences.length === 0) return { id: there._id, rev: there._rev, existed: true };
  throw problem('id_taken', { id: there._id, differences: listed(differences) });
}

/** These may be asked of a job that has ended. */
export const ofEnded: readonly RequestAction[] = ['retry', 'skip', 'note'];

/** Stores a request and waits for it to be applied. */
export async function requestJob(
  store: Store,
  id: string,
  action: RequestAction,
  { waitMs, signal, ...details }: RequestOptions = {},
): Promise<Requested> {
  const job = await jobOf(store, id);
  if (isFinalState(job) && !ofEnded.includes(action)) {
    throw problem('job_ended', { id, state: String(job['state']) });
  }
  const since = waitMs === 0 ? '' : (await store.info()).updateSeq;
  const request = `request:${id}:${randomUUID()}`;
  await writeDocument(store, { _id: request, type: 'request', job: id, action, ...details });
  if (waitMs === 0) return { kind: 'stored', request };
  const waiting = {
    ...(waitMs === undefined ? {} : { waitMs }),
    ...(signal === undefined ? {} : { signal }),
  };
  const taken = await untilTaken(store, { request, since }, waiting);
  if (taken.kind === 'not_yet') return { kind: 'stored', request };
  const after = await jobOf(store, id);
  if (recorded(after, request)) return { kind: 'applied', job: after };
  if (taken.refused !== undefined) {
    throw problem('request_refused', { action, job: id, reason: taken.refused });
  }
  if (isFinalState(after)) throw problem('job_ended', { id, state: String(after['state']) });
  throw problem('request_refused', { action, job: id, reason: 'it can do nothing there now.' });
}

type Taken =
  { readonly kind: 'not_yet' } | { readonly kind: 'taken'; readonly refused: string | undefined };

/** An engine deletes a request when it has dealt with it, and leaves its reason when it refused it. */
async function untilTaken(
  store: Store,
  { request, since }: { readonly request: string; readonly since: string },
  { waitMs = 5_000, signal }: Pick<RequestOptions, 'waitMs' | 'signal'>,
): Promise<Taken> {
  const end = new AbortController();
  const signals = [end.signal, AbortSignal.timeout(waitMs), ...(signal ? [signal] : [])];
  try {
    for await (const change of store.follow({ since, signal: AbortSignal.any(signals) })) {
      if (change.id !== request || !change.deleted) continue;
      const refused = change.remains?.['refused'];
      return { kind: 'taken', refused: typeof refused === 'string' ? refused : undefined };
    }
  } finally {
    end.abort();
  }
  return { kind: 'not_yet' };
}

/** A job by its id. @throws TwsError `document_missing`, `document_kind` */
export async function jobOf(store: Store, id: string): Promise<StoredDocument> {
  const doc = await store.get(id);
  if (doc === undefined) throw problem('document_missing', { id });
  if (doc['type'] === 'job') return doc;
  throw problem('document_kind', { id, kind: String(doc['type']), wanted: 'job' });
}

/** Whether a job has ended. */
export function isFinalState(job: StoredDocument): boolean {
  return job['state'] === '$$complete' || job['state'] === '$$cancelled';
}

/** Whether a job has a request on record: it was applied. */
export function recorded(job: StoredDocument, request: string): boolean {
  const { requests } = job;
  return (
    Array.isArray(requests) &&
    requests.some((entry: unknown) => (entry as { id?: unknown } | null)?.id === request)
  );
}
