import { randomUUID } from 'node:crypto';
import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/parse.js';
import type { RequestAction } from '../model/request.js';
import type { Store } from '../store/store.js';
import { isFinalState, jobOf } from './jobs.js';
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
  const job = await jobOf(store, id);
  const since = await sinceFor(store, waitMs);
  const request = await storeRequest(store, job, action, details);
  const [taken] = await untilTaken(store, [{ id, request }], since, { waitMs, signal });
  if (taken === undefined) return { kind: 'stored', request };
  const after = await jobOf(store, id);
  const refusal = refusalOf(after, taken, action);
  if (refusal !== undefined) throw refusal;
  return { kind: 'applied', job: after };
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
  const ask = async (job: StoredDocument): Promise<void> => {
    const id = job._id;
    try {
      asked.push({ id, request: await storeRequest(store, job, action, details) });
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
    const { id } = one;
    const refusal = refusalOf(docs.get(id), one, action);
    const applied = { id, kind: 'applied' } as const;
    outcomes.set(id, refusal === undefined ? applied : { id, kind: 'refused', problem: refusal });
  }
  return jobs.map(({ _id: id }) => outcomes.get(id) ?? { id, kind: 'stored' });
}

const usualWaitMs = 5_000;

/** These may be asked of a job that has ended. */
const ofEnded: readonly RequestAction[] = ['retry', 'skip', 'note'];

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
  if (isFinalState(job) && !ofEnded.includes(action)) throw ended(job);
  const request = `request:${id}:${randomUUID()}`;
  await writeDocument(store, { _id: request, type: 'request', job: id, action, ...details });
  return request;
}

type Asked = { readonly id: string; readonly request: string };
type Taken = Asked & { readonly refused: string | undefined };

/**
 * Those of the requests that engines dealt with in time. An engine deletes a request when it has, and
 * leaves its reason when it refused it.
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
      const one = change.deleted ? open.get(change.id) : undefined;
      if (one === undefined) continue;
      const refused = change.remains?.['refused'];
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
  if (recorded(job, request)) return undefined;
  if (refused !== undefined)
    return problem('request_refused', { action, job: id, reason: refused });
  if (isFinalState(job)) return ended(job);
  return problem('request_refused', { action, job: id, reason: 'it can do nothing there now.' });
}

function ended({ _id: id, state }: StoredDocument): TwsError {
  return problem('job_ended', { id, state: textOf(state) });
}

function recorded({ requests }: StoredDocument, request: string): boolean {
  return (
    Array.isArray(requests) &&
    requests.some((entry: unknown) => (entry as { id?: unknown } | null)?.id === request)
  );
}
