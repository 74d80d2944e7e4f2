import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';

import { createDatabaseHub } from '../../src/embedded/feeds/hub.js';
import { createRecentChanges } from '../../src/embedded/feeds/recent-changes.js';
import type { StoredChange } from '../../src/embedded/storage/storage.js';

const change = (seq: number, id = `d${seq}`): StoredChange => {
  const doc = { _id: id, _rev: `1-${seq}` };
  const leaves = [doc._rev];
  return { seq, id, deleted: false, leaves, conflicts: [], doc, json: JSON.stringify(doc) };
};
const seqs = (changes: readonly StoredChange[]): number[] => changes.map(({ seq }) => seq);

/** A store of changes that counts how often it is read; `quiet` writes are not told to the hub. */
function storeOf() {
  const all: StoredChange[] = [];
  let told: (changes: readonly StoredChange[] | undefined) => void = () => undefined;
  let reads = 0;
  return {
    reads: () => reads,
    write: (seq: number, how: 'told' | 'quiet' = 'told') => {
      all.push(change(seq));
      told(how === 'told' ? [change(seq)] : undefined);
    },
    store: {
      watch: (listener: typeof told) => {
        told = listener;
      },
      changes: ({ since, limit }: { since: number; limit: number }) => {
        reads += 1;
        return Promise.resolve(all.filter(({ seq }) => seq > since).slice(0, limit));
      },
    },
  };
}

const never = new AbortController().signal;

test('hands on what it overhears without reading it from the store', async () => {
  const { store, write, reads } = storeOf();
  write(1);
  const hub = createDatabaseHub(store);
  expect(seqs(await hub.after(0, 10))).toEqual([1]);
  const first = hub.wait(1, never);
  await new Promise(setImmediate);
  const before = reads();
  for (const seq of [2, 3, 4]) write(seq);
  await first;
  expect(seqs(await hub.after(1, 10))).toEqual([2, 3, 4]);
  expect(seqs(await hub.after(2, 1))).toEqual([3]);
  expect(await hub.after(4, 10)).toEqual([]);
  expect(reads()).toBe(before);
});

test('reads what it could not overhear', async () => {
  const { store, write } = storeOf();
  const hub = createDatabaseHub(store);
  const waiting = hub.wait(0, never);
  await new Promise(setImmediate);
  write(1, 'quiet');
  await waiting;
  expect(seqs(await hub.after(0, 10))).toEqual([1]);
  const again = hub.wait(1, never);
  write(2, 'quiet');
  write(3);
  await again;
  expect(seqs(await hub.after(1, 10))).toEqual([2, 3]);
});

test('wakes whoever waits behind what was written before they came', async () => {
  const { store, write } = storeOf();
  write(1);
  const hub = createDatabaseHub(store);
  write(2);
  await hub.wait(1, never);
  expect(seqs(await hub.after(1, 10))).toEqual([2]);
  // Meanwhile nobody listens for so long that nothing is kept.
  for (let seq = 3; seq < 3_000; seq += 1) write(seq);
  await hub.wait(2, never);
  expect(seqs(await hub.after(2, 2))).toEqual([3, 4]);
});

test('wakes everybody when it is closed', async () => {
  const hub = createDatabaseHub(storeOf().store);
  const waiting = hub.wait(0, never);
  hub.close();
  await waiting;
  expect(hub.closed).toBe(true);
  await hub.wait(0, never);
});

test('shows of a document only its newest change', () => {
  const recent = createRecentChanges();
  recent.restart(0);
  recent.add([change(1, 'a'), change(2, 'b'), change(3, 'a')]);
  recent.add([change(3, 'a'), change(4, 'c')]);
  expect(seqs(recent.after(0, 10))).toEqual([2, 3, 4]);
  expect(seqs(recent.after(2, 1))).toEqual([3]);
});

test('keeps the newest changes without a gap and nothing from before', () => {
  const recent = createRecentChanges();
  recent.restart(0);
  for (let seq = 1; seq <= 5_000; seq += 1) recent.add([change(seq)]);
  expect(recent.after(0, 10)).toEqual([]);
  expect(seqs(recent.after(4_500, 1_000))).toEqual(
    Array.from({ length: 500 }, (_, i) => 4_501 + i),
  );
});

test('reads from the store while something was written that it could not overhear', async () => {
  const { store, write, reads } = storeOf();
  const hub = createDatabaseHub(store);
  void hub.wait(0, never);
  await new Promise(setImmediate);
  for (const seq of [1, 2]) write(seq);
  await new Promise(setImmediate);
  expect(seqs(await hub.after(0, 1))).toEqual([1]);
  const before = reads();
  write(3, 'quiet');
  expect(seqs(await hub.after(0, 1))).toEqual([1]);
  expect(reads()).toBe(before + 1);
});

test('leaves no gap before changes that it was reading when it forgot the others', async () => {
  const { store, write } = storeOf();
  const steps = new EventEmitter();
  const [asked, given] = [once(steps, 'asked'), once(steps, 'given')];
  let isSlow = false;
  const changes: typeof store.changes = async (options) => {
    const found = await store.changes(options);
    if (!isSlow) return found;
    isSlow = false;
    steps.emit('asked');
    await given;
    return found;
  };
  const hub = createDatabaseHub({ ...store, changes });
  write(1);
  write(2);
  await hub.wait(0, never);
  const woken = hub.wait(2, never);
  isSlow = true;
  write(3, 'quiet');
  await asked;
  hub.forget();
  steps.emit('given');
  await woken;
  expect(seqs(await hub.after(0, 10))).toEqual([1, 2, 3]);
  expect(seqs(await hub.after(1, 10))).toEqual([2, 3]);
});
