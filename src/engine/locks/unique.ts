import { randomUUID } from 'node:crypto';
import type { LockRequest } from '../../decide/queries.js';
import type { LockAnswer } from '../../decide/world.js';
import type { StoredDocument } from '../../model/document.js';
import { ownerOf } from '../../model/task.js';
import { doesCount } from '../../model/unique.js';
import { statusOf } from '../../reading/status.js';
import {
  isOf,
  lockHolderOf,
  sinceOf,
  type FindDocument,
  type LockingJob,
} from '../../replicas/lock-holder.js';
import type { Protocol } from '../../replicas/resolve/protocol.js';
import { isUniqueInUse, ruleIn } from '../../replicas/unique-holder.js';
import { takeUniqueLock, uniqueLockOf } from '../../replicas/unique-lock.js';

type UniqueParts = {
  readonly copies: () => number;
  /** Epoch ms. */
  readonly now: () => number;
  readonly run: <T>(protocol: Protocol<T>) => Promise<T>;
};

/** Takes the lock of a key: its holder is judged by the rule of the job. */
export function takeUnique(
  { copies, now, run }: UniqueParts,
  { id, key, unique: rule = {} }: LockRequest,
  job: LockingJob,
): Promise<LockAnswer> {
  const owner = ownerOf(job);
  const nonce = randomUUID();
  return run(
    takeUniqueLock({
      ...{ id, nonce, owner, now, chance: Math.random, job, rule, many: copies() > 1, asks: true },
      next: (upon, after) => {
        const at = upon !== undefined && isOf(upon, job) ? sinceOf(upon, now()) : now();
        return uniqueLockOf({ id, key, owner, job: job._id, at, nonce, after }, rule);
      },
    }),
  );
}

/** Whether the lock of a final job is kept: its period is not over, or a job that it replaced has not ended. */
export function outlivesJob(lock: StoredDocument, job: StoredDocument, now: number): boolean {
  if (lock['kind'] !== 'unique') return false;
  const about = { status: statusOf(job, now), at: sinceOf(lock, 0) };
  return Array.isArray(lock['after']) || doesCount(ruleIn(lock), about, now);
}

/** Whether a lock keeps anybody from anything. */
export async function isOfUse(
  find: FindDocument,
  lock: StoredDocument,
  now: number,
): Promise<boolean> {
  if (lock['kind'] === 'unique') return isUniqueInUse(find, lock, now);
  return (await lockHolderOf(find, lock)) !== undefined;
}
