import type { LRUCache } from 'lru-cache';
import { createLru } from '../../memo.js';
import { permitText } from '../../decide/compete/limits.js';
import type { LockAnswer, PermitAnswer, PermitHolder } from '../../decide/world.js';
import type { LockRequest, PermitRequest, PermitWant } from '../../decide/queries.js';
import { lockIdOf } from '../../lock-id.js';
import type { StoredDocument } from '../../model/document.js';
import type { Strategy } from '../../model/concurrency.js';
import { ownerOf } from '../../model/task.js';
import type { Store } from '../../store/store.js';
import { isOf, isOfEnded, type LockHolder, type LockingJob } from '../../replicas/lock-holder.js';
import { inLineOf } from '../waiting/wait-queue.js';
import { gather } from './gather.js';
import { permitHolder, holdersOf, permitLocks, readFamily } from './permit-holders.js';
import type { PermitQueues } from './permit-queues.js';

/** What permits need to know of locks. */
export type PermitParts = {
  readonly store: Pick<Store, 'view' | 'get' | 'getMany'>;
  /** Epoch ms. */
  readonly now: () => number;
  readonly take: (request: LockRequest, job: LockingJob) => Promise<LockAnswer>;
  /** Removes permits, by id with their nonces, that were taken just now and are not needed after all. */
  readonly giveBack: (taken: ReadonlyMap<string, string>, job: LockingJob) => Promise<void>;
  /** Writes the job as it is: what was taken for its revision counts no more (L7). */
  readonly touch: (job: LockingJob) => Promise<void>;
  readonly queues: Pick<PermitQueues, 'place' | 'before' | 'heldBack' | 'isEarlier' | 'saw'>;
  /** A job took a permit a while ago and has not begun: whoever was about to begin it may be gone. */
  readonly remind: (job: string) => void;
};

export type PermitLocks = {
  /** Takes all permits that are wanted, or none. */
  readonly take: (request: PermitRequest, job: LockingJob) => Promise<PermitAnswer>;
  /** A lock is gone; answers the limit of which it was a permit, as far as it was ever asked for here. */
  readonly freed: (id: string) => string | undefined;
};

/** So long an answer that all are taken is believed, ms, if none is given back meanwhile. */
const believedMs = 400;
/** So long a permit may be held by a job that does not list it, ms. */
const undecidedMs = 400;
/** After so long the job of somebody else's permit that it does not list is written as it is, ms. */
const abandonedMs = 5_000;
/** After so long a permit that its job does not list is taken for left behind, ms. */
const leftMs = 250;
/** So many permits, and limits, are remembered. */
const remembered = 50_000;

type Full = Extract<PermitAnswer, { kind: 'full' }>;

/** What is known of limits. */
type Known = {
  /** The limit of each permit that was asked for here. */
  readonly limits: LRUCache<string, string>;
  readonly full: LRUCache<string, { answer: Full; most: number; until: number; owner: string }>;
  /** When a taking of a permit that its job does not list was first seen here. */
  readonly undecided: LRUCache<string, number>;
  /** When its job was reminded of it last. */
  readonly reminded: LRUCache<string, number>;
  /** Counts what was given back, so that an older answer is not believed. */
  freed: number;
};

/**
 * The permits of limits: for each limit, and value of its key, as many lock documents as jobs or attempts
 * may have one at the same time.
 *
 * U6 A permit is a lock like any other: the write that creates its document decides. Those of numbers
 *    that are no longer given out (the limit was lowered) count until they are given back.
 * U7 With n permits free only the first n jobs of the line ask for one.
 * L8 Permits are taken all or none: what was taken is given back when another one is missing.
 */
export function createPermitLocks(parts: PermitParts): PermitLocks {
  const known: Known = {
    limits: createLru(remembered),
    full: createLru(remembered),
    undecided: createLru(remembered),
    reminded: createLru(remembered),
    freed: 0,
  };
  const read = gather(async (keys: readonly (readonly string[])[]) =>
    permitLocks(parts.store, [...new Set(keys.flat())]),
  );
  return {
    take: async (request, job) => {
      // A step has its slot when it asks: if it waits for one after all, it keeps nobody from a permit.
      const stand = request.step === undefined ? 'looked_at' : 'passing';
      for (const want of request.wants) parts.queues.place(want, inLineOf(job), stand);
      const owner = ownerOf(job);
      const believed = believedFull(known, { request, owner }, parts.now());
      if (believed !== undefined) return believed;
      const before = known.freed;
      const locks = await read(request.wants.map(({ key }) => key));
      const answer = await takeAll({ parts, known, locks }, request, job);
      const want = answer.kind === 'full' && request.wants.find(({ key }) => key === answer.key);
      if (want && known.freed === before && believesFull(want)) {
        const until = parts.now() + believedMs;
        known.full.set(want.key, { answer, most: want.most, until, owner });
      }
      return answer;
    },
    freed: (id) => {
      const key = known.limits.get(id);
      if (key === undefined) return undefined;
      known.freed += 1;
      known.full.delete(key);
      return key;
    },
  };
}

