import { describe, expect, it } from 'vitest';
import { runProtocol } from '../../src/replicas/replicas.js';
import { createLocks, type Locks } from '../../src/engine/locks/locks.js';
import { lockIdOf } from '../../src/lock-id.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { WriteResult } from '../../src/store/batch.js';
import type { Store } from '../../src/store/store.js';
import type { NewDocument } from '../../src/store/writer.js';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const id = lockIdOf('x');
const wish = { kind: 'target', id, key: 'x' } as const;
const held = { kind: 'held' };

/** Each copy has one revision at the most; a reader sees all of them, the highest first. */
class ThreeCopies {
  readonly copies: (StoredDocument | undefined)[] = [undefined, undefined, undefined];
  readonly jobs = new Map<string, StoredDocument>();
  readonly leavesOfJobs = new Map<string, readonly StoredDocument[]>();
  readonly #parents = new Map<string, string>();
  #written = 0;

  /** A store whose n-th write of the lock comes to the n-th of these copies first. */
  store(...reaches: readonly (readonly number[])[]): Store {
    const left = [...reaches];
    const store: Pick<Store, 'get' | 'getMany' | 'leaves' | 'write' | 'remove'> = {
      getMany: async (ids) =>
        new Map(
          ids.flatMap((one) =>
            (one === id ? this.leaves() : [this.jobs.get(one) ?? []].flat()).map((doc) => [
              doc._id,
              doc,
            ]),
          ),
        ),
      get: async (one) => (one === id ? this.leaves()[0] : this.jobs.get(one)),
      leaves: async (one) => {
        if (one !== id) return this.leavesOfJobs.get(one) ?? [this.jobs.get(one) ?? []].flat();
        const leaves = this.leaves();
        // A reader repairs the copies that have nothing, or what another was written upon.
        for (const i of [0, 1, 2]) {
          const behind = this.copies[i];
          const next = leaves.find(({ _rev }) => this.#isBelow(behind?._rev, _rev));
          if (behind === undefined || next !== undefined) this.copies[i] = next ?? leaves[0];
        }
        return leaves;
      },
      write: async (doc) => this.#write(doc, left.shift() ?? [0, 1, 2]),
      remove: async (_id, _rev) => this.#write({ _id, _rev, _deleted: true }, [0, 1, 2]),
    };
    return store as Store;
  }

  leaves(): readonly StoredDocument[] {
    const byRev = new Map(this.copies.flatMap((doc) => (doc ? [[doc._rev, doc]] : [])));
    const all = [...byRev.values()];
    const isLeaf = ({ _rev }: StoredDocument): boolean =>
      !all.some((other) => this.#isBelow(_rev, other._rev));
    return all.filter(isLeaf).toSorted((a, b) => (a._rev < b._rev ? 1 : -1));
  }

  #isBelow(rev: string | undefined, leaf: string): boolean {
    for (let next = this.#parents.get(leaf); next !== undefined; next = this.#parents.get(next)) {
      if (next === rev) return true;
    }
    return false;
  }

  #write(doc: NewDocument, reached: readonly number[]): WriteResult {
    this.#written += 1;
    const _rev = `${Number.parseInt(String(doc['_rev'] ?? '0'), 10) + 1}-${this.#written}`;
    if (doc['_rev'] !== undefined) this.#parents.set(_rev, String(doc['_rev']));
    const taking = reached.filter((i) => this.copies[i]?._rev === doc['_rev']);
    if (taking.length === 0) return { kind: 'conflict' };
    const next = doc['_deleted'] === true ? undefined : { ...doc, _id: id, _rev };
    for (const i of taking) this.copies[i] = next;
    const isQuorum = taking.length > 1 || next === undefined;
    return isQuorum ? { kind: 'written', rev: _rev } : { kind: 'unknown', cause: '202' };
  }
}

