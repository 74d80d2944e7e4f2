import { randomUUID } from 'node:crypto';
import { createLru } from '../../memo.js';
import type { Waits } from '../../clock/clock.js';
import type { Protocol } from '../../replicas/resolve/protocol.js';
import type { Blockers, LockAnswer, PermitAnswer } from '../../decide/world.js';
import type { Displacement, LockRequest, PermitRequest } from '../../decide/queries.js';
import type { LockDocument } from '../../model/lock.js';
import type { StoredDocument } from '../../model/document.js';
import { isFinalState } from '../../model/job.js';
import { ownerOf } from '../../model/task.js';
import type { Store } from '../../store/store.js';
import type { ViewRow } from '../../store/views.js';
import { gather } from './gather.js';
import { takeReplicatedLock } from '../../replicas/lock.js';
import { createPermitLocks, type PermitParts } from './permits.js';
import { createGiveBack, createReleaseSteps, displace, touchJob } from './give-back.js';
import type { Log } from '../log.js';
import { backOff, type Retry } from '../retry.js';
import {
  lockHolderOf,
  isOf,
  isOfEnded,
  listedIn,
  rivalOf,
  sinceOf,
  type LockingJob,
  type FindDocument,
  type LockHolder,
  type Held,
} from '../../replicas/lock-holder.js';
import { findBlockers } from './blockers.js';
import { isOfUse, outlivesJob, takeUnique } from './unique.js';
import { readLockPattern } from '../../evaluate/patterns.js';

/**
 * The locks of jobs, as documents of the store.
 *
 * U1 The write that creates a lock document decides who has the lock; every other write of it is a
 *    compare-and-set on the revision that was read before its holder was looked at.
 * U2 A lock is worth what its holder is: one of a job that is final or gone may be taken over at once.
 *    So a lock that stays behind (an engine died before it removed it) keeps nobody from anything.
 * U3 A job that takes a lock which is its own already writes it anew: whoever read it before, to remove
 *    it because the job was final then, finds another revision.
 *
 * Where the database keeps several copies, U4 and U5 in `replicas/lock.ts` take the place of U1. The lock of a
 * `unique` key follows U17 to U20 in `replicas/unique-lock.ts`.
 */
export type Locks = {
  /** Takes a lock for a job, if no other job that has not ended has it. */
  readonly take: (request: LockRequest, job: LockingJob) => Promise<LockAnswer>;
  /** Takes permits of limits, all that are wanted or none. */
  readonly permit: (request: PermitRequest, job: LockingJob) => Promise<PermitAnswer>;
  /** Removes permits, by id with their nonces, that a decision took and does not use. */
  readonly giveBack: PermitParts['giveBack'];
  /** Asks the holder of a permit to cancel, once, for a job that is stored as it was decided upon. */
  readonly displace: (displacement: Displacement, job: LockingJob) => Promise<void>;
  /** Removes the permits of attempts that have ended. */
  readonly releaseSteps: (job: StoredDocument) => Promise<void>;
  /** A lock is gone; answers the limit of which it was a permit, as far as one was asked for here. */
  readonly freed: (id: string) => string | undefined;
  /** The other jobs that have not ended and whose patterns match a target. */
  readonly blockers: (target: string, job: LockingJob) => Promise<Blockers>;
  /** The jobs of which this engine has locks to remove once they are final. */
  readonly mine: { readonly has: (job: string) => boolean };
  /** This engine has ended the job: all its locks are this engine's to remove. */
  readonly adopt: (job: StoredDocument) => void;
  /**
   * Removes the locks of a job that is final, as far as this engine ended it or took them, maybe in
   * vain. What fails is left to the sweep.
   */
  readonly release: (job: StoredDocument) => Promise<void>;
  /** Removes the locks in `rows` (with documents) whose job is final or gone. */
  readonly removeOrphans: (rows: AsyncIterable<ViewRow<'locks'>>) => Promise<void>;
};

