import { describe, expect, it } from 'vitest';
import { isFinalState } from '../../src/model/job.js';
import type { LockAnswer } from '../../src/decide/world.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { UniqueRule } from '../../src/model/unique.js';
import { isOf, sinceOf } from '../../src/replicas/lock-holder.js';
import type { Effect, EffectAnswer, Protocol } from '../../src/replicas/resolve/protocol.js';
import { takeUniqueLock, uniqueLockOf } from '../../src/replicas/unique-lock.js';

const id = 'lock:x';

type Chance = () => number;

/**
 * Documents in memory; those who use them do one thing at a time. The lock has one copy, or three: a write
 * comes to some of them, and a reader sees the leaves of all and stores them in each.
 */
class Memory {
  readonly docs = new Map<string, StoredDocument>();
  /** The leaves of the lock in each copy, deleted ones as well, by revision. */
  readonly copies: Map<string, StoredDocument>[];
  now = 1_000_000;
  /** The largest number of leaves that a look has found. */
  mostLeaves = 0;
  readonly #parents = new Map<string, string>();
  #written = 0;

  constructor(
    copies: 1 | 3,
    private readonly chance: Chance,
  ) {
    this.copies = Array.from({ length: copies }, () => new Map<string, StoredDocument>());
  }

  get many(): boolean {
    return this.copies.length > 1;
  }

  perform(effect: Effect): EffectAnswer {
    if (effect.kind === 'look') {
      return effect.id === id ? this.#look() : [this.docs.get(effect.id) ?? []].flat();
    }
    if (effect.kind !== 'write') return undefined;
    const { doc } = effect;
    if (doc._id === id) return this.#writeLock(doc);
    if (this.docs.get(doc._id)?._rev !== doc._rev) return { kind: 'conflict' };
    const _rev = `${(this.#written += 1)}-x`;
    if (doc['_deleted'] === true) this.docs.delete(doc._id);
    else this.docs.set(doc._id, { ...doc, _rev });
    return { kind: 'written', rev: _rev };
  }

  #look(): readonly StoredDocument[] {
    const all = new Map(this.copies.flatMap((copy) => [...copy]));
    const leaves = [...all].filter(
      ([rev]) => ![...all.keys()].some((other) => this.#isBelow(rev, other)),
    );
    this.copies.forEach((_copy, i) => {
      this.copies[i] = new Map(leaves);
    });
    const live = leaves.flatMap(([, doc]) => (doc['_deleted'] === true ? [] : [doc]));
    this.mostLeaves = Math.max(this.mostLeaves, live.length);
    return live.toSorted((a, b) => Number.parseInt(b._rev, 10) - Number.parseInt(a._rev, 10));
  }

  #isBelow(rev: string, leaf: string): boolean {
    for (let next = this.#parents.get(leaf); next !== undefined; next = this.#parents.get(next)) {
      if (next === rev) return true;
    }
    return false;
  }

  #writeLock(doc: Record<string, unknown> & { readonly _rev?: string }): EffectAnswer {
    const one = Math.floor(this.chance() * this.copies.length);
    const reached = this.copies.filter(
      (copy, i) => (i === one || this.chance() < 0.6) && hasLeaf(copy, doc._rev),
    );
    if (reached.length === 0) return { kind: 'conflict' };
    const _rev = `${(this.#written += 1)}-x`;
    if (doc._rev !== undefined) this.#parents.set(_rev, doc._rev);
    for (const copy of reached) {
      if (doc._rev !== undefined) copy.delete(doc._rev);
      copy.set(_rev, { ...doc, _id: id, _rev });
    }
    return reached.length * 2 > this.copies.length
      ? { kind: 'written', rev: _rev }
      : { kind: 'unknown', cause: '202' };
  }

  jobs(): readonly StoredDocument[] {
    return [...this.docs.values()].filter(({ type }) => type === 'job');
  }

  /** The jobs that have begun and not ended. */
  running(): readonly StoredDocument[] {
    return this.jobs().filter(({ state }) => state !== undefined && !isFinalState(state));
  }
}

/** Whether a copy takes a write upon this revision; undefined: a new document, also where one was deleted. */
function hasLeaf(copy: ReadonlyMap<string, StoredDocument>, rev: string | undefined): boolean {
  const live = [...copy.values()].filter((doc) => doc['_deleted'] !== true);
  return rev === undefined ? live.length === 0 : live.some(({ _rev }) => _rev === rev);
}

type Actor<T = void> = Generator<Effect, T, EffectAnswer>;

let nonces = 0;

