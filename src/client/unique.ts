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

/**
 * Stores a job whose key must be unique: first the lock, which is reserved for it, then the job (U17). With
 * `replace` the job is stored whoever has the key: the engine that begins it asks the other one to cancel.
 * @throws TwsError `not_unique`, and what `store` throws
 */
export async function submitUnique(
  store: Store,
  { job, unique, lock }: UniqueOrder,
  write: () => Promise<Answered>,
): Promise<Answered> {
  const nonce = randomUUID();
  const answer = await reserve(store, { job, unique, lock }, nonce);
  switch (answer.kind) {
    case 'held':
      return written(store, { lock, nonce }, write);
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
    case 'replacing':
    case 'invalid':
      // The engine that begins the job applies the rule.
      return write();
  }
}

/** A job that is refused gives its key back. What is not known to be stored may have it. */
async function written(
  store: Store,
  { lock, nonce }: { readonly lock: string; readonly nonce: string },
  write: () => Promise<Answered>,
): Promise<Answered> {
  try {
    return await write();
  } catch (error) {
    const isRefused = error instanceof TwsError && refusals.includes(error.code);
    const now = isRefused ? await store.get(lock) : undefined;
    if (now?.['nonce'] === nonce) await store.remove(lock, now._rev);
    throw error;
  }
}

/** After these the job is known not to be stored. */
const refusals: readonly string[] = ['document_refused', 'id_taken', 'id_unfit'];

/** So long a submit waits between two looks at a job that is about to be stored, ms. */
const lookMs = 50;

/** Takes the lock, which is reserved for the job. A job that is about to be stored is waited for. */
async function reserve(
  store: Store,
  { job, unique, lock }: UniqueOrder,
  nonce: string,
): Promise<LockAnswer> {
  const { copies } = await store.info();
  const { key } = uniqueRequest(lock, job, unique);
  const { replace: _replace, ...rule } = ruleOf(unique);
  const owner = ownerOf(job);
  const until = performance.now() + reservedMs + lookMs;
  for (;;) {
    const answer = await run(
      store,
      copies,
      takeUniqueLock({
        ...{ id: lock, nonce, owner, now: Date.now, chance: Math.random },
        ...{ job, rule, many: copies > 1 },
        next: (upon, after) => {
          const isOwn = upon !== undefined && isOf(upon, job);
          const at = isOwn ? sinceOf(upon, Date.now()) : Date.now();
          const facts = { id: lock, key, owner, job: job._id, at, nonce, after };
          return uniqueLockOf({ ...facts, reserved: true }, rule);
        },
      }),
    );
    if (answer.kind !== 'contested' || performance.now() > until) return answer;
    await sleep(lookMs);
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
