import { uniqueRequest } from '../decide/compete/unique.js';
import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import { doesCount, ruleOf, type Unique } from '../model/unique.js';
import { statusOf } from '../reading/status.js';
import { findUniqueHolder } from '../replicas/unique-holder.js';
import type { Store } from '../store/store.js';
import { uniquesOf } from './flow-unique.js';
import { uniqueOrder, type UniqueOrder } from './unique.js';

type AnyJob = Readonly<Record<string, unknown>> & { readonly _id: string };

/** The job that has the key, and what the key belongs to; `replaced`: it is cancelled first. */
export type UniqueRival = {
  readonly job: string;
  readonly kind: 'unique' | 'replaced';
  readonly target: string;
};

/** Returns the job that has the key of one which waits for it, or is refused for it; undefined: nobody has. */
export async function uniqueRival(
  store: Store,
  job: AnyJob,
  unique: Unique,
): Promise<UniqueRival | undefined> {
  const id = await lockOf(job, unique);
  const lock = id === undefined ? undefined : await store.get(id);
  if (lock === undefined) return undefined;
  const rule = ruleOf(unique);
  const search = findUniqueHolder(lock, { job, rule, now: Date.now() });
  let step = search.next();
  while (step.done !== true) {
    const found = await store.get(step.value);
    step = search.next(found === undefined ? [] : [found]);
  }
  const { holder, after } = step.value;
  const by = holder?.job ?? after[0]?._id;
  if (by === undefined) return undefined;
  const kind = rule.replace === true ? 'replaced' : 'unique';
  return { job: by, kind, target: uniqueRequest(lock._id, job, unique).key };
}

async function lockOf(job: AnyJob, unique: Unique): Promise<string | undefined> {
  const { locked } = job;
  if (isObject(locked) && typeof locked['unique'] === 'string') return locked['unique'];
  try {
    return (await uniqueOrder(job, unique)).lock;
  } catch (error) {
    if (error instanceof TwsError) return undefined;
    throw error;
  }
}

/** Returns the job with the same key that counts for a job which is about to be submitted. */
export async function rivalOfNew(store: Store, job: AnyJob): Promise<StoredDocument | undefined> {
  const unique = (await uniquesOf(store, [job])).get(job);
  const rival = unique && (await uniqueRival(store, job, unique));
  return rival === undefined ? undefined : store.get(rival.job);
}

/**
 * Returns why jobs cannot be stored together (`not_unique`, `unique_key`): the key of one belongs to a stored job, or
 * to one before it, and it is not to be answered with that one, or to replace it. A key that is taken after that
 * is found at the submit.
 */
export async function uniqueConflicts<J extends AnyJob>(
  store: Store,
  jobs: readonly J[],
): Promise<ReadonlyMap<J, TwsError>> {
  const conflicts = new Map<J, TwsError>();
  const orders = new Map<J, UniqueOrder>();
  for (const [job, unique] of await uniquesOf(store, jobs)) {
    try {
      orders.set(job, await uniqueOrder(job, unique));
    } catch (error) {
      if (!(error instanceof TwsError)) throw error;
      conflicts.set(job, error);
    }
  }
  const before: UniqueOrder[] = [];
  const looked = [...orders].map(async ([job, order]) => {
    const within = before.find((one) => countsFor(order, one))?.job._id;
    before.push(order);
    if ((order.unique.on_conflict ?? 'reject') !== 'reject') return;
    const id = within ?? (await storedRival(store, order));
    if (id !== undefined) conflicts.set(job, problem('not_unique', { id }));
  });
  await Promise.all(looked);
  return conflicts;
}

function countsFor({ lock, unique }: UniqueOrder, before: UniqueOrder): boolean {
  const now = Date.now();
  const status = statusOf({ ...before.job, _rev: '' }, now);
  return lock === before.lock && doesCount(ruleOf(unique), { status, at: now }, now);
}

/** One that is about to be stored is waited for at the submit. */
async function storedRival(
  store: Store,
  { job, unique }: UniqueOrder,
): Promise<string | undefined> {
  const rival = await uniqueRival(store, job, unique);
  const there = rival && (await store.get(rival.job));
  return there?._id;
}
