import type { LRUCache } from 'lru-cache';
import { createLru } from '../../memo.js';
import type { Displacement } from '../../decide/queries.js';
import type { StoredDocument } from '../../model/document.js';
import { isObject } from '../../model/object.js';
import { isOpen, type Step } from '../../model/step.js';
import type { PermitAnswer } from '../../decide/world.js';
import type { LiveJob } from '../../model/job.js';
import { listedIn, permitsOf, type LockingJob } from '../../replicas/lock-holder.js';
import type { Store } from '../../store/store.js';
import type { Log } from '../log.js';
import { isAskerOver } from './permit-holders.js';

/** What giving permits back needs. */
type GiveBackParts = {
  readonly store: Store;
  readonly log: Log;
  readonly copies: () => number;
};

/** `taken`: the nonce with which each permit was taken, by its id. */
type GiveBack = (taken: ReadonlyMap<string, string>, job: LockingJob) => Promise<void>;

/**
 * Removes permits that were taken for a revision of a job that will not be written with them.
 *
 * L9 An engine gives back only what it took itself and nobody wrote since: another engine may be about to
 *    write the same job with the permit, and took it anew before (U3).
 */
export function createGiveBack(
  { store, log }: GiveBackParts,
  forget: (ids: readonly string[], job: LockingJob) => void,
): GiveBack {
  return async (taken, job) => {
    if (taken.size === 0) return;
    forget([...taken.keys()], job);
    try {
      const locks = await store.getMany([...taken.keys()]);
      for (const lock of locks.values()) {
        if (lock['nonce'] === taken.get(lock._id)) await store.remove(lock._id, lock._rev);
      }
    } catch (error) {
      // Whoever needs one takes it over once the job has another revision (L7).
      log.debug({ job: job._id, error: String(error) }, 'Permits were not given back.');
    }
  };
}

/**
 * The permits, by id with their nonces, that were taken for a decision and are not in what it writes: it has no
 * slot after all, say.
 */
export function unusedPermits(
  intent: object,
  answers: Iterable<PermitAnswer>,
): ReadonlyMap<string, string> {
  const { job = {} } = intent as { readonly job?: Partial<LiveJob> };
  const { locked, steps = [] } = job;
  const anew = [...answers].flatMap((one) => (one.kind === 'held' ? [...(one.anew ?? [])] : []));
  const used = new Set<unknown>([...listedIn({ locked }), ...steps.flatMap(permitsOf)]);
  return new Map(anew.filter(([id]) => !used.has(id)));
}

/** So many ended attempts are remembered whose permits were removed. */
const remembered = 10_000;

/**
 * Makes the function that removes the permits of attempts that have ended in the revision of a job that was
 * just written. What fails is left to the sweep, and whoever needs one takes it over meanwhile.
 */
export function createReleaseSteps({
  store,
  log,
}: GiveBackParts): (job: StoredDocument) => Promise<void> {
  const released = createLru<true>(remembered);
  return async (job) => {
    try {
      const ids = endedPermits(job, released);
      if (ids.length === 0) return;
      const locks = await store.getMany(ids);
      for (const lock of locks.values()) {
        if (isLeftBy(lock, job)) await store.remove(lock._id, lock._rev);
      }
    } catch (error) {
      log.debug({ job: job._id, error: String(error) }, 'Permits of steps are left to the sweep.');
    }
  };
}

/** The permits of attempts that have ended, each attempt once; the job may have any form. */
function endedPermits(job: StoredDocument, released: LRUCache<string, true>): readonly string[] {
  const { definitions, steps } = job;
  const limited = isObject(definitions) && Object.values(definitions).some(hasLimits);
  if (!limited || !Array.isArray(steps)) return [];
  const objects = steps.filter(isObject) as readonly unknown[] as readonly Step[];
  const all = objects.filter((step) => permitsOf(step).length > 0);
  const open = new Set(all.filter(isOpen).flatMap(permitsOf));
  const ended = all.filter((step) => !isOpen(step) && !released.has(claimOf(job, step)));
  for (const step of ended) released.set(claimOf(job, step), true);
  const ids = ended.flatMap(permitsOf).filter((id) => !open.has(id));
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

const hasLimits = (task: unknown): boolean => isObject(task) && task['concurrency'] !== undefined;

function claimOf({ _id }: StoredDocument, { path, attempt, run }: Step): string {
  return `${_id} ${run} ${path} ${attempt}`;
}

/**
 * The permit of a step of this job, which was taken for an older revision and is not listed any more (L7). What
 * the job lists may be any document: of a malformed one nothing else is removed.
 */
function isLeftBy(
  { type, step, job, rev }: StoredDocument,
  { _id, _rev }: StoredDocument,
): boolean {
  const isOwn = type === 'lock' && job === _id && step !== undefined;
  return isOwn && typeof rev === 'string' && numberOf(rev) < numberOf(_rev);
}

const numberOf = (rev: string): number => Number.parseInt(rev, 10);

/** Writes a job as it is, if it is still the revision that is known. */
export async function touchJob(
  { store, copies }: Pick<GiveBackParts, 'store' | 'copies'>,
  { _id, _rev }: LockingJob,
): Promise<void> {
  if (copies() > 1) return;
  const doc = await store.get(_id);
  if (doc?._rev === _rev) await store.write(doc);
}

/**
 * Writes into the lock for whom its holder makes way, then asks that job to cancel (L5). Nobody makes way for a
 * job that has gone on since in another engine: it may have ended.
 */
export async function displace(
  store: Store,
  { lock: id, nonce, wantedBy, request }: Displacement,
  { _id: asking, _rev }: LockingJob,
): Promise<void> {
  const [lock, asker] = [await store.get(id), await store.get(asking)];
  if (lock === undefined || lock['nonce'] !== nonce || asker?._rev !== _rev) return;
  const { wanted_by: known } = lock as { readonly wanted_by?: string };
  if (known !== undefined && known !== wantedBy && !(await isAskerOver(store, known))) return;
  if (known !== wantedBy) {
    const written = await store.write({ ...lock, wanted_by: wantedBy });
    if (written.kind === 'unknown') throw new Error(written.cause);
    if (written.kind !== 'written') return;
  }
  const asked = await store.write(request);
  if (asked.kind === 'unknown') throw new Error(asked.cause);
}
