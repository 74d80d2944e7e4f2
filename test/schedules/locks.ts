import type { EffectAnswer } from '../../src/replicas/resolve/protocol.js';
import type { LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import type { Blocker, Blockers, LockAnswer } from '../../src/decide/world.js';
import type { LockRequest } from '../../src/decide/queries.js';
import { isMatch } from '../../src/engine/locks/blockers.js';
import { findHolder, isOf, sinceOf, type LockingJob } from '../../src/replicas/lock-holder.js';
import { takeReplicatedLock } from '../../src/replicas/lock.js';
import type { LockDocument } from '../../src/model/lock.js';
import type { Wish } from './process.js';

type Asking<T> = Generator<Wish, T, EffectAnswer>;

export type LocksParts = {
  readonly chance: () => number;
  /** Virtual, ms. */
  readonly now: () => number;
  /** False answers that every lock is held, and takes none. */
  readonly isTaking: boolean;
};

/** The locks of jobs, as documents of the same three nodes; see `src/engine/locks/locks.ts`. */
export class Locks {
  readonly #parts: LocksParts;
  #taken = 0;

  constructor(parts: LocksParts) {
    this.#parts = parts;
  }

  *take({ kind, id, key }: LockRequest, job: LockingJob): Asking<LockAnswer> {
    const { chance, now, isTaking } = this.#parts;
    if (!isTaking) return { kind: 'held' };
    this.#taken += 1;
    const nonce = `${this.#taken}`;
    return yield* takeReplicatedLock({
      ...{ id, nonce, now, chance, owner: 'DEFAULT' },
      isOwn: (leaf) => isOf(leaf, job),
      next: (upon): LockDocument => {
        const at = upon !== undefined && isOf(upon, job) ? sinceOf(upon, now()) : now();
        return { _id: id, type: 'lock', kind, key, job: job._id, at, nonce };
      },
    });
  }

  /** The other jobs that have not ended and whose patterns match a target. */
  *blockers(target: string, job: LockingJob): Asking<Blockers> {
    const locks = (yield { kind: 'list_locks' }) as readonly LeafRevision[];
    const patterns = locks.filter(({ kind }) => kind === 'pattern');
    const own = patterns.find((lock) => lock['job'] === job._id);
    const all: Blocker[] = [];
    for (const lock of patterns) {
      if (isOf(lock, job) || !isMatch(String(lock['key']), target)) continue;
      const holder = yield* lockHolderOf(lock);
      if (holder !== undefined) all.push({ ...holder, at: sinceOf(lock, 0) });
    }
    return { kind: 'known', ...(own === undefined ? {} : { own: sinceOf(own, 0) }), all };
  }
}

function* lockHolderOf(lock: LeafRevision): Asking<Pick<Blocker, 'job' | 'decided'> | undefined> {
  const search = findHolder(lock);
  let step = search.next();
  while (step.done !== true) {
    step = search.next((yield { kind: 'get', id: step.value }) as readonly LeafRevision[]);
  }
  return step.value;
}
