import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isFinalState } from '../model/job.js';
import { lockedSchema } from '../model/lock.js';
import { isOf } from '../replicas/lock-holder.js';
import type { Store } from '../store/store.js';
import { removeDocument } from './writes.js';

export type RemoveJobOptions = {
  readonly children?: boolean;
  /** Others are as absent. */
  readonly mayRemove?: (job: StoredDocument) => boolean;
  /** Maximum number of jobs that go with one request, default 10,000. */
  readonly most?: number;
};

const usualMost = 10_000;

/**
 * Deletes a job that has ended, with `children` also the child jobs that it made, and theirs. All are
 * looked at before the first goes; children go before their parent, so that a request that was broken
 * off can be sent again. Returns the ids.
 * @throws TwsError `document_missing`, `job_unfinished`, `job_family_large` and those of a removal
 */
export async function removeJob(
  store: Store,
  id: string,
  { children = false, mayRemove = () => true, most = usualMost }: RemoveJobOptions = {},
): Promise<readonly string[]> {
  const job = await store.get(id);
  if (job?.['type'] !== 'job' || !mayRemove(job)) throw problem('document_missing', { id });
  const family = [job];
  const known = new Set([id]);
  // The list grows while it is gone through.
  for (const one of family) {
    if (!isFinalState(one['state'])) throw problem('job_unfinished', { job: one._id });
    if (!children) continue;
    const ids = (await childIds(store, one._id)).filter((child) => !known.has(child));
    // Nothing has been deleted yet, and a part of a family is not deleted.
    if (known.size + ids.length > most) throw problem('job_family_large', { job: id, most });
    for (const child of ids) known.add(child);
    family.push(...[...(await store.getMany(ids)).values()].filter(mayRemove));
  }
  const keys = await keysOf(store, family);
  for (const { _id, _rev } of family.toReversed()) await removeDocument(store, _id, _rev);
  // They are free without their jobs; one that another job has taken meanwhile stays.
  for (const lock of keys) await store.remove(lock._id, lock._rev);
  return family.map(({ _id }) => _id);
}

/** The locks of `unique` keys that jobs have: some stay as long as their job is there. */
async function keysOf(
  store: Store,
  jobs: readonly StoredDocument[],
): Promise<readonly StoredDocument[]> {
  const ids = jobs.flatMap(({ locked }) => lockedSchema.safeParse(locked).data?.unique ?? []);
  const locks = ids.length === 0 ? [] : [...(await store.getMany(ids)).values()];
  return locks.filter((lock) => jobs.some((job) => isOf(lock, { _id: job._id })));
}

async function childIds(store: Store, id: string): Promise<readonly string[]> {
  const rows = await store.view('children', { startKey: id, endKey: id });
  return rows.map((row) => row.id);
}