export type LockParts = {
  readonly store: Store;
  readonly retry: Retry;
  /** Aborted when the engine ends. */
  readonly life: AbortSignal;
  readonly log: Log;
  readonly now: () => number;
  /** By which it waits; default: the clock of the machine. */
  readonly clock?: Waits;
  /** Copies that the database keeps of every document. */
  readonly copies: () => number;
  /** Runs a protocol. */
  readonly run: <T>(protocol: Protocol<T>) => Promise<T>;
  readonly queues: PermitParts['queues'];
  /** Has a job looked at that took a permit and did not begin. */
  readonly remind: PermitParts['remind'];
};

/**
 * What this engine has to do with the locks of a job: it is to remove `ids`. It took `held` when the
 * job had the revision `rev`, and as long as that is the newest nobody else can have taken them over:
 * the job has not been final since (U1, U2).
 */
type Mine = {
  readonly ids: Set<string>;
  readonly held: Set<string>;
  rev: string | undefined;
  /** When the first of `held` was taken. */
  since: number;
};

/** Among several copies another leaf revision may come into a lock that was taken, ms. */
const believedMs = 2_000;

/** So many jobs are kept in mind for which locks were taken. */
const remembered = 10_000;

/** Makes the locks of an engine. Times epoch ms. */
export function createLocks(parts: LockParts): Locks {
  const { store, retry, log, now, queues, remind } = parts;
  const reads = createReads(parts);
  const mine = createLru<Mine>(remembered);
  const mineOf = (job: string): Mine => {
    const known = mine.get(job) ?? { ids: new Set(), held: new Set(), rev: undefined, since: 0 };
    mine.set(job, known);
    return known;
  };
  const takeOne: Locks['take'] = async (request, job) => {
    const own = mineOf(job._id);
    const isOld = parts.copies() > 1 && Math.abs(now() - own.since) > believedMs;
    if (own.rev !== job._rev || isOld) own.held.clear();
    const held = `${request.id} ${request.step ?? ''}`;
    if (own.rev === job._rev && own.held.has(held)) return { kind: 'held' };
    own.ids.add(request.id);
    const answer = await take(parts, request, job);
    if (own.rev !== job._rev) own.held.clear();
    own.rev = job._rev;
    if (own.held.size === 0) own.since = now();
    // The lock of a key may be taken over from a job that has not begun.
    if (answer.kind === 'held' && request.unique === undefined) own.held.add(held);
    return answer.kind === 'held' && request.kind !== 'permit' ? { kind: 'held' } : answer;
  };
  const ways = givingBack(parts, (job) => mineOf(job).held);
  const permits = createPermitLocks({ store, now, take: takeOne, ...ways, queues, remind });
  return {
    ...{ mine, take: takeOne },
    freed: permits.freed,
    giveBack: ways.giveBack,
    permit: async (request, job) => {
      const answer = await retry(() => permits.take(request, job));
      // The engine ends: nothing will be written any more.
      return answer ?? { kind: 'unknown' };
    },
    displace: async (displacement, job) =>
      void (await retry(() => displace(store, displacement, job))),
    releaseSteps: createReleaseSteps(parts),
    adopt: (job) => {
      for (const id of listedIn(job)) mineOf(job._id).ids.add(id);
    },
    blockers: async (target, job) => {
      const found = await retry(async () =>
        findBlockers(await reads.patterns(null), target, job, store.get),
      );
      // The engine ends: nothing will be written any more.
      return found ?? { kind: 'unknown' };
    },
    release: async (job) => {
      const own = mine.get(job._id);
      mine.delete(job._id);
      if (own === undefined) return;
      try {
        await release(store, reads, job, { ids: [...own.ids], now: now() });
      } catch (error) {
        const about = { job: job._id, error: String(error) };
        log.debug(about, 'The locks of the job are left to the sweep.');
      }
    },
    removeOrphans: (rows) => removeOrphans(store, rows, now),
  };
}