function database(...jobs: readonly string[]): ThreeCopies {
  const all = new ThreeCopies();
  for (const _id of jobs) all.jobs.set(_id, { _id, _rev: '1-x', type: 'job' });
  return all;
}

function locksOn(store: Store, retry: (ask: () => unknown) => unknown = (ask) => ask()): Locks {
  const shared = {
    ...{ store, life: new AbortController().signal, log: silent, copies: () => 3 },
    retry: retry as Parameters<typeof createLocks>[0]['retry'],
  };
  const once = { said: new Map(), log: () => undefined, stored: () => undefined };
  const ports = { ...shared, once, giveUp: async () => [], patienceMs: Infinity };
  const now = () => 5;
  return createLocks({
    ...{
      ...shared,
      now,
      queues: {
        place: () => {},
        before: () => [],
        heldBack: () => {},
        isEarlier: () => false,
        saw: () => {},
      },
      remind: () => {},
      run: (protocol) => runProtocol(protocol, ports),
    },
  });
}

const lock = (job: string, rev: string, nonce = job): StoredDocument => ({
  ...{ _id: id, _rev: rev, type: 'lock', kind: 'target', key: 'x', job, at: 1, nonce },
});

describe('a lock of which there are several copies', () => {
  it('is held when a quorum has it and nothing else is there', async () => {
    const all = database('a');
    expect(await locksOn(all.store()).take(wish, { _id: 'a', _rev: '1-x' })).toEqual(held);
    expect(all.leaves()).toMatchObject([{ job: 'a', _rev: '1-1' }]);
  });

  it('U4: is held by one of two jobs of which each was told that its lock is stored', async () => {
    const all = database('a', 'b');
    const a = locksOn(all.store([0, 1]));
    const b = locksOn(all.store([2]));
    const answers = await Promise.all([
      a.take(wish, { _id: 'a', _rev: '1-x' }),
      b.take(wish, { _id: 'b', _rev: '1-x' }),
    ]);
    expect(answers).toEqual([held, { kind: 'contested', by: 'a' }]);
    expect(all.leaves()).toMatchObject([{ job: 'a' }]);
  });

  it('is held by one of three jobs of which none has a majority', async () => {
    const all = database('a', 'b', 'c');
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((_id, i) => locksOn(all.store([i])).take(wish, { _id, _rev: '1-x' })),
    );
    expect(answers.filter(({ kind }) => kind === 'held')).toHaveLength(1);
    expect(all.leaves()).toHaveLength(1);
  });

  it('is written again when only one copy has taken it', async () => {
    const all = database('a');
    const locks = locksOn(all.store([0], [0]));
    expect(await locks.take(wish, { _id: 'a', _rev: '1-x' })).toEqual(held);
    expect(all.leaves()[0]).toMatchObject({ job: 'a', at: 1 + 4 });
  });

  it('is given back only when the job is final on all copies', async () => {
    const all = database('a');
    const ended = { _id: 'a', _rev: '3-b', state: '$$complete', locked: { target: id } };
    const live = { _id: 'a', _rev: '3-a', state: 'x-0', locked: { target: id } };
    all.jobs.set('a', ended);
    const locks = locksOn(all.store());
    expect(await locks.take(wish, { _id: 'a', _rev: '1-x' })).toEqual(held);
    all.leavesOfJobs.set('a', [ended, live]);
    await locks.release(ended);
    expect(all.leaves()).toHaveLength(1);
    all.leavesOfJobs.set('a', [ended]);
    locks.adopt(ended);
    await locks.release(ended);
    expect(all.leaves()).toEqual([]);
  });

  it('is taken over from jobs that have ended, with all their revisions', async () => {
    const all = database('a');
    all.copies.splice(0, 3, lock('gone', '2-x'), lock('gone', '2-x'), lock('none', '1-y'));
    const store = all.store([0, 1, 2]);
    const alone = await locksOn(store).take(wish, { _id: 'a', _rev: '1-x' });
    expect(alone).toEqual(held);
    expect(new Set(all.leaves().map(({ job }) => job))).toEqual(new Set(['a']));
  });

  const begun = { state: 'x-0', locked: { target: id } };
  it.each([
    ['refused at once, since the other has begun', begun, 'taken'],
    ['asked for again, since the other has not begun', {}, 'contested'],
  ])('of another job is %s', async (_title, more, kind) => {
    const all = database('a', 'b');
    all.jobs.set('b', { _id: 'b', _rev: '1-x', type: 'job', ...more });
    all.copies.splice(0, 3, lock('b', '1-y'), lock('b', '1-y'), undefined);
    const answer = await locksOn(all.store()).take(wish, { _id: 'a', _rev: '1-x' });
    expect(answer).toEqual({ kind, by: 'b' });
  });

  it('U8: of a job that does not begin is refused in the end', async () => {
    const all = database('a', 'b');
    const old = { ...lock('b', '1-y'), at: -60_000 };
    all.copies.splice(0, 3, old, old, old);
    const ask = { _id: 'a', _rev: '1-x' };
    expect(await locksOn(all.store()).take(wish, ask)).toEqual({ kind: 'taken', by: 'b' });
    // Its own lock wins: the other job is refused.
    all.copies.splice(2, 1, lock('a', '1-z', 'other'));
    expect(await locksOn(all.store()).take(wish, ask)).toEqual({ kind: 'contested', by: 'b' });
  });

  it("is the job's own when it goes on in one leaf, although it has ended in another", async () => {
    const all = database('a', 'b');
    const ended = { _id: 'b', _rev: '2-b', type: 'job', state: '$$complete' };
    all.leavesOfJobs.set('b', [ended, { _id: 'b', _rev: '2-a', type: 'job', ...begun }]);
    all.copies.fill(lock('b', '1-y'));
    const answer = await locksOn(all.store()).take(wish, { _id: 'a', _rev: '1-x' });
    expect(answer).toEqual({ kind: 'taken', by: 'b' });
  });

  it.each([
    ['wins', '1-y', '1-x'],
    ['loses', '1-x', '1-y'],
  ])(
    'stays when another engine wrote it for the same job, also when it %s',
    async (_t, own, other) => {
      const all = database('a', 'b');
      const [mine, rival] = [lock('a', own, 'other'), lock('b', other)];
      all.copies.splice(0, 3, mine, mine, rival);
      const answer = await locksOn(all.store()).take(wish, { _id: 'a', _rev: '1-x' });
      expect(answer).toEqual({ kind: 'contested', by: 'b' });
      expect(all.leaves().toSorted((a) => (a._rev === own ? -1 : 1))).toEqual([mine, rival]);
    },
  );

  it('U5: is held beside what another engine wrote for the same job', async () => {
    const all = database('a');
    all.copies.splice(2, 1, lock('a', '1-z', 'other'));
    const answer = await locksOn(all.store([0, 1])).take(wish, { _id: 'a', _rev: '1-x' });
    expect(answer).toEqual(held);
  });

  it('is not known while the engine ends', async () => {
    const all = database('a', 'b');
    const ask = { _id: 'a', _rev: '1-x' };
    expect(await locksOn(all.store(), () => undefined).take(wish, ask)).toEqual({
      kind: 'unknown',
    });
    all.copies.fill(lock('b', '1-y'));
    let asked = 0;
    const once = (get: () => unknown): unknown => ((asked += 1) > 1 ? undefined : get());
    expect(await locksOn(all.store(), once).take(wish, ask)).toEqual({ kind: 'unknown' });
  });

  it('that the database refuses is told with its reason', async () => {
    const store = {
      ...database('a').store(),
      write: async () => ({ kind: 'refused', reason: 'no' }) as const,
    };
    expect(await locksOn(store).take(wish, { _id: 'a', _rev: '1-x' })).toMatchObject({
      kind: 'refused',
    });
  });
});
