import { lockedSchema } from '../model/lock.js';
import type { StoredDocument } from '../model/document.js';
import { isOf } from '../replicas/lock-holder.js';
import { isUniqueInUse } from '../replicas/unique-holder.js';
import type { Store } from '../store/store.js';
import { uniquesOf } from './flow-unique.js';
import { uniqueOrder } from './unique.js';

/** The lock of a `unique` key that a job has; `counts`: it still keeps other jobs from running. */
export type KeptKey = { readonly id: string; readonly counts: boolean };

/**
 * Finds the locks of `unique` keys that ended jobs still have, by job. A lock counts until its period is over, and
 * until the jobs have ended that its job was to replace. `states` without a period end with the job.
 */
export async function keptKeysOf(
  store: Store,
  jobs: readonly StoredDocument[],
  now: number,
): Promise<ReadonlyMap<string, KeptKey>> {
  const ids = await lockIdsOf(store, jobs);
  const known = new Map(jobs.map((job) => [job._id, job]));
  const find = async (id: string) => known.get(id) ?? store.get(id);
  const locks = ids.size === 0 ? undefined : await store.getMany([...new Set(ids.values())]);
  const kept = new Map<string, KeptKey>();
  for (const [job, id] of ids) {
    const lock = locks?.get(id);
    if (lock?.['kind'] !== 'unique' || !isOf(lock, { _id: job })) continue;
    const { states: _states, ...timed } = lock;
    const judged = lock['until'] === undefined ? timed : lock;
    kept.set(job, { id, counts: await isUniqueInUse(find, judged, now) });
  }
  return kept;
}

/** The ids of the locks, by job: from the job, or from its key where it ended before it began. */
async function lockIdsOf(
  store: Store,
  jobs: readonly StoredDocument[],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const unbegun: StoredDocument[] = [];
  for (const job of jobs) {
    const { data } = lockedSchema.safeParse(job['locked']);
    if (data?.unique !== undefined) ids.set(job._id, data.unique);
    else if (job['flow_definition'] === undefined) unbegun.push(job);
  }
  for (const [job, unique] of await uniquesOf(store, unbegun)) {
    const order = await uniqueOrder(job, unique).catch(() => undefined);
    if (order !== undefined) ids.set(job._id, order.lock);
  }
  return ids;
}
