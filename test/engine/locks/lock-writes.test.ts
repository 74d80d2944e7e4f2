import { describe, expect, it } from 'vitest';
import type { LockAnswer } from '../../../src/decide/world.js';
import { createLocks, type Locks } from '../../../src/engine/locks/locks.js';
import { lockIdOf } from '../../../src/lock-id.js';
import { createRetry } from '../../../src/engine/retry.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { WriteResult } from '../../../src/store/batch.js';
import type { Store } from '../../../src/store/store.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const id = lockIdOf('x');
const wish = { kind: 'target', id, key: 'x' } as const;
const held: LockAnswer = { kind: 'held' };
const final = { state: '$$complete', exit: 0, steps: [] };
const job = (_id: string, more: Record<string, unknown> = {}) => ({
  _id,
  type: 'job',
  flow: 'f',
  ...more,
});

function locksOn(store: Store, signal = new AbortController().signal): Locks {
  const retry = createRetry({ signal, report: () => undefined });
  return createLocks({
    queues: {
      place: () => {},
      before: () => [],
      heldBack: () => {},
      isEarlier: () => false,
      saw: () => {},
    },
    remind: () => {},
    ...{ store, retry, log: silent, life: signal },
    now: () => Date.now(),
    copies: () => 1,
    // Of one copy, the lock of a key is taken so, and no other.
    run: async (protocol) => {
      let step = protocol.next();
      while (step.done !== true) {
        const effect = step.value;
        if (effect.kind === 'write') step = protocol.next(await store.write(effect.doc));
        else if (effect.kind === 'look') {
          step = protocol.next([(await store.get(effect.id)) ?? []].flat());
        } else throw new Error('There is one copy.');
      }
      return step.value;
    },
  });
}

/** Releases the locks of a job as an engine does that has ended it. */
async function releaseOn(store: Store, ended: StoredDocument): Promise<void> {
  const locks = locksOn(store);
  locks.adopt(ended);
  await locks.release(ended);
}

/** The store, but its first writes of locks go as `how` says and are answered with `unknown`. */
function doubtful(store: Store, ...how: readonly ('stored' | 'lost')[]): Store {
  const left = [...how];
  const unknown: WriteResult = { kind: 'unknown', cause: 'of the test' };
  return {
    ...store,
    write: async (doc) => {
      const fate = left.shift();
      if (fate === undefined) return store.write(doc);
      if (fate === 'stored') await store.write(doc);
      return unknown;
    },
  };
}

async function lockOf({ store }: Workspace): Promise<unknown> {
  return (await store.get(id))?.['job'];
}

