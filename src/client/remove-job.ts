import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isFinalState } from '../model/job.js';
import type { Store } from '../store/store.js';
import { removeDocument } from './writes.js';

export type RemoveJobOptions = {
  readonly children?: boolean;
  /** Others are as absent. */
  readonly mayRemove?: (job: StoredDocument) => boolean;
};

/** Jobs that go with one request at most. */
const mostRemoved = 10_000;

/**
 * Deletes a job that has ended, with `children` also the child jobs that it made, and theirs. All are
 * looked at before the first goes; children go before their parent, so that a request that was broken
 * off can be sent again. Returns the ids.
 * @throws TwsError `document_missing`, `job_unfinished` and those of a removal
 */
export async function removeJob(
  store: Store,
  id: string,
  { children = false, mayRemove = () => true }: RemoveJobOptions = {},
): Promise<readonly string[]> {
  const job = await store.get(id);
  if (job?.['type'] !== 'job' || !mayRemove(job)) throw problem('document_missing', { id });
  const family = [job];
  // The list grows while it is gone through.
  for (const one of family) {
    if (!isFinalState(one['state'])) throw problem('job_unfinished', { job: one._id });
    if (!children || family.length >= mostRemoved) continue;
    const known = new Set(family.map(({ _id }) => _id));
    const found = await childJobs(store, one._id);
    family.push(...found.filter((child) => !known.has(child._id) && mayRemove(child)));
  }
  for (const { _id, _rev } of family.toReversed()) await removeDocument(store, _id, _rev);
  return family.map(({ _id }) => _id);
}

async function childJobs(store: Store, id: string): Promise<readonly StoredDocument[]> {
  const rows = await store.view('children', { startKey: id, endKey: id });
  return [...(await store.getMany(rows.map((row) => row.id))).values()];
}
