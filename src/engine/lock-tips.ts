import { setTimeout as sleep } from 'node:timers/promises';
import { winnerFirst, type Tip } from '../decide/copies/tips.js';
import type { LockAnswer, Rival } from '../decide/intent.js';
import type { LockDocument } from '../model/lock.js';
import type { Store } from '../store/store.js';
import type { Retry } from './patience.js';

/** A lock that is wanted where the database keeps several copies of it. */
export type ManyLock = {
  readonly store: Pick<Store, 'tips' | 'write' | 'remove'>;
  readonly retry: Retry;
  /** Aborted when the engine ends. */
  readonly life: AbortSignal;
  readonly copies: number;
  readonly id: string;
  /** Names what this engine writes here. */
  readonly nonce: string;
  /** The lock as it is to be written, upon this tip or as a new document. */
  readonly next: (upon: Tip | undefined) => LockDocument;
  /** The tip is of the job that wants the lock. */
  readonly isOwn: (tip: Tip) => boolean;
  /** The job that has not ended whose lock a tip is. */
  readonly holderOf: (tip: Tip) => Promise<Rival | undefined>;
};

/** The engine ends: nothing will be written any more. */
const unknown = { kind: 'unknown' } as const;

/** So often it is waited that another one gives up which no majority of the copies has. */
const patience = 5;
/** So often it is tried to remove what was written here. */
const mostTries = 20;

/**
 * Takes a lock of which there may be several tips: each copy takes the first of several writers.
 *
 * U4 The lock is held only after a quorum has acknowledged (201) a revision with our nonce and a look
 *    that began afterwards has found that one as the only tip. Of two that come so far, one was on a
 *    copy before the look of the other has read that copy.
 * U5 Beside the lock of another job that has not ended, what was written here is removed again: at
 *    once when no quorum has it, else after a while. What another engine wrote for this job stays
 *    while it is the winner: it may be held.
 */
export async function takeOneOfMany(lock: ManyLock): Promise<LockAnswer> {
  const { store, retry, life, copies, id, nonce, isOwn } = lock;
  let acknowledged: string | undefined;
  for (let tries = 0; ; tries += 1) {
    const tips = await retry(async () => winnerFirst(await store.tips(id, copies)));
    if (tips === undefined) return unknown;
    const mine = tips.find((tip) => tip['nonce'] === nonce);
    const isAcknowledged = mine !== undefined && mine._rev === acknowledged;
    if (tips.length === 1 && isAcknowledged) return { kind: 'held' };
    const rival = await firstRival(lock, tips);
    if (rival === undefined) return unknown;
    if (rival.job !== undefined) {
      const removable = tips.filter((tip, i) => isOwn(tip) && (tip === mine || i > 0));
      if (removable.length === 0 || tries > mostTries) return { kind: 'taken', ...rival.job };
      if (!isAcknowledged || tries > patience) await removeAll(lock, removable);
      await rest(tries, life);
      continue;
    }
    // What is left is of this job, or of nobody any more.
    const [upon, ...others] = tips;
    if (others.length === 0) {
      const { _rev } = upon ?? {};
      const draft = { ...lock.next(upon), ...(_rev === undefined ? {} : { _rev }) };
      const stored = await store.write(draft);
      if (stored.kind === 'refused') return stored;
      if (stored.kind === 'written') acknowledged = stored.rev;
      else await rest(tries, life);
    } else {
      const kept = isAcknowledged ? mine : upon;
      await removeAll(
        lock,
        tips.filter((tip) => tip !== kept),
      );
    }
  }
}

/** The job of the first tip that keeps others from the lock; undefined: the engine ends. */
async function firstRival(
  { retry, isOwn, holderOf }: ManyLock,
  tips: readonly Tip[],
): Promise<{ readonly job: Rival | undefined } | undefined> {
  for (const tip of tips) {
    if (isOwn(tip)) continue;
    const holding = await retry(async () => ({ job: await holderOf(tip) }));
    if (holding?.job !== undefined || holding === undefined) return holding;
  }
  return { job: undefined };
}

async function removeAll({ store }: ManyLock, tips: readonly Tip[]): Promise<void> {
  for (const { _id, _rev } of tips) await store.remove(_id, _rev);
}

/** Not as long for one as for the other, so that two do not always meet again; ends with the engine. */
async function rest(tries: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(1_000, 25 * 2 ** tries) * (0.5 + Math.random());
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