describe('a lock', () => {
  it('U1: is taken by one of many jobs that want it at the same moment', async () => {
    const space = await openWorkspace();
    const ids = Array.from({ length: 20 }, (_, i) => `j${i}`);
    await space.put(...ids.map((one) => job(one)));
    const answers = await Promise.all(
      ids.map((one) => locksOn(space.store).take(wish, { _id: one, _rev: '1-x' })),
    );
    const winner = String(await lockOf(space));
    answers.forEach((answer, i) => {
      expect(answer).toEqual(ids[i] === winner ? held : { kind: 'taken', by: winner });
    });
  });

  it('U2: of a job that is gone is taken over by one of many', async () => {
    const space = await openWorkspace();
    const ids = Array.from({ length: 20 }, (_, i) => `j${i}`);
    await space.put(...ids.map((one) => job(one)));
    await locksOn(space.store).take(wish, { _id: 'gone', _rev: '1-x' });
    const answers = await Promise.all(
      ids.map((one) => locksOn(space.store).take(wish, { _id: one, _rev: '1-x' })),
    );
    expect(answers.filter(({ kind }) => kind === 'held')).toHaveLength(1);
    expect(answers[ids.indexOf(String(await lockOf(space)))]).toEqual(held);
  });

  it('is held by a job for whichever engine asks', async () => {
    const space = await openWorkspace();
    await space.put(job('a'), job('b'));
    const asking = Array.from({ length: 5 }, () =>
      locksOn(space.store).take(wish, { _id: 'a', _rev: '1-x' }),
    );
    expect(await Promise.all(asking)).toEqual(asking.map(() => held));
    const other = await locksOn(space.store).take(wish, { _id: 'b', _rev: '1-x' });
    expect(other).toEqual({ kind: 'taken', by: 'a' });
  });

  it.each([
    ['stored', ['stored']],
    ['lost', ['lost', 'lost', 'stored']],
  ] as const)(
    'is read back when it is not known whether it was stored: %s',
    async (_title, how) => {
      const space = await openWorkspace();
      await space.put(job('a'), job('b'));
      const locks = locksOn(doubtful(space.store, ...how));
      expect(await locks.take(wish, { _id: 'a', _rev: '1-x' })).toEqual(held);
      expect(await lockOf(space)).toBe('a');
      const late = locksOn(doubtful(space.store, ...how));
      expect(await late.take(wish, { _id: 'b', _rev: '1-x' })).toEqual({ kind: 'taken', by: 'a' });
    },
  );

  it('is taken once for each revision of the job, however often it is asked for', async () => {
    const space = await openWorkspace();
    await space.put(job('a'));
    const locks = locksOn(space.store);
    const revisions: unknown[] = [];
    for (const _rev of ['1-x', '1-x', '2-x', '2-x']) {
      expect(await locks.take(wish, { _id: 'a', _rev })).toEqual(held);
      revisions.push((await space.store.get(id))?._rev.split('-')[0]);
    }
    expect(revisions).toEqual(['1', '1', '2', '2']);
    expect(await locks.take(wish, { _id: 'b', _rev: '1-x' })).toEqual({ kind: 'taken', by: 'a' });
  });

  it('of a key is taken anew each time: it may be taken over from a job that has not begun', async () => {
    const space = await openWorkspace();
    await space.put(job('a'));
    const locks = locksOn(space.store);
    const unique = { kind: 'unique', id, key: 'x', unique: {} } as const;
    const own = { _id: 'a', _rev: '1-x' };
    expect(await locks.take(unique, own)).toEqual(held);
    const stored = await space.store.get(id);
    await space.put(job('b'));
    await space.store.write({ ...stored, _id: id, job: 'b' });
    expect(await locks.take(unique, own)).toEqual({ kind: 'taken', by: 'b' });
  });

  it('is not known while the engine ends', async () => {
    const space = await openWorkspace();
    const ending = AbortSignal.abort();
    const locks = locksOn(doubtful(space.store, 'lost'), ending);
    expect(await locks.take(wish, { _id: 'a', _rev: '1-x' })).toEqual({ kind: 'unknown' });
    expect(await locks.blockers('x', { _id: 'a', _rev: '1-x' })).toEqual({ kind: 'unknown' });
    await locksOn(space.store).take(wish, { _id: 'gone', _rev: '1-x' });
    let reads = 0;
    const once = new AbortController();
    const store: Store = {
      ...space.store,
      get: async (one) => {
        reads += 1;
        if (reads === 1) return space.store.get(one);
        queueMicrotask(() => once.abort());
        return new Promise(() => undefined);
      },
    };
    expect(await locksOn(store, once.signal).take(wish, { _id: 'a', _rev: '1-x' })).toEqual({
      kind: 'unknown',
    });
  });

  it('that the database refuses is told with its reason', async () => {
    const space = await openWorkspace({}, undefined, true);
    const answer = await locksOn(space.store).take(
      { ...wish, id: 'no-lock' },
      { _id: 'a', _rev: '1-x' },
    );
    expect(answer).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/lock:/) as string,
    });
  });

  it.each([
    ['new', {}, 'holder'],
    ['begun with it', { state: '$$ready', steps: [], locked: { target: id } }, 'holder'],
    ['about to take it again', { state: 'a-0', steps: [], relock: true }, 'holder'],
    ['begun without it', { state: '$$ready', steps: [], locked: { target: 'lock:other' } }, ''],
    ['final', { state: '$$complete', exit: 0, steps: [], locked: { target: id } }, ''],
    ['gone on as another one', { ...final, continued_to: 'heir', locked: { target: id } }, 'heir'],
    ['gone on without it', { ...final, continued_to: 'heir' }, ''],
    ['gone on as one that is gone', { ...final, continued_to: 'none', locked: [id] }, ''],
    ['gone on as itself', { ...final, continued_to: 'holder', locked: [id] }, ''],
    ['no job', { type: 'note' }, ''],
  ])('of a job that is %s is judged by it', async (_title, more, by) => {
    const space = await openWorkspace();
    await space.put(job('holder'), job('heir'), job('a'));
    await locksOn(space.store).take(wish, { _id: 'holder', _rev: '1-x' });
    const before = (await space.store.get('holder')) as StoredDocument;
    await space.store.remove('holder', before._rev);
    await space.put(job('holder', more));
    const answer = await locksOn(space.store).take(wish, { _id: 'a', _rev: '1-x' });
    expect(answer).toEqual(by === '' ? held : { kind: 'taken', by });
  });
});

