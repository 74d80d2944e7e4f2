import type { StoredDocument } from '../../model/document.js';
import { isFinalState } from '../../model/job.js';
import { lockHolderOf, parentIdOf, type LockHolder } from '../../replicas/lock-holder.js';
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

/** The job that asks, the jobs that it was made for, and what was asked for jobs that have ended since. */
export type AskingFamily = {
  readonly family: ReadonlySet<string>;
  /** Texts of `wanted_by` that count no more. */
  readonly over: ReadonlySet<unknown>;
};

/** Reads what matters before a holder is asked to cancel. */
export async function readFamily(
  store: Pick<Store, 'get'>,
  job: Asking,
  locks: readonly StoredDocument[],
): Promise<AskingFamily> {
  const family = new Set([job._id]);
  for (let next = parentIdOf(job); next !== undefined && !family.has(next);) {
    family.add(next);
    next = parentIdOf((await store.get(next)) ?? {});
  }
  const over = new Set<unknown>();
  for (const { wanted_by: wanted } of locks) {
    if (typeof wanted === 'string' && (await isAskerOver(store, wanted))) over.add(wanted);
  }
  return { family, over };
}

type Asking = Readonly<Record<string, unknown>> & { readonly _id: string };

/** The job for which a holder was asked to make way has ended or is gone; `wanted`: its id, maybe with a step. */
export async function isAskerOver(store: Pick<Store, 'get'>, wanted: string): Promise<boolean> {
  const asker = (await store.get(wanted)) ?? (await store.get(wanted.replace(/ [^ ]*$/, '')));
  return asker === undefined || isFinalState(asker['state']);
}

/** A holder as the job that asks may know it. */
export function permitHolder(
  lock: StoredDocument,
  holder: LockHolder,
  asking: { readonly owner?: unknown },
  { family, over }: Partial<AskingFamily> = {},
): PermitHolder {
  const { step, at, nonce, wanted_by: wantedBy } = lock;
  return {
    job: holder.job,
    ...(typeof step === 'string' ? { step } : {}),
    ...{ at: Number(at), nonce: String(nonce), lock: lock._id },
    ...(typeof wantedBy === 'string' && over?.has(wantedBy) !== true ? { wantedBy } : {}),
    ...(family?.has(holder.sliceOf ?? holder.job) === true ? { kin: true } : {}),
    ...(holder.cancelling === true ? { cancelling: true } : {}),
    // One that a job has handed on to the job that continues it waits for that one.
    ...(!holder.decided && holder.job === lock['job'] ? { undecided: true } : {}),
    ...(holder.owner === ownerOf(asking) ? {} : { foreign: true }),
  };
}
