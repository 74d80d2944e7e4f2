import { look, write, type Protocol, type WriteAnswer } from './resolve/protocol.js';
import type { LeafRevision } from './resolve/leaf-revisions.js';
import type { LockAnswer } from '../decide/world.js';
import type { LockDocument } from '../model/lock.js';
import { findHolder, rivalOf, sinceOf, type LockHolder } from './lock-holder.js';

/** A lock that is wanted where the database keeps several copies of it. */
export type ReplicatedLock = {
  readonly id: string;
  /** Names what this engine writes here. */
  readonly nonce: string;
  /** The owner of the job that wants the lock. */
  readonly owner: string;
  /** The lock as it is to be written, upon this leaf or as a new document. */
  readonly next: (upon: LeafRevision | undefined) => LockDocument;
  /** The leaf is of the job that wants the lock. */
  readonly isOwn: (leaf: LeafRevision) => boolean;
  /** Epoch ms. */
  readonly now: () => number;
  /** A number from 0 to 1: two that want the lock do not wait equally long. */
  readonly chance: () => number;
};

/** The engine ends: nothing will be written any more. */
export const unknownAnswer = { kind: 'unknown' } as const;

/** So often it is waited that another one gives up which no majority of the copies has. */
const patience = 5;
/** So often it is tried to remove what was written here. */
const mostTries = 20;
/** So long a job that has not begun may give up the lock that it stored, ms: about two leases. */
const contestMs = 30_000;

/**
 * Takes a lock of which there may be several leaves: each copy takes the first of several writers.
 *
 * U4 The lock is held only after a quorum has acknowledged (201) a revision with our nonce and a look
 *    that began afterwards has found that one, and none of another job. Of two jobs that come so far,
 *    one was on a copy before the look of the other has read that copy.
 * U5 Beside the lock of another job that has not ended, what was written here is removed again: at
 *    once when no quorum has it, else after a while. What another engine wrote for this job stays: it
 *    may be held by now, whatever a look has found.
 * U8 Of two jobs that have not begun the one whose leaf wins goes on: it asks again until the other is
 *    refused, or has begun. So does who finds the lock of a job that has not begun and took it not
 *    long ago, since that one may give it up.
 */
export function* takeReplicatedLock(lock: ReplicatedLock): Protocol<LockAnswer> {
  const { id, nonce, isOwn } = lock;
  let acknowledged: string | undefined;
  for (let tries = 0; ; tries += 1) {
    const leaves = yield* look(id);
    if (leaves === undefined) return unknownAnswer;
    const mine = leaves.find((leaf) => leaf['nonce'] === nonce);
    const isAcknowledged = mine !== undefined && mine._rev === acknowledged;
    const others = leaves.filter((leaf) => !isOwn(leaf));
    if (others.length === 0 && isAcknowledged) return { kind: 'held' };
    const holding = yield* firstHolder(others);
    if (holding === undefined) return unknownAnswer;
    if (holding.holder !== undefined) {
      const answer = yield* giveWay(lock, { leaves, mine, isAcknowledged, tries }, holding);
      if (answer !== undefined) return answer;
      continue;
    }
    const stored = yield* writeUpon(lock, leaves, mine);
    if (stored?.kind === 'refused') return { kind: 'refused', reason: stored.reason };
    if (stored?.kind === 'written') acknowledged = stored.rev;
    else if (stored !== undefined) yield* restApart(tries, lock);
  }
}

/** What a look has found. `mine`: the leaf that was written here; a quorum may have acknowledged it. */
type Found = {
  readonly leaves: readonly LeafRevision[];
  readonly mine: LeafRevision | undefined;
  readonly isAcknowledged: boolean;
  readonly tries: number;
};

/** Removes what was written here beside the lock of another job (U5, U8); undefined: look again. */
export function* giveWay(
  lock: Omit<ReplicatedLock, 'next'>,
  { leaves, mine, isAcknowledged, tries }: Found,
  { holder, since }: Rivalling,
): Protocol<LockAnswer | undefined> {
  const given = !isAcknowledged || tries > patience ? mine : undefined;
  if (given !== undefined) yield* remove(given);
  if (mine !== undefined && tries <= mostTries) {
    yield* restApart(tries, lock);
    return undefined;
  }
  const winner = leaves.find((leaf) => leaf !== given);
  const isFirst = winner !== undefined && lock.isOwn(winner);
  const isRecent = Math.abs(lock.now() - since) < contestMs;
  const isOpen = !holder.decided && (isFirst || isRecent);
  return { kind: isOpen ? 'contested' : 'taken', ...rivalOf(holder, lock.owner) };
}

/**
 * Writes the lock upon `mine`, or a leaf of this job, or one that is of nobody any more; undefined when
 * other leaves of nobody had to be removed first.
 */
export function* writeUpon(
  { next, isOwn }: Pick<ReplicatedLock, 'next' | 'isOwn'>,
  leaves: readonly LeafRevision[],
  mine: LeafRevision | undefined,
): Protocol<WriteAnswer | undefined> {
  const upon = mine ?? leaves.find(isOwn) ?? leaves[0];
  const dead = leaves.filter((leaf) => !isOwn(leaf) && leaf !== upon);
  for (const leaf of dead) yield* remove(leaf);
  if (dead.length > 0) return undefined;
  const { _rev } = upon ?? {};
  return yield* write({ ...next(upon), ...(_rev === undefined ? {} : { _rev }) });
}

type Rivalling = { readonly holder: LockHolder; readonly since: number };
type Holding = Rivalling | { readonly holder: undefined };

/** The job that has the first of these leaves which anybody has; undefined: the engine ends. */
function* firstHolder(leaves: readonly LeafRevision[]): Protocol<Holding | undefined> {
  for (const leaf of leaves) {
    const search = findHolder(leaf);
    let step = search.next();
    while (step.done !== true) {
      const jobs = yield* look(step.value);
      if (jobs === undefined) return undefined;
      step = search.next(jobs);
    }
    if (step.value !== undefined) return { holder: step.value, since: sinceOf(leaf, 0) };
  }
  return { holder: undefined };
}

function* remove({ _id, _rev }: LeafRevision): Protocol<void> {
  yield* write({ _id, _rev, _deleted: true });
}

/** Not as long for one as for the other, so that two do not always meet again. */
export function* restApart(
  tries: number,
  { chance }: Pick<ReplicatedLock, 'chance'>,
): Protocol<void> {
  yield { kind: 'rest', ms: Math.min(1_000, 25 * 2 ** tries) * (0.5 + chance()) };
}
