import { randomUUID } from 'node:crypto';
import { TwsError } from '../errors.js';
import type { StoredDocument } from '../model/parse.js';
import type { Store } from '../store/store.js';
import { existing, mayBeThere, type JobToSubmit, type Submitted } from './jobs.js';
import { writeDocument } from './writes.js';

/** What became of one of many jobs. */
export type SubmittedOne =
  | ({ readonly kind: 'submitted' } & Submitted)
  | { readonly kind: 'refused'; readonly problem: TwsError };

/**
 * Stores many new jobs in as few requests as they take, each by itself: one that is refused keeps
 * no other from being stored. Answers in their order.
 */
export async function submitJobs(
  store: Store,
  jobs: readonly JobToSubmit[],
): Promise<readonly SubmittedOne[]> {
  const given = jobs.flatMap(({ _id }) => _id ?? []);
  const there = await store.getMany([...new Set(given)]);
  const ofThisCall = new Set<string>();
  return Promise.all(
    jobs.map((job) => {
      const id = job._id ?? randomUUID().replaceAll('-', '');
      const isSecond = ofThisCall.has(id);
      ofThisCall.add(id);
      const before = isSecond ? () => store.get(id) : () => Promise.resolve(there.get(id));
      return submitOne(store, { ...job, _id: id }, before);
    }),
  );
}

async function submitOne(
  store: Store,
  job: JobToSubmit & { readonly _id: string },
  before: () => Promise<StoredDocument | undefined>,
): Promise<SubmittedOne> {
  const id = job._id;
  try {
    const there = await before();
    if (there !== undefined) return { kind: 'submitted', ...existing(there, job) };
    return { kind: 'submitted', id, rev: await writeDocument(store, job), existed: false };
  } catch (error) {
    const refusal = known(error);
    if (mayBeThere.includes(refusal.code)) return lookAgain(store, job, refusal);
    return { kind: 'refused', problem: refusal };
  }
}

/** Somebody was faster, or our own write was and its answer was lost. */
async function lookAgain(
  store: Store,
  job: JobToSubmit & { readonly _id: string },
  refusal: TwsError,
): Promise<SubmittedOne> {
  try {
    const there = await store.get(job._id);
    if (there === undefined) return { kind: 'refused', problem: refusal };
    return { kind: 'submitted', ...existing(there, job) };
  } catch (error) {
    return { kind: 'refused', problem: known(error) };
  }
}

function known(error: unknown): TwsError {
  if (error instanceof TwsError) return error;
  throw error;
}
