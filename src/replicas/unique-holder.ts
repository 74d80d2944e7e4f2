import type { StoredDocument } from '../model/document.js';
import { isFinalState } from '../model/job.js';
import { statuses, type Status } from '../model/status.js';
import { doesCount, reservedMs, type UniqueRule } from '../model/unique.js';
import { ownerOf } from '../model/task.js';
import { statusOf } from '../reading/status.js';
import {
  isOf,
  listedIn,
  sinceOf,
  type FindDocument,
  type LockHolder,
  type LockingJob,
} from './lock-holder.js';

/** What a lock for a key comes to for a job that asks for it. */
export type UniqueHolding = {
  /** Another job that counts; `reserved`: it is about to be stored. */
  readonly holder?: LockHolder & { readonly reserved?: true };
  /** Jobs that were replaced and have not ended: nobody with the key begins beside them. */
  readonly after: readonly StoredDocument[];
};

/** Who asks, by which rule, and when (epoch ms). */
export type UniqueAsking = {
  /** Absent: nobody, who only wants to know whether the lock is of use. */
  readonly job?: Omit<LockingJob, '_rev'>;
  readonly rule: UniqueRule;
  readonly now: number;
};

/** Finds who has the key. It yields ids of jobs, and is given the leaves of each. */
export type UniqueSearch = Generator<string, UniqueHolding, readonly StoredDocument[]>;

/**
 * Finds the other job that counts for one that asks for the lock of a key (U18). A job that is not there counts
 * only as long as it may be about to be stored; one that has begun without the lock does not have the key.
 */
export function* findUniqueHolder(lock: StoredDocument, asking: UniqueAsking): UniqueSearch {
  const isOwn = asking.job !== undefined && isOf(lock, asking.job);
  const holder = isOwn ? undefined : yield* mainHolder(lock, asking);
  const after: StoredDocument[] = [];
  const { after: listed } = lock;
  for (const id of Array.isArray(listed) ? (listed as readonly unknown[]) : []) {
    if (typeof id !== 'string' || id === asking.job?._id) continue;
    const jobs = jobsIn(yield id);
    const live = jobs.find(({ state }) => !isFinalState(state));
    if (live !== undefined) after.push(live);
  }
  return { ...(holder === undefined ? {} : { holder }), after };
}

/** Whether the lock of a key keeps any job from running. */
export async function isUniqueInUse(
  find: FindDocument,
  lock: StoredDocument,
  now: number,
): Promise<boolean> {
  const search = findUniqueHolder(lock, { rule: ruleIn(lock), now });
  let step = search.next();
  while (step.done !== true) {
    const job = await find(step.value);
    step = search.next(job === undefined ? [] : [job]);
  }
  return step.value.holder !== undefined || step.value.after.length > 0;
}

/** The rule of the job that has a lock, as the lock keeps it for whoever removes it. */
export function ruleIn(lock: StoredDocument): UniqueRule {
  const { until, states } = lock;
  const own = Array.isArray(states) ? statuses.filter((one) => states.includes(one)) : undefined;
  return {
    ...(own === undefined ? {} : { states: own }),
    ...(typeof until === 'number' ? { periodMs: until - sinceOf(lock, until) } : {}),
  };
}

function* mainHolder(
  lock: StoredDocument,
  { rule, now }: UniqueAsking,
): Generator<string, UniqueHolding['holder'], readonly StoredDocument[]> {
  const at = sinceOf(lock, 0);
  const seen = new Set<unknown>();
  let next: unknown = lock['job'];
  while (typeof next === 'string' && !seen.has(next)) {
    seen.add(next);
    const jobs = jobsIn(yield next);
    if (jobs.length === 0) {
      const isAwaited = lock['reserved'] === true && next === lock['job'] && now < at + reservedMs;
      if (!isAwaited) return undefined;
      return { job: next, owner: ownerOf(lock), decided: false, reserved: true };
    }
    // A job that went on as a new one keeps its key for that one, until it takes it over.
    const last = jobs.find((job) => isFinalState(job['state']) && isListed(job, lock));
    next = last?.['continued_to'];
    if (typeof next === 'string') continue;
    const holders = jobs.filter((job) =>
      hasKey(job, lock) ? doesCount(rule, { status: statusIn(job, now), at }, now) : false,
    );
    const first = holders.find((job) => job['state'] !== undefined) ?? holders[0];
    return first && { job: first._id, owner: ownerOf(first), decided: isDecided(first) };
  }
  return undefined;
}

function jobsIn(leaves: readonly StoredDocument[]): readonly StoredDocument[] {
  return leaves.filter(({ type }) => type === 'job');
}

function statusIn(job: StoredDocument, now: number): Status {
  return statusOf(job, now);
}

/** It has begun, and may not be refused any more. */
function isDecided({ state, relock }: StoredDocument): boolean {
  return state !== undefined && relock !== true;
}

function hasKey(job: StoredDocument, lock: StoredDocument): boolean {
  return !isDecided(job) || isFinalState(job['state']) || isListed(job, lock);
}

function isListed(job: StoredDocument, { _id }: StoredDocument): boolean {
  return listedIn(job).includes(_id);
}
