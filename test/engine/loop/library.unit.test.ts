import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLibrary } from '../../../src/engine/loop/library.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { Store } from '../../../src/store/store.js';

const task = (rev: string, plugin: string): StoredDocument => ({
  _id: 'task:DEFAULT:a',
  _rev: rev,
  type: 'task',
  name: 'a',
  plugin,
});

/** A store whose view of tasks holds one document. */
function storeWith(doc: StoredDocument): Store {
  const view = (name: string) =>
    Promise.resolve(name === 'tasks' ? [{ id: doc._id, key: 'a::DEFAULT', value: '', doc }] : []);
  return { view } as unknown as Store;
}

it('a library keeps what the feed brought while it read an older version', async () => {
  const library = createLibrary(storeWith(task('1-x', 'old')));
  const loading = library.load();
  library.update('task:DEFAULT:a', task('2-x', 'new'));
  await loading;
  expect(library.task('a', 'DEFAULT')).toMatchObject({ kind: 'found', value: { plugin: 'new' } });
});

// Shows J-06.
it('a library takes a newer version that the feed has not brought', async () => {
  const library = createLibrary(storeWith(task('2-x', 'new')));
  library.update('task:DEFAULT:a', task('1-x', 'old'));
  await library.load();
  expect(library.task('a', 'DEFAULT')).toMatchObject({ kind: 'found', value: { plugin: 'new' } });
});

it('a library reads a version once, however often the sweep brings it', async () => {
  const library = createLibrary(storeWith(task('1-x', 'old')));
  await library.load();
  const before = library.task('a', 'DEFAULT');
  await library.load();
  const after = library.task('a', 'DEFAULT');
  if (before.kind !== 'found' || after.kind !== 'found') throw new Error('It is not found.');
  expect(after.value).toBe(before.value);
});

type Row = { readonly id: string; readonly key: string; readonly doc: StoredDocument };

/** A store whose views hold these documents, and the questions it was asked with keys. */
function watchedStore(...docs: readonly StoredDocument[]) {
  const asked: unknown[] = [];
  const view = (name: string, { keys }: { readonly keys?: readonly unknown[] }) => {
    if (keys !== undefined) asked.push(keys);
    const rows = docs
      .filter(({ type }) => name === `${String(type)}s`)
      .map((doc): Row => ({
        id: doc._id,
        key: `${String(doc['name'])}::DEFAULT`,
        doc,
      }));
    return Promise.resolve(
      keys === undefined ? rows : rows.filter(({ key }) => keys.includes(key)),
    );
  };
  return { store: { view } as unknown as Store, asked };
}

describe('a task that an owner has none of', () => {
  // Shows A-05.
  it('E11: is that of everybody, without a question, while the feed goes on', async () => {
    const { store, asked } = watchedStore(task('1-x', 'common'));
    const library = createLibrary(store);
    await library.load();
    expect(library.task('a', 'ann')).toMatchObject({ kind: 'found', value: { plugin: 'common' } });
    expect(asked).toEqual([]);
  });

  it('E11: is asked for when the feed was broken, until everything was read again', async () => {
    const { store, asked } = watchedStore(task('1-x', 'common'));
    const library = createLibrary(store);
    await library.load();
    library.doubt();
    expect(library.task('a', 'ann').kind).toBe('unknown');
    await library.find('task', [{ name: 'a', owner: 'ann' }]);
    expect(asked).toEqual([['a::DEFAULT', 'a::ann']]);
    expect(library.task('a', 'ann').kind).toBe('found');
    library.doubt();
    expect(library.task('a', 'bob').kind).toBe('unknown');
    await library.load();
    expect(library.task('a', 'bob').kind).toBe('found');
  });

  it('is asked for when the feed broke while everything was read', async () => {
    const { store } = watchedStore(task('1-x', 'common'));
    const library = createLibrary(store);
    const loading = library.load();
    library.doubt();
    await loading;
    expect(library.task('a', 'ann').kind).toBe('unknown');
  });
});

it('E10: a definition that is nowhere is called absent only after a question', async () => {
  const { store, asked } = watchedStore();
  const library = createLibrary(store);
  await library.load();
  expect(library.flow('f', 'ann').kind).toBe('unknown');
  await Promise.all([
    library.find('flow', [{ name: 'f', owner: 'ann' }]),
    library.find('flow', [{ name: 'f', owner: 'ann' }]),
  ]);
  expect(library.flow('f', 'ann').kind).toBe('absent');
  expect(asked).toHaveLength(1);
});

it('a definition that came or went while everything was read stays as the feed told it', async () => {
  const { store } = watchedStore(task('1-x', 'old'));
  const library = createLibrary(store);
  const mine = { _id: 'mine', _rev: '1-m', type: 'task', name: 'a', owner: 'ann', plugin: 'own' };
  const loading = library.load();
  library.update('task:DEFAULT:a', undefined);
  library.update('mine', mine);
  await loading;
  expect(library.task('a', 'ann')).toMatchObject({ kind: 'found', value: { plugin: 'own' } });
  expect([...library.held.values()]).toEqual([mine]);
});

it('a definition that the store has no more is forgotten when everything is read', async () => {
  const { store } = watchedStore();
  const library = createLibrary(store);
  library.update('task:DEFAULT:a', task('1-x', 'old'));
  await library.load();
  expect([...library.held.values()]).toEqual([]);
});

it('what was just found absent is no question any more, however long the answer is known', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { store } = watchedStore();
  const library = createLibrary(store);
  await library.find('flow', [{ name: 'f', owner: 'ann' }]);
  // Views are slow while the feed is broken: other answers came later.
  library.doubt();
  vi.advanceTimersByTime(60_000);
  expect(library.flow('f', 'ann').kind).toBe('unknown');
  expect(library.foundFlow('f', 'ann').kind).toBe('absent');
});