/** What is cancelled, or cancels others, must be certain that all are taken. */
function believesFull({ strategy }: PermitWant): boolean {
  return strategy === 'queue' || strategy === 'round_robin';
}

function believedFull(
  { full }: Known,
  { request: { wants }, owner }: { readonly request: PermitRequest; readonly owner: string },
  now: number,
): PermitAnswer | undefined {
  if (!wants.every(believesFull)) return undefined;
  for (const { key, most } of wants) {
    const found = full.get(key);
    // It says which holders are of other owners, whose ids the asking one must not learn.
    const isFor = found?.most === most && found.owner === owner;
    if (isFor && now < found.until) return found.answer;
  }
  return undefined;
}

type Look = {
  readonly parts: PermitParts;
  readonly known: Known;
  readonly locks: readonly StoredDocument[];
};

/** One limit as it was found. `own`: the permit that is the asking one's already. */
type Found = {
  readonly want: PermitWant;
  readonly own: StoredDocument | undefined;
  readonly taken: readonly StoredDocument[];
  readonly full?: Full;
};

async function takeAll(look: Look, request: PermitRequest, job: LockingJob): Promise<PermitAnswer> {
  const wants = [...request.wants].sort((a, b) => (a.key < b.key ? -1 : 1));
  const found: Found[] = [];
  for (const want of wants) found.push(await find(look, want, { request, job }));
  // Nobody is asked to cancel for a job that would have to wait for another limit all the same.
  const none =
    fullOf(found, ['cancel_newest', 'queue', 'round_robin']) ??
    behindOf(look, found, job) ??
    fullOf(found, ['cancel_oldest']);
  if (none !== undefined) {
    const isLeftOver = found.some(({ own }) => own?.['rev'] === job._rev && isLeft(look, own));
    if (isLeftOver) await look.parts.touch(job);
    return none;
  }
  const ids = new Map<string, string>();
  const anew = new Map<string, string>();
  for (const one of found) {
    const answer = await takeOne(look, one, { request, job });
    if (!('lock' in answer)) {
      if (answer.kind !== 'unknown') await look.parts.giveBack(anew, job);
      return answer;
    }
    ids.set(one.want.key, answer.lock);
    if (answer.nonce !== undefined) anew.set(answer.lock, answer.nonce);
  }
  const held = request.wants.map(({ key }) => String(ids.get(key)));
  return { kind: 'held', ids: held, ...(anew.size === 0 ? {} : { anew }) };
}

/** A permit that was taken for this revision of the job a while ago, by an engine that may have died since. */
function isLeft({ parts: { now }, known: { undecided } }: Look, own: StoredDocument): boolean {
  const nonce = String(own['nonce']);
  const since = undecided.get(nonce) ?? now();
  undecided.set(nonce, since);
  // To be wrong costs a write: no engine can be about to write the job without the permit that is missing.
  return now() - Math.min(since, Number(own['at'])) > leftMs;
}

type For = { readonly request: PermitRequest; readonly job: LockingJob };

async function find(
  { parts, known, locks }: Look,
  want: PermitWant,
  { request, job }: For,
): Promise<Found> {
  const of = locks.filter(({ key }) => key === want.key);
  for (const { _id } of of) known.limits.set(_id, want.key);
  const { step, over = [] } = request;
  const mine = of.filter((lock) => isOf(lock, job));
  const ended = mine.filter((lock) => over.includes(lock._id) && isOfEnded(lock, job));
  const own = mine.find((lock) => lock['step'] === step) ?? ended[0];
  const others = of.filter((lock) => lock !== own && !ended.includes(lock));
  const values = of.map(({ value, at }) => ({ value: String(value), at: Number(at) }));
  if (want.strategy === 'round_robin') parts.queues.saw(want.key, values);
  // Only where all are gone it matters whether those that have them still live.
  if (others.length < want.most) return { want, own, taken: others };
  const holders = await holdersOf(parts.store, others);
  const taken = others.filter((lock) => holders.has(lock._id));
  for (const lock of taken) {
    if (holders.get(lock._id)?.decided === false) await remind(parts, known, lock);
  }
  if (taken.length < want.most) return { want, own, taken };
  const family =
    want.strategy === 'cancel_oldest' ? await readFamily(parts.store, { ...job }, taken) : {};
  const by = taken.map((lock) => {
    const known = permitHolder(lock, holders.get(lock._id) as LockHolder, job, family);
    return parts.queues.isEarlier(job._id, known.job) ? { ...known, newer: true as const } : known;
  });
  return { want, own, taken, full: { kind: 'full', key: want.key, by } };
}

