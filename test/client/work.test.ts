import { expect, it } from 'vitest';
import { createClient } from '../../src/client/client.js';
import { offerLines } from '../../src/client/offer-lines.js';
import { answerWork } from '../../src/client/work-answer.js';
import { takeWork, type WorkWanted } from '../../src/client/work.js';
import { engineControlId, everyEngine } from '../../src/model/engine-control.js';
import type { FeedState } from '../../src/store/feed.js';
import type { Store } from '../../src/store/store.js';
import { job, task } from '../support/documents.js';
import { openWorkspace } from '../support/workspace.js';

type Order = { readonly id: string; readonly rate?: object; readonly owner?: string };

/** A database with such work, offered in this order. */
async function offered(...orders: readonly Order[]) {
  const space = await openWorkspace({});
  const client = createClient({ store: space.store });
  await space.put({ ...task('w', { plugin: 'worker' }), _id: 'task:w' });
  for (const { id, rate, owner = 'DEFAULT' } of orders) {
    const worker = { type: 'w', ...(rate === undefined ? {} : { rate }) };
    const tasks = [{ task: 'w', params: { worker } }];
    const flow = { _id: `flow:${id}`, type: 'flow', name: id, owner, timeout: 0, tasks };
    await space.put(flow);
    const [begun] = await client.beginWork([{ ...job(id, { owner }), type: 'job', _id: id }], {
      now: Date.now(),
    });
    await space.put(begun ?? {});
  }
  return { ...space, client };
}

const wanted: WorkWanted = {
  ...{ queues: ['default'], most: 10, worker: 'w1', now: () => Date.now() },
  ...{ isOwner: () => true, isMeant: () => true },
};
const take = async (store: Store, more: Partial<WorkWanted> = {}) => {
  const { works, isLimited } = await takeWork(store, { ...wanted, ...more });
  return { ids: works.map((work) => work.job._id), isLimited };
};

it('a database that moves gives out no work until the move has ended', async () => {
  const { store, put } = await offered({ id: 'a' });
  const _id = engineControlId(everyEngine);
  await put({ _id, type: 'engine-control', engine: everyEngine, enabled: false, moving: null });
  expect(await take(store)).toEqual({ ids: [], isLimited: false });
  const control = await store.get(_id);
  await store.remove(_id, String(control?._rev));
  expect((await take(store)).ids).toEqual(['a']);
});

it('RB2: a restored database gives out no work until engines are enabled', async () => {
  const { store, put, client } = await offered({ id: 'a' });
  const control = { type: 'engine-control', engine: everyEngine, enabled: false };
  await put({ ...control, _id: engineControlId(everyEngine), restored: '2026-11-27T05:00:00Z' });
  expect(await take(store)).toEqual({ ids: [], isLimited: false });
  await client.setEnabled(everyEngine, true, 'DEFAULT');
  expect((await take(store)).ids).toEqual(['a']);
});

it('a full rate stands in the way of nobody else, and counts for each owner', async () => {
  const rate = { key: 'k', limit: 1, per: 3_600_000 };
  const { store, client } = await offered(
    ...Array.from({ length: 25 }, (_, n) => ({ id: `held${n}`, rate })),
    { id: 'other', rate, owner: 'o' },
    { id: 'free' },
  );
  expect((await take(store, { most: 2 })).ids).toEqual(['held0', 'other']);
  expect(await take(store, { most: 2 })).toEqual({ ids: ['free'], isLimited: true });
  const { limits } = await client.limits();
  const sorted = limits.toSorted((a, b) => String(a.owner).localeCompare(String(b.owner)));
  expect(sorted).toMatchObject([
    { kind: 'rate', of: 'name', name: 'k', owner: 'DEFAULT', holders: [{ job: 'held0' }] },
    { kind: 'rate', of: 'name', name: 'k', owner: 'o', holders: [{ job: 'other' }] },
  ]);
});

it('a rate counts what was taken in its own database, and not what was long ago in another', async () => {
  const rate = { key: 'own', limit: 1, per: 3_600_000 };
  const orders = [
    { id: 'a', rate },
    { id: 'b', rate },
  ];
  const [former, anew] = [await offered(...orders), await offered(...orders)];
  expect((await take(former.store, { most: 1 })).ids).toEqual(['a']);
  const later = { most: 1, now: () => Date.now() + 7_200_000 };
  expect((await take(anew.store, later)).ids).toEqual(['a']);
  expect(await take(anew.store, later)).toEqual({ ids: [], isLimited: true });
});

it('one request for more than a rate has room for gets just as much', async () => {
  const rate = { key: 'many', limit: 14, per: 3_600_000 };
  const orders = Array.from({ length: 16 }, (_, n) => ({ id: `m${n}`, rate }));
  const { store } = await offered(...orders);
  const { ids, isLimited } = await take(store, { most: 16 });
  expect({ isLimited, got: ids.length }).toEqual({ isLimited: true, got: 14 });
});

it('a step that cannot be taken keeps the others from nobody', async () => {
  const { store } = await offered({ id: 'a' }, { id: 'b' }, { id: 'c' });
  const broken = (wrong: readonly string[]): Store => ({
    ...store,
    write: async (doc) => {
      if (wrong.includes(String(doc._id))) throw new Error(`no ${String(doc._id)}`);
      return store.write(doc);
    },
  });
  await expect(take(broken(['a', 'b', 'c']))).rejects.toThrow('no a');
  const { works, errors } = await takeWork(broken(['b']), wanted);
  expect(works.map((work) => work.job._id)).toEqual(['a', 'c']);
  expect(errors).toEqual([new Error('no b')]);
  expect((await take(store)).ids).toEqual(['b']);
});

