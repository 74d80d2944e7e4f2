import type { Rival } from '../decide/world.js';
import type { StoredDocument } from '../model/document.js';
import { isCancelRequested, isFinalState, type LiveJob } from '../model/job.js';
import { isObject } from '../model/object.js';
import { isOpen, type Step } from '../model/step.js';
import { ownerOf } from '../model/task.js';

/** A job that wants locks; the job that it continues hands its own on to it. */
export type LockingJob = {
  readonly _id: string;
  readonly _rev: string;
  readonly owner?: unknown;
  readonly continued_from?: unknown;
};

/** What a lock says of its job. */
export type Held = { readonly job?: unknown; readonly [key: string]: unknown };

/** The lock is the job's own, or of the job that it continues. */
export function isOf({ job }: Held, { _id, continued_from }: Omit<LockingJob, '_rev'>): boolean {
  return job === _id || (job !== undefined && job === continued_from);
}

/**
 * A permit of an attempt that has ended in what was decided upon this revision: it was taken for an
 * earlier one. One that was taken for this revision is of an attempt that is about to begin.
 */
export function isOfEnded({ step, rev }: Held, job: Pick<LockingJob, '_rev'>): boolean {
  return step !== undefined && rev !== job._rev;
}

/** Since when a lock is held, epoch ms. */
export function sinceOf({ at }: StoredDocument, now: number): number {
  return typeof at === 'number' ? at : now;
}

/** Reads a document by its id. */
export type FindDocument = (id: string) => Promise<StoredDocument | undefined>;
/** Who has a lock; `decided`: it has begun, and may not be refused any more. */
export type LockHolder = {
  readonly job: string;
  readonly owner: string;
  readonly decided: boolean;
  /** It is being cancelled. */
  readonly cancelling?: true;
  /** It is a slice of a map of this job. */
  readonly sliceOf?: string;
};

/** The job that has a lock now, if there is one (U2). */
export async function lockHolderOf(
  find: FindDocument,
  lock: Lock,
): Promise<LockHolder | undefined> {
  const search = findHolder(lock);
  let step = search.next();
  while (step.done !== true) {
    const job = await find(step.value);
    step = search.next(job === undefined ? [] : [job]);
  }
  return step.value;
}

type Lock = Held & { readonly _id: string };

/**
 * Finds the job that has a lock now (U2). It yields the id of a job that is to be read, and is given
 * the leaves of that job: one that goes on in any of them has not ended.
 */
export function* findHolder(
  lock: Lock,
): Generator<string, LockHolder | undefined, readonly StoredDocument[]> {
  const seen = new Set<unknown>();
  let next = lock.job;
  while (typeof next === 'string' && !seen.has(next)) {
    seen.add(next);
    const jobs = (yield next).filter(({ type }) => type === 'job');
    const isHandedOn = next !== lock.job;
    const holders = jobs.flatMap((job) => holderIn(job, lock, isHandedOn) ?? []);
    if (holders.length > 0) return holders.find(({ decided }) => decided) ?? holders[0];
    // A job that went on as a new one keeps its locks for that one, until it takes them over.
    const last = jobs.find((job) => isFinalState(job['state']) && isListed(job, lock));
    next = last?.['continued_to'];
  }
  return undefined;
}

/**
 * The job as the holder of a lock; undefined when it has ended, or begun without that lock.
 *
 * L7 A permit names the revision of its job for which it was taken. Until the job lists it, it counts
 *    for that revision only: whatever was decided upon an older one can no longer be written. One that
 *    a job has handed on to the job that continues it counts until that one has begun, as all locks do.
 */
function holderIn(job: StoredDocument, lock: Lock, isHandedOn: boolean): LockHolder | undefined {
  const { state, relock } = job;
  if (isFinalState(state)) return undefined;
  const { step, rev } = lock;
  const isWaitedFor = isHandedOn && state === undefined;
  if (typeof rev === 'string' && !isWaitedFor) {
    const lists = typeof step === 'string' ? isListedInSteps(job, lock) : isListed(job, lock);
    if (!lists && job._rev !== rev) return undefined;
    const cancelling = isCancelRequested(job as unknown as LiveJob)
      ? ({ cancelling: true } as const)
      : {};
    const parent = job['slice'] === undefined ? undefined : parentIdOf(job);
    const slice = parent === undefined ? {} : { sliceOf: parent };
    return { job: job._id, owner: ownerOf(job), decided: lists, ...cancelling, ...slice };
  }
  const decided = state !== undefined && relock !== true;
  if (decided && !isListed(job, lock)) return undefined;
  return { job: job._id, owner: ownerOf(job), decided };
}

/**
 * An attempt that has not ended has the permit. Of whichever step: a permit may be taken for the next step
 * before the end of the one that has it is stored.
 */
function isListedInSteps({ steps }: StoredDocument, { _id }: Lock): boolean {
  if (!Array.isArray(steps)) return false;
  return (steps as readonly Step[]).some(
    (step) => isObject(step) && isOpen(step) && permitsOf(step).includes(_id),
  );
}

/** The id of the job that a job says it was made for. */
export function parentIdOf({ parent }: Readonly<Record<string, unknown>>): string | undefined {
  const { job } = (isObject(parent) ? parent : {}) as { readonly job?: unknown };
  return typeof job === 'string' ? job : undefined;
}

/** The ids of the permits that an attempt says it has. */
export function permitsOf({ permits }: { readonly permits?: unknown }): readonly unknown[] {
  return Array.isArray(permits) ? permits : [];
}

function isListed(job: StoredDocument, { _id }: Lock): boolean {
  return listedIn(job).includes(_id);
}

/** The ids of the locks that a job says it has. */
export function listedIn({ locked }: Readonly<Record<string, unknown>>): readonly string[] {
  const ids: unknown[] = typeof locked === 'object' && locked !== null ? Object.values(locked) : [];
  return ids.flat().filter((id) => typeof id === 'string');
}

/** The holder of a lock as the jobs of an owner may know it. */
export function rivalOf(holder: LockHolder, owner: string): Rival;
export function rivalOf(holder: LockHolder | undefined, owner: string): Rival | undefined;
export function rivalOf(holder: LockHolder | undefined, owner: string): Rival | undefined {
  if (holder === undefined) return undefined;
  return holder.owner === owner ? { by: holder.job } : { by: holder.job, foreign: true };
}
