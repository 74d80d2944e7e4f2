import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { uniqueKey, uniqueRequest, type UniqueKey } from '../decide/compete/unique.js';
import type { LockAnswer } from '../decide/world.js';
import { problem, TwsError } from '../errors.js';
import { evaluate } from '../evaluate/expressions.js';
import { lockIdOf } from '../lock-id.js';
import { reservedMs, ruleOf, type Unique } from '../model/unique.js';
import { ownerOf } from '../model/task.js';
import { isOf, sinceOf } from '../replicas/lock-holder.js';
import { winnerFirst } from '../replicas/resolve/leaf-revisions.js';
import type { Effect, EffectAnswer, Protocol } from '../replicas/resolve/protocol.js';
import { takeUniqueLock, uniqueLockOf } from '../replicas/unique-lock.js';
import type { Store } from '../store/store.js';

type AnyJob = Readonly<Record<string, unknown>> & { readonly _id: string };

/** What a submit comes to. */
type Answered = {
  readonly id: string;
  readonly rev: string;
  readonly existed: boolean;
  readonly existing?: true;
  readonly replaces?: string;
};

/** A job that is submitted, and which others its `unique` does not allow beside it. */
export type UniqueOrder = {
  readonly job: AnyJob;
  readonly unique: Unique;
  /** Id of the lock. */
  readonly lock: string;
};

/** Returns the order for a job with `unique`. @throws TwsError `unique_key` */
export async function uniqueOrder(job: AnyJob, unique: Unique): Promise<UniqueOrder> {
  const asked = uniqueKey(job, unique);
  const key = asked.kind === 'asked' ? await answered(job, unique, asked) : asked;
  if (key.kind === 'known') return { job, unique, lock: lockIdOf(key.text) };
  throw problem('unique_key', { reason: key.kind === 'wrong' ? key.reason : 'it has no answer' });
}

async function answered(
  job: AnyJob,
  unique: Unique,
  { question }: Extract<UniqueKey, { kind: 'asked' }>,
): Promise<UniqueKey> {
  return uniqueKey(job, unique, new Map([[question.id, await evaluate(question)]]));
}

/** How a job is stored, once its key is reserved. */
export type UniqueSubmit = {
  readonly write: () => Promise<Answered>;
  /** Copies that the database keeps of every document; absent: they are read. */
  readonly copies?: number | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Stores a job whose key must be unique: first the lock, which is reserved for it, then the job (U17). With
 * `replace` the lock lists the job that has the key; the engine that begins the new one asks that to cancel (U42).
 * @throws TwsError `not_unique`, and what `store` throws
 */
export async function submitUnique(
  store: Store,
  { job, unique, lock }: UniqueOrder,
  { write, copies, signal }: UniqueSubmit,
): Promise<Answered> {
  const nonce = randomUUID();
  const parts = { store, copies: copies ?? (await store.info()).copies, signal };
  const { answer, isShared } = await reserve(parts, { job, unique, lock }, nonce);
  switch (answer.kind) {
    case 'held':
      return isShared ? write() : written(store, { lock, nonce }, write);
    case 'replacing':
      // A lock that lists others is not given back: it keeps the next one from running beside them.
      return { ...(await write()), replaces: answer.by };
    case 'taken':
    case 'contested':
    case 'replaced': {
      const { by } = answer;
      if (unique.on_conflict === 'replace') return { ...(await write()), replaces: by };
      const there = unique.on_conflict === 'existing' ? await store.get(by) : undefined;
      if (there === undefined) throw problem('not_unique', { id: by });
      return { id: by, rev: there._rev, existed: true, existing: true };
    }
    case 'refused':
      throw problem('document_refused', { id: lock, reason: answer.reason });
    case 'unknown':
    case 'invalid':
      // The engine that begins the job applies the rule.
      return write();
  }
}

/** A job that is refused gives its key back. What is not known to be stored may have it. */
async function written(
  store: Store,
  taken: { readonly lock: string; readonly nonce: string },
  write: () => Promise<Answered>,
): Promise<Answered> {
  try {
    return await write();
  } catch (error) {
    const isRefused = error instanceof TwsError && refusals.includes(error.code);
    // What cannot be removed lapses by itself; why the job was refused counts.
    if (isRefused) await giveBack(store, taken).catch(() => undefined);
    throw error;
  }
}

async function giveBack(
  store: Store,
  { lock, nonce }: { readonly lock: string; readonly nonce: string },
): Promise<void> {
  const now = await store.get(lock);
  if (now?.['nonce'] === nonce) await store.remove(lock, now._rev);
}

/** After these the job is known not to be stored. */
const refusals: readonly string[] = ['document_refused', 'id_taken', 'id_unfit'];

/** So long a submit waits between two looks at a job that is about to be stored, ms. */
const lookMs = 50;

type Reserving = Pick<UniqueSubmit, 'signal'> & {
  readonly store: Store;
  readonly copies: number;
};

/** `isShared`: another submit of the same id had it, whose job may be stored by now: it is not given back. */
type Reserved = { readonly answer: LockAnswer; readonly isShared: boolean };

/** Takes the lock, which is reserved for the job. A job that is about to be stored is waited for. */
async function reserve(
  { store, copies, signal }: Reserving,
  { job, unique, lock }: UniqueOrder,
  nonce: string,
): Promise<Reserved> {
  const { key } = uniqueRequest(lock, job, unique);
  const rule = ruleOf(unique);
  const owner = ownerOf(job);
  const until = performance.now() + reservedMs + lookMs;
  for (let isShared = false; ;) {
    const answer = await run(
      store,
      copies,
      takeUniqueLock({
        ...{ id: lock, nonce, owner, now: Date.now, chance: Math.random },
        ...{ job, rule, many: copies > 1, asks: false },
        next: (upon, after) => {
          const isOwn = upon !== undefined && isOf(upon, job);
          isShared ||= isOwn && upon['nonce'] !== nonce;
          const at = isOwn ? sinceOf(upon, Date.now()) : Date.now();
          const facts = { id: lock, key, owner, job: job._id, at, nonce, after };
          return uniqueLockOf({ ...facts, reserved: true }, rule);
        },
      }),
    );
    const mayWait = signal?.aborted !== true && performance.now() <= until;
    if (answer.kind !== 'contested' || !mayWait) return { answer, isShared };
    await sleep(lookMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Runs the protocol of a lock against the store. */
async function run<T>(store: Store, copies: number, protocol: Protocol<T>): Promise<T> {
  let step = protocol.next();
  while (step.done !== true) step = protocol.next(await perform(store, copies, step.value));
  return step.value;
}

async function perform(store: Store, copies: number, effect: Effect): Promise<EffectAnswer> {
  switch (effect.kind) {
    case 'write':
      return store.write(effect.doc);
    case 'look': {
      if (copies > 1) return winnerFirst(await store.leaves(effect.id, copies));
      const doc = await store.get(effect.id);
      return doc === undefined ? [] : [doc];
    }
    case 'rest':
      await sleep(effect.ms);
      return undefined;
    case 'abandon':
      return undefined;
  }
}