it('of two own tasks of one name an engine tells, even where DEFAULT has one', async () => {
  const { client, put } = await offered();
  for (const [n, owner] of ['DEFAULT', 'o', 'o'].entries()) {
    await put({ ...task('w', { plugin: 'worker', owner }), _id: `task:${n}` });
  }
  await put({ _id: 'flow:f', type: 'flow', name: 'f', owner: 'o', timeout: 0, tasks: ['w'] });
  const order = { ...job('f', { owner: 'o' }), type: 'job', _id: 'j' };
  expect(await client.beginWork([order], { now: Date.now() })).toEqual([order]);
});

it('who misses one of many does not try those that others have taken meanwhile', async () => {
  const orders = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id }));
  const { store } = await offered(...orders);
  const end = new AbortController();
  const since = (await store.info()).updateSeq;
  let heard: Promise<void> | undefined;
  await new Promise<void>((resolve) => {
    const onState = ({ kind }: FeedState): void => {
      if (kind === 'following') resolve();
    };
    const feed = store.kept.following(store.follow, { since, signal: end.signal, onState });
    heard = (async () => {
      while ((await feed.next()).done !== true);
    })();
  });
  await offerLines(store).of('default');
  // What is written is known with its job from here on.
  for (const { id } of orders) await store.write((await store.get(id)) ?? { _id: id });
  const written: string[] = [];
  let others: Awaited<ReturnType<typeof take>> | undefined;
  const watched: Store = {
    ...store,
    write: async (doc, mostBytes) => {
      written.push(doc._id);
      if (doc._id === 'b' && others === undefined) {
        others = { ids: [], isLimited: false };
        await store.write({ ...(await store.get('b')), _id: 'b', paused: true });
        others = await take(watched, { most: 3, worker: 'w2' });
      }
      return store.write(doc, mostBytes);
    },
  };
  const { ids } = await take(watched, { most: 2, mayMiss: true });
  end.abort();
  await heard;
  expect([ids, others?.ids]).toEqual([
    ['a', 'f'],
    ['c', 'd', 'e'],
  ]);
  expect(written).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

it('who has a claim refused time and again says that there is work left', async () => {
  const { store } = await offered({ id: 'a' }, { id: 'b' });
  const busy: Store = {
    ...store,
    write: async (doc, mostBytes) => {
      // Somebody else changes it each time.
      if (doc._id === 'a') await store.write({ ...(await store.get('a')), _id: 'a', note: 1 });
      return store.write(doc, mostBytes);
    },
  };
  const { works, isLeft } = await takeWork(busy, wanted);
  expect([works.map(({ job: { _id } }) => _id), isLeft]).toEqual([['b'], true]);
  expect((await takeWork(store, wanted)).isLeft).toBe(false);
});

it('in a paused queue work is offered, and nothing else begins', async () => {
  const { store, put } = await openWorkspace({});
  const client = createClient({ store });
  const flow = (name: string, ...tasks: readonly unknown[]) => ({
    ...{ _id: `flow:${name}`, type: 'flow', name, owner: 'DEFAULT', timeout: 0, tasks },
  });
  const wait = { wait: { signal: 'go', timeout: 1_000 } };
  await put({ ...task('w', { plugin: 'worker' }), _id: 'task:w' });
  await put(flow('works', 'w'), flow('waits', wait, 'w'), flow('both', { parallel: ['w', wait] }));
  await put({ _id: 'queue-control:x', type: 'queue-control', queue: 'default', paused: true });
  const orders = ['works', 'waits', 'both'].map((id) => ({ ...job(id), type: 'job', _id: id }));
  const steps = async (): Promise<readonly unknown[]> => {
    const begun = await client.beginWork(orders, { now: Date.now() });
    return begun.map((one) => (one as { steps?: readonly unknown[] }).steps?.length);
  };
  expect(await steps()).toEqual([1, undefined, undefined]);
  await client.switchQueue({ queue: 'default', paused: false });
  expect(await steps()).toEqual([1, 1, 2]);
});

it('an answer whose write was confirmed too late counts, and one that was not written is kept for an engine', async () => {
  const { store } = await offered({ id: 'a' }, { id: 'b' });
  const { works } = await takeWork(store, wanted);
  const unclear = { kind: 'unknown', cause: 'no answer in time' } as const;
  const slow: Store = {
    ...store,
    write: async (doc, mostBytes) => {
      const result = doc._id === 'b' ? unclear : await store.write(doc, mostBytes);
      return doc._id === 'a' ? unclear : result;
    },
  };
  const [written, lost] = await Promise.all(
    works.map((work) => answerWork(slow, work, { data: work.job._id }, { now: Date.now() })),
  );
  expect(written).toMatchObject({ _id: 'a', state: '$$complete', steps: [{ result: 'a' }] });
  expect(written?._rev).toBe((await store.get('a'))?._rev);
  expect([lost, await store.range('signal:')]).toMatchObject([
    undefined,
    [{ job: 'b', data: 'b' }],
  ]);
});
