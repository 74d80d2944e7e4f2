import { randomUUID } from 'node:crypto';
import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import type { RequestAction } from '../model/request.js';
import type { Store } from '../store/store.js';
import { isObject } from '../model/object.js';
import { currentJob, isEndedJob, jobOf } from './jobs.js';
import { writeDocument } from './writes.js';
import { textOf } from '../words.js';

/** What a request says beside its action; see `model/request.ts`. */
export type RequestDetails = {
  readonly by?: string;
  readonly reason?: string;
  readonly step?: string;
  readonly from?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly latest?: boolean;
  readonly to?: string;
  readonly text?: string;
};

export type RequestOptions = RequestDetails & {
  /** How long to wait for an engine, in ms; default 5000, 0: not at all. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
};

/**
 * `applied`: an engine took it; `stored`: none has taken it yet, one will. `notice`: a sentence on what
 * it does not change, with what to do about it.
 */
export type Requested =
  | { readonly kind: 'applied'; readonly job: StoredDocument; readonly notice?: string }
  | { readonly kind: 'stored'; readonly request: string };

/** What became of the request to one of many jobs. `stored`: an engine will take it. */
export type RequestedOne =
  | { readonly id: string; readonly kind: 'applied' | 'stored' }
  | { readonly id: string; readonly kind: 'refused'; readonly problem: TwsError };

/** Stores a request and waits for it to be applied. */
export async function requestJob(
  store: Store,
  id: string,
  action: RequestAction,
  { waitMs = usualWaitMs, signal, ...details }: RequestOptions = {},
): Promise<Requested> {
  const job = await meantJob(store, await jobOf(store, id), action);
  const since = await sinceFor(store, waitMs);
  const request = await storeRequest(store, job, action, details);
  const asked = [{ id: job._id, request }];
  const [taken] = await untilTaken(store, asked, since, { waitMs, signal });
  if (taken === undefined) return { kind: 'stored', request };
  const after = await jobOf(store, job._id);
  const refusal = refusalOf(after, taken, action);
  if (refusal !== undefined) throw refusal;
  const notice = action === 'retry' ? await noticeOf(store, after, details) : undefined;
  return { kind: 'applied', job: after, ...(notice === undefined ? {} : { notice }) };
}

/**
 * Of a child that goes on: that its parent, which failed with it, does not. Of changed parameters: which
 * structures do not read them again. The reading of steps that tells is loaded when a job is retried.
 */
async function noticeOf(
  store: Store,
  job: StoredDocument,
  { params }: RequestDetails,
): Promise<string | undefined> {
  const { endedParent, parentOf } = await import('./ended-parent.js');
  const { keptByRetry } = await import('../reading/kept-by-retry.js');
  const parent = await parentOf(store, job);
  const above = parent === undefined ? undefined : endedParent(job, parent);
  const kept = params === undefined ? undefined : keptByRetry(job, params);
  const sentences = [kept, ...(above === undefined ? [] : [above.because, above.todo])];
  const said = sentences.filter((one) => one !== undefined);
  return said.length === 0 ? undefined : said.join(' ');
}

/** Asks the same of many jobs, each by itself. Answers in their order. */
export async function requestJobs(
  store: Store,
  jobs: readonly StoredDocument[],
  action: RequestAction,
  { waitMs = usualWaitMs, signal, ...details }: RequestOptions,
): Promise<readonly RequestedOne[]> {
  const since = await sinceFor(store, waitMs);
  const asked: Asked[] = [];
  const outcomes = new Map<string, RequestedOne>();
  const ask = async (given: StoredDocument): Promise<void> => {
    const id = given._id;
    try {
      const job = await meantJob(store, given, action);
      const request = await storeRequest(store, job, action, details);
      asked.push({ id: job._id, of: id, request });
      outcomes.set(id, { id, kind: 'stored' });
    } catch (error) {
      if (!(error instanceof TwsError)) throw error;
      outcomes.set(id, { id, kind: 'refused', problem: error });
    }
  };
  await Promise.all(jobs.map(ask));
  const taken = await untilTaken(store, asked, since, { waitMs, signal });
  const docs = await store.getMany(taken.map(({ id }) => id));
  for (const one of taken) {
    const { of: id = one.id } = one;
    const refusal = refusalOf(docs.get(one.id), one, action);
    const applied = { id, kind: 'applied' } as const;
    outcomes.set(id, refusal === undefined ? applied : { id, kind: 'refused', problem: refusal });
  }
  return jobs.map(({ _id: id }) => outcomes.get(id) ?? { id, kind: 'stored' });
}

const usualWaitMs = 5_000;

/** These may be asked of a job that has ended. */
const ofEnded: readonly RequestAction[] = ['retry', 'skip', 'note'];

/** The job that a request is for: what asks for no ended job goes to the one that goes on from it. */
async function meantJob(
  store: Store,
  job: StoredDocument,
  action: RequestAction,
): Promise<StoredDocument> {
  return ofEnded.includes(action) ? job : currentJob(store, job);
}

/** Where the feed is before a request is stored; nothing is read for whoever does not wait. */
async function sinceFor(store: Store, waitMs: number): Promise<string> {
  return waitMs === 0 ? '' : (await store.info()).updateSeq;
}

/** Stores a request and answers its id. @throws TwsError `job_ended` */
async function storeRequest(
  store: Store,
  job: StoredDocument,
  action: RequestAction,
  details: RequestDetails,
): Promise<string> {
  const id = job._id;
  if (isEndedJob(job) && !ofEnded.includes(action)) throw ended(job);
  const request = `request:${id}:${randomUUID()}`;
  await writeDocument(store, { _id: request, type: 'request', job: id, action, ...details });
  return request;
}

/** A request to the job `id`; `of`: the job it was asked of, if that one goes on as `id`. */
type Asked = { readonly id: string; readonly of?: string; readonly request: string };
type Taken = Asked & { readonly refused: string | undefined };

/**
 * Those of the requests that engines dealt with in time. An engine deletes a request when it has; one
 * that no job can hold stays. Either way the reason of a refusal is in it.
 */
async function untilTaken(
  store: Store,
  asked: readonly Asked[],
  since: string,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
): Promise<readonly Taken[]> {
  if (waitMs === 0 || asked.length === 0) return [];
  const open = new Map(asked.map((one) => [one.request, one]));
  const taken: Taken[] = [];
  const end = new AbortController();
  const signals = [end.signal, AbortSignal.timeout(waitMs), ...(signal ? [signal] : [])];
  try {
    for await (const change of store.follow({ since, signal: AbortSignal.any(signals) })) {
      const one = open.get(change.id);
      const refused = (change.deleted ? change.remains : change.doc)?.['refused'];
      if (one === undefined || (!change.deleted && refused === undefined)) continue;
      taken.push({ ...one, refused: typeof refused === 'string' ? refused : undefined });
      open.delete(change.id);
      if (open.size === 0) break;
    }
  } finally {
    end.abort();
  }
  return taken;
}

/** Why a request that was taken was not applied; undefined when it was. */
function refusalOf(
  job: StoredDocument | undefined,
  { id, request, refused }: Taken,
  action: RequestAction,
): TwsError | undefined {
  if (job === undefined) return problem('document_missing', { id });
  const record = recordOf(job, request);
  const reason = record?.['refused'] ?? refused;
  if (typeof reason === 'string') return problem('request_refused', { action, job: id, reason });
  if (record !== undefined) return undefined;
  if (isEndedJob(job)) return ended(job);
  return problem('request_refused', { action, job: id, reason: 'it can do nothing there now.' });
}

function ended({ _id: id, state }: StoredDocument): TwsError {
  return problem('job_ended', { id, state: textOf(state) });
}

/** What the job tells of a request. */
function recordOf(
  { requests }: StoredDocument,
  request: string,
): Readonly<Record<string, unknown>> | undefined {
  return Array.isArray(requests)
    ? requests.filter(isObject).find(({ id }) => id === request)
    : undefined;
}