/** How permits are given back that were taken in vain; `heldBy`: those that are believed to be a job's. */
function givingBack(
  parts: LockParts,
  heldBy: (job: string) => Set<string>,
): Pick<PermitParts, 'giveBack' | 'touch'> {
  return {
    touch: (job) => touchJob(parts, job),
    giveBack: createGiveBack(parts, (ids, { _id: job }) => {
      const held = heldBy(job);
      for (const one of held) if (ids.some((id) => one.startsWith(id))) held.delete(one);
    }),
  };
}

/** What many jobs ask for at the same time is read for all of them together. */
type Reads = {
  readonly patterns: (question: null) => Promise<readonly ViewRow<'locks'>[]>;
  /** Those of all the documents that exist, by id. */
  readonly documents: (ids: readonly string[]) => Promise<ReadonlyMap<string, StoredDocument>>;
  /** All leaves of a document, where the database keeps several copies. */
  readonly leaves: (id: string) => Promise<readonly StoredDocument[]>;
};

function createReads({ store, copies }: Pick<LockParts, 'store' | 'copies'>): Reads {
  const documents = gather((ids: readonly (readonly string[])[]) =>
    store.getMany([...new Set(ids.flat())]),
  );
  return {
    documents,
    patterns: gather(() => store.view('locks', { startKey: ['pattern'], endKey: ['pattern', {}] })),
    leaves: async (id) =>
      copies() > 1 ? store.leaves(id, copies()) : [...(await documents([id])).values()],
  };
}

/** A lock as this engine writes it; `own`: the one that the job has already. */
type OwnLock = (own?: StoredDocument) => LockDocument & { readonly nonce: string };

/** Who asks the holder of a permit to make way stays on record when that one takes it anew (L5). */
function wantedBy(own: Held | undefined): { readonly wanted_by?: string } {
  const wanted = own?.['wanted_by'];
  return typeof wanted === 'string' ? { wanted_by: wanted } : {};
}

async function take(parts: LockParts, request: LockRequest, job: LockingJob): Promise<LockAnswer> {
  if (request.unique !== undefined) return takeUnique(parts, request, job);
  const { kind, id, key, scope, step, value, most, isOver = false } = request;
  const pattern = kind === 'pattern' ? readLockPattern(key) : undefined;
  if (pattern?.ok === false) return { kind: 'invalid', reason: pattern.reason };
  const former = await takenBefore(parts, request, job);
  if (former !== undefined) return former;
  const owner = ownerOf(job);
  const nonce = randomUUID();
  const { copies, now, run } = parts;
  // The permit of a step that has ended is the next step's from now on.
  const at = (own: StoredDocument | undefined): number =>
    own !== undefined && own['step'] === step ? sinceOf(own, now()) : now();
  const mine: OwnLock = (own) => ({
    ...({ _id: id, type: 'lock', kind, key } as const),
    ...wantedBy(own),
    ...(kind === 'permit' ? { rev: job._rev } : { owner }),
    ...(step === undefined ? {} : { step }),
    ...(value === undefined ? {} : { value }),
    ...(most === undefined ? {} : { limit: most }),
    ...(scope === 'database' ? { scope } : {}),
    ...{ job: job._id, at: at(own), nonce },
  });
  const isOwn = (lock: Held): boolean =>
    isOf(lock, job) &&
    (kind !== 'permit' || lock['step'] === step || (isOver && isOfEnded(lock, job)));
  if (copies() <= 1) return takeOnly(parts, mine, { job, isOwn });
  const taken = { anew: true };
  const protocol = takeReplicatedLock({
    ...{ id, nonce, owner, now, chance: Math.random },
    next: (upon) => {
      if (upon === undefined || !isOwn(upon)) return mine();
      if (upon['nonce'] !== nonce) taken.anew = false;
      return mine(upon);
    },
    isOwn,
  });
  const answer = await run(protocol);
  return answer.kind === 'held' && taken.anew ? { ...answer, nonce } : answer;
}