describe('a lock that is released', () => {
  it('U3: stays when its job was taken up again meanwhile', async () => {
    const space = await openWorkspace();
    const ended = { ...final, locked: { target: id } };
    await space.put(job('a', ended));
    const locks = locksOn(space.store);
    await locks.take(wish, { _id: 'a', _rev: '1-x' });
    const stored = (await space.store.get('a')) as StoredDocument;
    // The job goes on and takes its lock again, between the look at the job and the removal.
    const slow: Store = {
      ...space.store,
      getMany: async (ids) => {
        const before = await space.store.getMany(ids);
        if (ids.includes('a')) await locksOn(space.store).take(wish, { _id: 'a', _rev: '1-x' });
        return before;
      },
    };
    await releaseOn(slow, stored);
    expect(await lockOf(space)).toBe('a');
    await releaseOn(space.store, stored);
    expect(await lockOf(space)).toBeUndefined();
  });

  it('stays while its job goes on', async () => {
    const space = await openWorkspace();
    await space.put(job('a'));
    const locks = locksOn(space.store);
    await locks.take(wish, { _id: 'a', _rev: '1-x' });
    const was = { ...job('a', { ...final, locked: { target: id } }), _rev: '9-x' };
    locks.adopt(was);
    await locks.release(was);
    expect(await lockOf(space)).toBe('a');
  });

  it.each([
    ['is of another job by now', { ...final, locked: { target: id } }],
    ['goes on to another job', { ...final, locked: { target: id }, continued_to: 'b' }],
    ['is none', { ...final, locked: 7 }],
  ])('stays when it %s', async (_title, more) => {
    const space = await openWorkspace();
    await space.put(job('a', final), job('b'));
    await locksOn(space.store).take(wish, { _id: 'b', _rev: '1-x' });
    await releaseOn(space.store, { ...job('a', more), _rev: '1-x' });
    expect(await lockOf(space)).toBe('b');
  });

  it('is the one that this engine took in vain, when the job has ended elsewhere', async () => {
    const space = await openWorkspace();
    await space.put(job('a', final));
    const [vain, other] = [locksOn(space.store), locksOn(space.store)];
    await vain.take(wish, { _id: 'a', _rev: '1-x' });
    const stored = (await space.store.get('a')) as StoredDocument;
    await other.release(stored);
    expect(await lockOf(space)).toBe('a');
    await vain.release(stored);
    expect(await lockOf(space)).toBeUndefined();
  });

  it('is left to the sweep when the database does not answer', async () => {
    const space = await openWorkspace();
    const away: Store = { ...space.store, getMany: () => Promise.reject(new Error('away')) };
    const stored = { ...job('a', { ...final, locked: { target: id } }), _rev: '1-x' };
    await expect(releaseOn(away, stored)).resolves.toBeUndefined();
  });
});

describe('the jobs whose patterns match a target', () => {
  it('are those that have not ended, with the time of their patterns', async () => {
    const space = await openWorkspace();
    const locks = locksOn(space.store);
    const lockPattern = (of: string, key: string) =>
      locks.take({ kind: 'pattern', id: lockIdOf(of), key }, { _id: of, _rev: '1-x' });
    const begun = (of: string) => ({
      state: '$$ready',
      steps: [],
      locked: { pattern: lockIdOf(of) },
    });
    await space.put(
      job('new'),
      job('begun', begun('begun')),
      job('ended', { ...final, locked: { pattern: lockIdOf('ended') } }),
      job('different'),
      job('before'),
      job('me'),
      { type: 'lock', _id: 'lock:odd', kind: 'pattern', key: '(', job: 'new', at: 1, nonce: '' },
    );
    for (const of of ['new', 'begun', 'ended', 'before', 'me']) await lockPattern(of, '^db/');
    await lockPattern('different', '^host/');
    const found = await locks.blockers('db/1', {
      _id: 'me',
      _rev: '1-x',
      continued_from: 'before',
    });
    const at = expect.any(Number) as number;
    expect(found).toMatchObject({ kind: 'known', own: at });
    const all =
      found.kind === 'known' ? found.all.toSorted((a, b) => (a.job < b.job ? -1 : 1)) : [];
    expect(all).toEqual([
      { job: 'begun', at, decided: true },
      { job: 'new', at, decided: false },
    ]);
    expect(await locks.blockers('vm', { _id: 'other', _rev: '1-x' })).toEqual({
      kind: 'known',
      all: [],
    });
  });

  it('keep the time of their patterns when these are taken again', async () => {
    const space = await openWorkspace();
    await space.put(job('a'));
    const old = { kind: 'pattern', key: '.', job: 'a', at: 5, nonce: 'x' };
    await space.put({ ...old, _id: id, type: 'lock' });
    const pattern = { kind: 'pattern', id, key: '.' } as const;
    expect(await locksOn(space.store).take(pattern, { _id: 'a', _rev: '1-x' })).toEqual(held);
    expect(await locksOn(space.store).blockers('t', { _id: 'b', _rev: '1-x' })).toMatchObject({
      all: [{ job: 'a', at: 5 }],
    });
  });
});
