import type { Answer as StoreAnswer } from '../../src/decide/copies/protocol.js';
import type { Tip } from '../../src/decide/copies/tips.js';
import type { Blocker, Blockers, LockAnswer, LockWish } from '../../src/decide/intent.js';
import { isMatch } from '../../src/engine/blockers.js';
import { isOf, listedIn, type Claimant } from '../../src/engine/lock-holder.js';
import { isFinalState } from '../../src/model/parse.js';
import type { Wish } from './process.js';

type Asking<T> = Generator<Wish, T, StoreAnswer>;
type Lock = LockWish & { readonly job: string; readonly at: number };
type Holder = { readonly job: string; readonly decided: boolean };

/** An answer takes up to so long, ms: the engine may stand still or die before it comes. */
const slownessMs = 50;

/**
 * The documents of locks, of which each write is exact, and what `src/engine/locks.ts` does with them:
 * a lock is worth what its job is, as far as an ordinary read tells.
 */
export class Locks {
  readonly #locks = new Map<string, Lock>();
  readonly #chance: () => number;
  readonly #isTaking: boolean;

  /** `isTaking`: false answers that every lock is held, and takes none. */
  constructor(chance: () => number, isTaking: boolean) {
    this.#chance = chance;
    this.#isTaking = isTaking;
  }

  *take(wish: LockWish, job: Claimant, now: () => number): Asking<LockAnswer> {
    if (!this.#isTaking) return { kind: 'held' };
    for (;;) {
      const there = this.#locks.get(wish.id);
      const isOwn = there === undefined || isOf(there, job);
      const holder = isOwn ? undefined : yield* holderOf(there);
      // Somebody else may have taken it meanwhile.
      if (this.#locks.get(wish.id) !== there) continue;
      if (holder !== undefined) return { kind: 'taken', by: holder.job };
      const at = there !== undefined && isOwn ? there.at : now();
      this.#locks.set(wish.id, { ...wish, job: job._id, at });
      yield { kind: 'rest', ms: this.#chance() * slownessMs };
      return { kind: 'held' };
    }
  }

  /** The other jobs that have not ended and whose patterns match a target. */
  *blockers(target: string, job: Claimant): Asking<Blockers> {
    const patterns = [...this.#locks.values()].filter(({ kind }) => kind === 'pattern');
    yield { kind: 'rest', ms: this.#chance() * slownessMs };
    const own = patterns.find((lock) => lock.job === job._id)?.at;
    const all: Blocker[] = [];
    for (const lock of patterns) {
      if (isOf(lock, job) || !isMatch(lock.key, target)) continue;
      const holder = yield* holderOf(lock);
      if (holder !== undefined) all.push({ ...holder, at: lock.at });
    }
    return { kind: 'known', ...(own === undefined ? {} : { own }), all };
  }
}

/** The job that has a lock now: its own, or the one that goes on as that. */
function* holderOf(lock: Lock): Asking<Holder | undefined> {
  for (let next: unknown = lock.job; typeof next === 'string';) {
    const [job] = (yield { kind: 'get', id: next }) as readonly Tip[];
    if (job === undefined) return undefined;
    const isListed = listedIn(job).includes(lock.id);
    if (!isFinalState(job['state'])) {
      const decided = job['state'] !== undefined && job['relock'] !== true;
      return !decided || isListed ? { job: job._id, decided } : undefined;
    }
    next = isListed ? job['continued_to'] : undefined;
  }
  return undefined;
}