/** The answer where another job has the lock that an earlier version stored for the same target. */
async function takenBefore(
  { store, retry }: LockParts,
  { formerId, scope }: LockRequest,
  job: LockingJob,
): Promise<LockAnswer | undefined> {
  if (formerId === undefined) return undefined;
  const former = await retry(async () => ({ by: await formerHolder(store, formerId, job) }));
  if (former === undefined) return { kind: 'unknown' };
  const owner = ownerOf(job);
  const { by } = former;
  const counts = by !== undefined && (scope === 'database' || by.owner === owner);
  return counts ? takenBy(by, owner) : undefined;
}

/** Takes a lock of which the database keeps one copy (U1 to U3). */
async function takeOnly(
  { store, retry, life, clock }: LockParts,
  mine: OwnLock,
  { job, isOwn }: { readonly job: LockingJob; readonly isOwn: (lock: Held) => boolean },
): Promise<LockAnswer> {
  let next: ReturnType<OwnLock> & { readonly _rev?: string } = mine();
  const { _id: id, nonce } = next;
  let anew = true;
  const held = (): LockAnswer => (anew ? { kind: 'held', nonce } : { kind: 'held' });
  for (let failures = 0; ;) {
    const result = await store.write(next);
    if (result.kind === 'written') return held();
    if (result.kind === 'refused') return result;
    const answer = await retry(async () => ({ stored: await store.get(id) }));
    // The engine ends: nothing will be written any more.
    if (answer === undefined) return { kind: 'unknown' };
    const { stored } = answer;
    if (stored?.['nonce'] === nonce) return held();
    if (result.kind === 'unknown') await backOff((failures += 1), life, clock);
    anew = stored === undefined || !isOwn(stored);
    if (stored === undefined) next = mine();
    else if (isOwn(stored)) next = { ...mine(stored), _rev: stored._rev };
    else {
      const holding = await retry(async () => ({ by: await lockHolderOf(store.get, stored) }));
      if (holding === undefined) return { kind: 'unknown' };
      if (holding.by !== undefined) return takenBy(holding.by, ownerOf(job));
      next = { ...mine(), _rev: stored._rev };
    }
  }
}

/** Who has the lock that an earlier version stored for the same target. */
async function formerHolder(
  store: Store,
  id: string,
  job: LockingJob,
): Promise<LockHolder | undefined> {
  const lock = await store.get(id);
  return lock === undefined || isOf(lock, job) ? undefined : lockHolderOf(store.get, lock);
}

function takenBy(holder: LockHolder, owner: string): LockAnswer {
  return { kind: 'taken', ...rivalOf(holder, owner) };
}

/**
 * The job is read again after its locks were: it may have been taken up again meanwhile (U1), and an
 * end that only some copies have may lose to a leaf revision that goes on.
 */
async function release(
  store: Store,
  reads: Reads,
  job: StoredDocument,
  { ids, now }: { readonly ids: readonly string[]; readonly now: number },
): Promise<void> {
  if (typeof job['continued_to'] === 'string') return;
  const locks = await reads.documents(ids);
  const leaves = await reads.leaves(job._id);
  if (!leaves.every(({ state }) => isFinalState(state))) return;
  const own = ids
    .flatMap((id) => locks.get(id) ?? [])
    .filter((lock) => isOf(lock, job) && !outlivesJob(lock, job, now));
  await Promise.all(own.map(({ _id, _rev }) => store.remove(_id, _rev)));
}

/** So many locks are looked at together. */
const pageSize = 200;

async function removeOrphans(
  store: Store,
  rows: AsyncIterable<ViewRow<'locks'>>,
  now: () => number,
): Promise<void> {
  let page: StoredDocument[] = [];
  const look = async (): Promise<void> => {
    const jobs = await store.getMany([...new Set(page.map(({ job }) => String(job)))]);
    const find: FindDocument = async (id) => jobs.get(id) ?? store.get(id);
    await Promise.all(
      page.map(async (lock) => {
        if (!(await isOfUse(find, lock, now()))) await store.remove(lock._id, lock._rev);
      }),
    );
    page = [];
  };
  for await (const { doc } of rows) {
    if (doc !== undefined) page.push(doc);
    if (page.length === pageSize) await look();
  }
  await look();
}
