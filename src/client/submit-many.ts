import { TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import type { Store } from '../store/store.js';
import { uniquesOf } from './flow-unique.js';
import {
  newJobId,
  submitBeside,
  type SubmitAround,
  type SubmitOptions,
  type JobToSubmit,
  type Submitted,
} from './jobs.js';

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
  { signal, fresh }: SubmitOptions = {},
): Promise<readonly SubmittedOne[]> {
  const given = new Set(jobs.flatMap(({ _id }) => _id ?? []).filter((id) => !fresh?.has(id)));
  const there =
    given.size === 0 ? new Map<string, StoredDocument>() : await store.getMany([...given]);
  const uniques = await uniquesOf(store, jobs);
  const copies = uniques.size > 0 ? (await store.info()).copies : undefined;
  const all = { turns: createTurnsByLock(), copies, signal };
  const ofThisCall = new Set<string>();
  return Promise.all(
    jobs.map((job) => {
      const id = job._id ?? newJobId();
      const isSecond = ofThisCall.has(id);
      ofThisCall.add(id);
      const before = isSecond ? () => store.get(id) : () => Promise.resolve(there.get(id));
      const around = async () => ({ there: await before(), unique: uniques.get(job), ...all });
      return submitOne(store, { ...job, _id: id }, around);
    }),
  );
}

/** Runs tasks with the same lock one after the other, in the order in which they came. */
function createTurnsByLock(): NonNullable<SubmitAround['turns']> {
  const last = new Map<string, Promise<unknown>>();
  return async (lock, task) => {
    const mine = (last.get(lock) ?? Promise.resolve()).then(task);
    last.set(
      lock,
      mine.catch(() => undefined),
    );
    return mine;
  };
}

async function submitOne(
  store: Store,
  job: JobToSubmit & { readonly _id: string },
  around: () => Promise<SubmitAround>,
): Promise<SubmittedOne> {
  try {
    return { kind: 'submitted', ...(await submitBeside(store, job, await around())) };
  } catch (error) {
    if (error instanceof TwsError) return { kind: 'refused', problem: error };
    throw error;
  }
}
