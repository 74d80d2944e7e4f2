import { randomUUID } from 'node:crypto';
import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/parse.js';
import type { RequestAction } from '../model/request.js';
import type { Store } from '../store/store.js';
import { isFinalState, ofEnded, recorded, type RequestDetails } from './jobs.js';
import { writeDocument } from './writes.js';

/** What became of the request to one of many jobs. `stored`: an engine will take it. */
export type RequestedOne =
  | { readonly id: string; readonly kind: 'applied' | 'stored' }
  | { readonly id: string; readonly kind: 'refused'; readonly problem: TwsError };

export type ManyOptions = RequestDetails & {
  /** How long to wait for the engines, in ms; 0: not at all. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
};

type Asked = { readonly id: string; readonly request: string };

/** Asks the same of many jobs, each by itself. Answers in their order. */
export async function requestJobs(
  store: Store,
  jobs: readonly StoredDocument[],
  action: RequestAction,
  { waitMs, signal, ...details }: ManyOptions,
): Promise<readonly RequestedOne[]> {
  const since = waitMs === 0 ? undefined : (await store.info()).updateSeq;
  const asked: Asked[] = [];
  const outcomes = new Map<string, RequestedOne>();
  await Promise.all(
    jobs.map(async (job) => {
      const id = job._id;
      const request = `request:${id}:${randomUUID()}`;
      try {
        if (isFinalState(job) && !ofEnded.includes(action)) {
          throw problem('job_ended', { id, state: String(job['state']) });
        }
        await writeDocument(store, { _id: request, type: 'request', job: id, action, ...details });
        asked.push({ id, request });
        outcomes.set(id, { id, kind: 'stored' });
      } catch (error) {
        if (!(error instanceof TwsError)) throw error;
        outcomes.set(id, { id, kind: 'refused', problem: error });
      }
    }),
  );
  if (since !== undefined && asked.length > 0) {
    const taken = await untilTaken(store, asked, since, { waitMs, signal });
    for (const one of await verdicts(store, taken, action)) outcomes.set(one.id, one);
  }
  return jobs.map(({ _id: id }) => outcomes.get(id) ?? { id, kind: 'stored' });
}

type Taken = Asked & { readonly refused: string | undefined };

/** Those of the requests that engines dealt with in time. */
async function untilTaken(
  store: Store,
  asked: readonly Asked[],
  since: string,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
): Promise<readonly Taken[]> {
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

async function verdicts(
  store: Store,
  taken: readonly Taken[],
  action: RequestAction,
): Promise<readonly RequestedOne[]> {
  const docs = await store.getMany(taken.map(({ id }) => id));
  return taken.map(({ id, request, refused }) => {
    const job = docs.get(id);
    if (job !== undefined && recorded(job, request)) return { id, kind: 'applied' };
    const reason = refused ?? 'it can do nothing there now.';
    return {
      id,
      kind: 'refused',
      problem: problem('request_refused', { action, job: id, reason }),
    };
  });
}
