import { uniqueRequest } from '../decide/compete/unique.js';
import { TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import { ruleOf, type Unique } from '../model/unique.js';
import { findUniqueHolder } from '../replicas/unique-holder.js';
import type { Store } from '../store/store.js';
import { uniquesOf } from './flow-unique.js';
import { uniqueOrder } from './unique.js';

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