function taking(
  memory: Memory,
  {
    _id: job,
    _rev,
    rule,
  }: { readonly _id: string; readonly _rev?: string; readonly rule: UniqueRule },
  reserved: boolean,
): Protocol<LockAnswer> {
  const nonce = String((nonces += 1));
  return takeUniqueLock({
    ...{ id, nonce, owner: 'DEFAULT', many: memory.many, rule },
    job: { _id: job, ...(_rev === undefined ? {} : { _rev }) },
    ...{ asks: !reserved, now: () => memory.now, chance: () => 0.5 },
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

/** Submits a job as a client does. One that replaces waits for a job that is about to be stored. */
function* submitter(memory: Memory, job: string, replaces: boolean): Actor {
  const rule: UniqueRule = replaces ? { replace: true } : {};
  let answer = yield* taking(memory, { _id: job, rule }, true);
  while (replaces && answer.kind === 'contested') {
    yield { kind: 'rest', ms: 50 };
    answer = yield* taking(memory, { _id: job, rule }, true);
  }
  if (!['held', 'replacing'].includes(answer.kind) && !replaces) return;
  yield* write({ _id: job, type: 'job', rule });
}

/** Submits jobs that replace each other, one after the other. */
function* inOrder(memory: Memory): Actor {
  for (let i = 0; i < 4; i += 1) yield* submitter(memory, `j${i}`, true);
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
    yield* ended({ ...job, cancel: true, requests: [request._id] }, 'asked to cancel');
    yield* write({ _id: request._id, _rev: request._rev, _deleted: true });
  } else if (job['state'] !== undefined) {
    if (chance() < 0.2) yield* ended(job, 'done');
  } else {
    const rule = job['rule'] as UniqueRule;
    const answer = yield* taking(memory, { ...job, rule }, false);
    if (answer.kind === 'held') {
      yield* write({ ...job, state: '$$ready', locked: { unique: id } });
    } else if (answer.kind === 'taken' || answer.kind === 'replaced') {
      yield* ended(job, answer.kind);
    }
  }
}

/** Ends a job, and gives its lock back in a write of its own. */
function* ended(job: StoredDocument, because: string): Actor {
  if (!(yield* write({ ...job, state: '$$complete', because }))) return;
  const leaves = (yield { kind: 'look', id }) as readonly StoredDocument[];
  for (const { _rev, job: of, after } of leaves) {
    if (of === job._id && after === undefined) yield* write({ _id: id, _rev, _deleted: true });
  }
}

/** Numbers from 0 to 1 that follow from a seed (Mulberry32). */
function chanceOf(seed: number): Chance {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Runs submitters and engines in a random order; each of them may die before any of its effects. */
function race(seed: number, replacing: number, copies: 1 | 3): Memory {
  const chance = chanceOf(seed);
  const memory = new Memory(copies, chance);
  const answers = new Map<Actor, EffectAnswer>();
  const submitters =
    replacing === 1
      ? [inOrder(memory)]
      : Array.from({ length: 6 }, (_, i) =>
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
  for (let i = 0; i < 3_000 && (i < 200 || isOpen()); i += 1) {
    step(0);
    memory.now += 20;
  }
  return memory;
}

describe('the lock of a key', () => {
  it.each([1, 3] as const)(
    'U17, U18, U19, U20, U42, U43: has one job run at a time, whoever races and dies, and all come to an end (copies: %i)',
    (copies) => {
      const ends = new Set<unknown>();
      let mostLeaves = 0;
      for (let seed = 1; seed <= 200; seed += 1) {
        const memory = race(seed, [0, 0.6, 0, 1][seed % 4] ?? 0, copies);
        const open = memory.jobs().filter(({ state }) => !isFinalState(state));
        expect(open, `seed ${seed}`).toEqual([]);
        // A job of a submit that was answered is not refused afterwards, unless somebody replaces it.
        const refused = memory.jobs().filter(({ because }) => because === 'taken');
        for (const { because } of memory.jobs()) ends.add(because);
        if (seed % 2 === 0) expect(refused, `seed ${seed}`).toEqual([]);
        // Jobs are stored in their order: the last one is not replaced by one before it.
        if (seed % 4 === 3)
          expect(memory.jobs().at(-1)?.['because'] ?? 'done', `seed ${seed}`).toBe('done');
        mostLeaves = Math.max(mostLeaves, memory.mostLeaves);
      }
      expect([...ends].sort()).toEqual(['asked to cancel', 'done', 'replaced', 'taken']);
      expect(mostLeaves > 1).toBe(copies > 1);
    },
  );
});