/**
 * Its engine may have died before the job was written: another one that can go on with the job does. Where
 * there is none the permit is made void (L7).
 */
async function remind(
  { now, touch, remind: rouse }: PermitParts,
  { undecided, reminded }: Known,
  lock: StoredDocument,
): Promise<void> {
  const nonce = String(lock['nonce']);
  const since = undecided.get(nonce) ?? now();
  undecided.set(nonce, since);
  if (now() - since > abandonedMs) {
    return touch({ _id: String(lock['job']), _rev: String(lock['rev']) });
  }
  const last = reminded.get(nonce) ?? since;
  reminded.set(nonce, last);
  if (now() - last < undecidedMs) return;
  reminded.set(nonce, now());
  rouse(String(lock['job']));
}

/** The limit of one of these strategies that has no permit left; that of the first one, if there are several. */
function fullOf(found: readonly Found[], order: readonly Strategy[]): Full | undefined {
  const place = ({ want }: Found): number => order.indexOf(want.strategy);
  const all = found.filter((one) => one.full !== undefined && place(one) >= 0);
  return all.toSorted((a, b) => place(a) - place(b))[0]?.full;
}

function behindOf(
  { parts: { queues } }: Look,
  found: readonly Found[],
  { _id: id }: LockingJob,
): PermitAnswer | undefined {
  for (const { want, own, taken, full } of found) {
    const { key, most } = want;
    if (own !== undefined || full !== undefined) continue;
    const has = new Set(taken.map(({ job, step }) => (step === undefined ? job : undefined)));
    const by = queues.before(key, id).filter((one) => !has.has(one));
    if (by.length < most - taken.length) continue;
    queues.heldBack(key, id);
    return { kind: 'behind', key, by };
  }
  return undefined;
}

/** A lock that was taken; `nonce`: just now, and by this engine. */
type Taken = { readonly lock: string; readonly nonce?: string };

/** Takes the first permit that is free; answers its lock, or why there is none. */
async function takeOne(
  { parts, known }: Look,
  { want, own, taken }: Found,
  { request, job }: For,
): Promise<Taken | PermitAnswer> {
  const { key, most, value } = want;
  const ids = Array.from({ length: most }, (_, n) => lockIdOf(permitText(key, n)));
  for (const id of ids) known.limits.set(id, key);
  const free = ids.filter((id) => !taken.some((one) => one._id === id));
  const { step, over = [] } = request;
  const rivals: PermitHolder[] = [];
  for (const id of new Set(own === undefined ? free : [own._id, ...free])) {
    const more = {
      ...(step === undefined ? {} : { step }),
      ...(value === undefined ? {} : { value }),
      ...(over.includes(id) ? ({ isOver: true } as const) : {}),
    };
    const answer = await parts.take({ kind: 'permit', id, key, most, ...more }, job);
    if (answer.kind === 'held') {
      return { lock: id, ...(answer.nonce === undefined ? {} : { nonce: answer.nonce }) };
    }
    if (answer.kind === 'unknown') return answer;
    if (!('by' in answer)) return { kind: 'refused', reason: answer.reason };
    const foreign = answer.foreign === true ? { foreign: true as const } : {};
    const rival = { job: answer.by, at: parts.now(), nonce: '', lock: id, ...foreign };
    // Nobody knows it well enough to cancel for it, or to ask it to cancel.
    rivals.push({ ...rival, undecided: true });
  }
  const holders = await holdersOf(parts.store, taken);
  const by = taken.flatMap((lock) => {
    const holder = holders.get(lock._id);
    return holder === undefined ? [] : [permitHolder(lock, holder, job)];
  });
  return { kind: 'full', key, by: [...by, ...rivals] };
}
