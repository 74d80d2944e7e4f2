import { describe, expect, it } from 'vitest';
import { isFinalState } from '../../src/model/job.js';
import type { LockAnswer } from '../../src/decide/world.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { UniqueRule } from '../../src/model/unique.js';
import { isOf, sinceOf } from '../../src/replicas/lock-holder.js';
import type { Effect, EffectAnswer, Protocol } from '../../src/replicas/resolve/protocol.js';
import { takeUniqueLock, uniqueLockOf } from '../../src/replicas/unique-lock.js';

const id = 'lock:x';

/** Documents in memory, each with one copy. Whoever uses them does one thing at a time. */
class Memory {
  readonly docs = new Map<string, StoredDocument>();
  now = 1_000_000;
  #written = 0;

  perform(effect: Effect): EffectAnswer {
    if (effect.kind === 'look') return [this.docs.get(effect.id) ?? []].flat();
    if (effect.kind !== 'write') return undefined;
    const { doc } = effect;
    if (this.docs.get(doc._id)?._rev !== doc._rev) return { kind: 'conflict' };
    const _rev = `${(this.#written += 1)}-x`;
    if (doc['_deleted'] === true) this.docs.delete(doc._id);
    else this.docs.set(doc._id, { ...doc, _rev });
    return { kind: 'written', rev: _rev };
  }

  jobs(): readonly StoredDocument[] {
    return [...this.docs.values()].filter(({ type }) => type === 'job');
  }

  /** The jobs that have begun and not ended. */
  running(): readonly StoredDocument[] {
    return this.jobs().filter(({ state }) => state !== undefined && !isFinalState(state));
  }
}

type Actor<T = void> = Generator<Effect, T, EffectAnswer>;
type Chance = () => number;

let nonces = 0;

function taking(
  memory: Memory,
  { _id: job, rule }: { readonly _id: string; readonly rule: UniqueRule },
  reserved: boolean,
): Protocol<LockAnswer> {
  const nonce = String((nonces += 1));
  return takeUniqueLock({
    ...{ id, nonce, owner: 'DEFAULT', many: false, rule, job: { _id: job } },
    ...{ now: () => memory.now, chance: () => 0.5 },
    next: (upon, after) => {
      const isOwn = upon !== undefined && isOf(upon, { _id: job });
      const at = isOwn ? sinceOf(upon, memory.now) : memory.now;
      const facts = { id, key: 'f', owner: 'DEFAULT', job, at, nonce, after };
      return uniqueLockOf({ ...facts, ...(reserved ? { reserved: true as const } : {}) }, rule);
    },
  });
}

function* write(doc: Record<string, unknown> & { readonly _id: string }): Actor<boolean> {
  const answer = (yield { kind: 'write', doc }) as { readonly kind: string };
  return answer.kind === 'written';
}

/** Submits a job as a client does. */
function* submitter(memory: Memory, job: string, replaces: boolean): Actor {
  const answer = yield* taking(memory, { _id: job, rule: {} }, true);
  if (answer.kind !== 'held' && !replaces) return;
  yield* write({ _id: job, type: 'job', rule: replaces ? { replace: true } : {} });
}

/** Stores a job by PUT: nobody has looked whether its key is free. */
function* put(job: string): Actor {
  yield* write({ _id: job, type: 'job', rule: {} });
}

/** Looks after one job after the other, as an engine does. */
function* engine(memory: Memory, chance: Chance): Actor {
  for (;;) {
    yield { kind: 'rest', ms: 1 };
    const open = memory.jobs().filter(({ state }) => !isFinalState(state));
    const job = open[Math.floor(chance() * open.length)];
    if (job !== undefined) yield* lookAfter(memory, job, chance);
  }
}

function* lookAfter(memory: Memory, job: StoredDocument, chance: Chance): Actor {
  const request = [...memory.docs.values()].find(
    ({ type, job: of }) => type === 'request' && of === job._id,
  );
  if (request !== undefined) {
    yield* ended(memory, { ...job, cancel: true, requests: [request._id] }, 'asked to cancel');
    yield* write({ _id: request._id, _rev: request._rev, _deleted: true });
  } else if (job['state'] !== undefined) {
    if (chance() < 0.2) yield* ended(memory, job, 'done');
  } else {
    const rule = job['rule'] as UniqueRule;
    const answer = yield* taking(memory, { _id: job._id, rule }, false);
    if (answer.kind === 'held') {
      yield* write({ ...job, state: '$$ready', locked: { unique: id } });
    } else if (answer.kind === 'taken' || answer.kind === 'replaced') {
      yield* ended(memory, job, answer.kind);
    }
  }
}

/** Ends a job, and gives its lock back in a write of its own. */
function* ended(memory: Memory, job: StoredDocument, because: string): Actor {
  if (!(yield* write({ ...job, state: '$$complete', because }))) return;
  const lock = memory.docs.get(id);
  if (lock === undefined || lock['job'] !== job._id || lock['after'] !== undefined) return;
  yield* write({ _id: id, _rev: lock._rev, _deleted: true });
}

/** Numbers from 0 to 1 that follow from a seed. */
function chanceOf(seed: number): Chance {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 4_294_967_296;
  };
}

/** Runs submitters and engines in a random order; each of them may die before any of its effects. */
function race(seed: number, replacing: number): Memory {
  const memory = new Memory();
  const chance = chanceOf(seed);
  const answers = new Map<Actor, EffectAnswer>();
  const submitters = Array.from({ length: 6 }, (_, i) =>
    replacing > 0 && i > 3 ? put(`j${i}`) : submitter(memory, `j${i}`, chance() < replacing),
  );
  const actors: Actor[] = [...submitters, ...[1, 2, 3].map(() => engine(memory, chance))];
  const step = (deaths: number): void => {
    const at = Math.floor(chance() * actors.length);
    const actor = actors[at];
    if (actor === undefined) return;
    const isEngine = !submitters.includes(actor);
    if (chance() < deaths) {
      if (isEngine) actors[at] = engine(memory, chance);
      else actors.splice(at, 1);
      return;
    }
    const { done, value } = actor.next(answers.get(actor));
    if (done === true) actors.splice(at, 1);
    else answers.set(actor, memory.perform(value));
    if (memory.running().length > 1) throw new Error(`Two jobs run with seed ${seed}.`);
  };
  for (let i = 0; i < 300; i += 1) step(0.03);
  memory.now += 60_000;
  const isOpen = (): boolean => memory.jobs().some(({ state }) => !isFinalState(state));
  for (let i = 0; i < 3_000 && (i < 200 || isOpen()); i += 1) step(0);
  return memory;
}

describe('the lock of a key', () => {
  it('U17, U18, U19, U20: has one job run at a time, whoever races and dies, and all come to an end', () => {
    const ends = new Set<unknown>();
    for (let seed = 1; seed <= 200; seed += 1) {
      const memory = race(seed, seed % 2 === 0 ? 0 : 0.6);
      const open = memory.jobs().filter(({ state }) => !isFinalState(state));
      expect(open, `seed ${seed}`).toEqual([]);
      // A job of a submit that was answered is not refused afterwards, unless somebody replaces it.
      const refused = memory.jobs().filter(({ because }) => because === 'taken');
      for (const { because } of memory.jobs()) ends.add(because);
      if (seed % 2 === 0) expect(refused, `seed ${seed}`).toEqual([]);
    }
    expect([...ends].sort()).toEqual(['asked to cancel', 'done', 'replaced', 'taken']);
  });
});
