import type { StoredDocument } from '../../model/document.js';
import { lockHolderOf, type LockHolder } from '../../replicas/lock-holder.js';
import type { PermitHolder } from '../../decide/world.js';
import { ownerOf } from '../../model/task.js';
import type { Store } from '../../store/store.js';

/** The lock documents of all permits of these limits that are taken. */
export async function permitLocks(
  store: Pick<Store, 'view'>,
  keys: readonly string[],
): Promise<readonly StoredDocument[]> {
  const rows = await store.view('locks', {
    keys: keys.map((key) => ['permit', key]),
    includeDocs: true,
  });
  return rows.flatMap(({ doc }) => doc ?? []);
}

/** Who has these permits, by the id of the lock; a job that has ended has none any more. */
export async function holdersOf(
  store: Pick<Store, 'get' | 'getMany'>,
  locks: readonly StoredDocument[],
): Promise<ReadonlyMap<string, LockHolder>> {
  const jobs = await store.getMany([...new Set(locks.map(({ job }) => String(job)))]);
  const find = async (id: string) => jobs.get(id) ?? (await store.get(id));
  const found = await Promise.all(
    locks.map(async (lock) => [lock._id, await lockHolderOf(find, lock)] as const),
  );
  return new Map(found.flatMap(([id, holder]) => (holder === undefined ? [] : [[id, holder]])));
}

/** A holder as the job that asks may know it. */
export function permitHolder(
  lock: StoredDocument,
  holder: LockHolder,
  asking: { readonly owner?: unknown },
): PermitHolder {
  const { step, at, nonce, wanted_by: wantedBy } = lock;
  return {
    job: holder.job,
    ...(typeof step === 'string' ? { step } : {}),
    ...{ at: Number(at), nonce: String(nonce), lock: lock._id },
    ...(typeof wantedBy === 'string' ? { wantedBy } : {}),
    ...(holder.cancelling === true ? { cancelling: true } : {}),
    ...(holder.owner === ownerOf(asking) ? {} : { foreign: true }),
  };
}
