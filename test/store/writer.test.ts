import { beforeAll, describe, expect, test } from 'vitest';
import { installDesign } from '../../src/store/design.js';
import { openStore, type Store } from '../../src/store/store.js';
import { freshDatabase, request } from '../support/couch.js';
import { connect, connectAsStranger } from './connect.js';
import { startProxy } from './tcp-proxy.js';
import { text } from './matchers.js';

let database: string;
let store: Store;
beforeAll(async () => {
  database = await freshDatabase();
  await installDesign(connect(database));
  store = openStore(connect(database));
});

/** The revision of a write that must succeed. */
async function written(doc: { readonly _id: string; readonly _rev?: string }): Promise<string> {
  const result = await store.write(doc);
  if (result.kind !== 'written') throw new Error(JSON.stringify(result));
  return result.rev;
}

describe('write', () => {
  test('stores a document and its next revision', async () => {
    const rev = await written({ _id: 'a' });
    const next = await written({ _id: 'a', _rev: rev });
    expect(next).toMatch(/^2-/);
    expect(await store.get('a')).toEqual({ _id: 'a', _rev: next });
  });

  test('stores a text that was cut in the middle of a character', async () => {
    const cut = ['a\ud83d', '\ude00b', '\\ud83d', '\\\udc00', '😀', '\\\\ud83d'];
    await written({ _id: 'cut', cut, ['k\ud83d']: 1 } as { _id: string });
    expect(await store.get('cut')).toMatchObject({
      cut: ['a\ufffd', '\ufffdb', '\\ud83d', '\\\ufffd', '😀', '\\\\ud83d'],
      ['k\ufffd']: 1,
    });
  });

  test('tells a conflict for an old revision and for none', async () => {
    const rev = await written({ _id: 'b' });
    await written({ _id: 'b', _rev: rev });
    expect(await store.write({ _id: 'b', _rev: rev })).toEqual({ kind: 'conflict' });
    expect(await store.write({ _id: 'b' })).toEqual({ kind: 'conflict' });
  });

  // Shows J-09.
  test('lets exactly one of many writers of a revision win', async () => {
    const rev = await written({ _id: 'race' });
    const others = [store, ...Array.from({ length: 7 }, () => openStore(connect(database)))];
    const results = await Promise.all(
      others.map((one, i) => one.write({ _id: 'race', _rev: rev, winner: i })),
    );
    const won = results.flatMap(({ kind }, i) => (kind === 'written' ? [i] : []));
    expect(won).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'conflict')).toHaveLength(7);
    expect(await store.get('race')).toMatchObject({ winner: won[0] });
  });

  test('gives each document of a batch its own result', async () => {
    await written({ _id: 'taken' });
    const results = await Promise.all([
      store.write({ _id: 'good' }),
      store.write({ _id: 'taken' }),
      store.write({ _id: 'task', type: 'task' }),
    ]);
    expect(results).toEqual([
      { kind: 'written', rev: text(/^1-/) },
      { kind: 'conflict' },
      { kind: 'refused', reason: 'A task needs a "name": a text that is not empty.' },
    ]);
  });

  test.each([
    ['a field that CouchDB does not allow', { _id: 'x1', _unknown: 1 }],
    ['an id that CouchDB does not allow', { _id: '_x2' }],
    ['a revision that is none', { _id: 'x3', _rev: 'none' }],
  ])('refuses %s and stores the rest of the batch', async (_title, bad) => {
    const ids = Array.from({ length: 5 }, (_, i) => `beside-${bad._id}-${i}`);
    const [result, ...results] = await Promise.all([
      store.write(bad),
      ...ids.map((_id) => store.write({ _id })),
    ]);
    expect(result).toMatchObject({ kind: 'refused' });
    expect(results.map(({ kind }) => kind)).toEqual(ids.map(() => 'written'));
  });

  test('refuses a document that is too large and stores the rest of the batch', async () => {
    const [large, small] = await Promise.all([
      store.write({ _id: 'large', text: 'x'.repeat(9_000_000) }),
      store.write({ _id: 'small' }),
    ]);
    expect(small).toMatchObject({ kind: 'written' });
    expect(large).toMatchObject({ kind: 'refused', reason: text('too large') });
  });

  test('stores thousands of documents at once', async () => {
    const ids = Array.from({ length: 3_000 }, (_, i) => `many-${i}`);
    const results = await Promise.all(ids.map((_id) => store.write({ _id, n: 1 })));
    expect(results.every(({ kind }) => kind === 'written')).toBe(true);
    expect((await store.getMany(ids)).size).toBe(ids.length);
  });

  test('does several writes of a document one after the other', async () => {
    const results = await Promise.all([1, 2].map((n) => store.write({ _id: 'twice', n })));
    expect(results.map(({ kind }) => kind)).toEqual(['written', 'conflict']);
    expect(await store.get('twice')).toMatchObject({ n: 1 });
  });
});

describe('remove', () => {
  test('deletes the revision it is given and no other', async () => {
    const rev = await written({ _id: 'gone' });
    expect(await store.remove('gone', '1-0123456789abcdef0123456789abcdef')).toEqual({
      kind: 'conflict',
    });
    expect(await store.remove('gone', rev)).toMatchObject({ kind: 'written' });
    expect(await store.get('gone')).toBeUndefined();
  });
});

describe('what is not known', () => {
  test('is told when nobody answers', async () => {
    const proxy = await startProxy(connect(database).url);
    await proxy.listen(false);
    expect(await openStore(connect(database, proxy.url)).write({ _id: 'n' })).toEqual({
      kind: 'unknown',
      cause: 'connection refused',
    });
  });

  test('is told when the database is not there', async () => {
    const missing = openStore(connect(`${database}-missing`));
    expect(await missing.write({ _id: 'n' })).toMatchObject({
      kind: 'unknown',
      cause: text('404'),
    });
  });

  test('is told when the password is wrong', async () => {
    const stranger = openStore(connectAsStranger(database));
    const result = await stranger.write({ _id: 'n' });
    expect(result).toMatchObject({ kind: 'unknown', cause: text('401') });
    expect(JSON.stringify(result)).not.toContain('wrong-password');
  });

  test('is told when the answer is lost, although the document is stored', async () => {
    const proxy = await startProxy(connect(database).url);
    const far = openStore(connect(database, proxy.url));
    proxy.cutAfter(20);
    expect(await far.write({ _id: 'lost' })).toMatchObject({ kind: 'unknown' });
    await expect.poll(() => store.get('lost')).toMatchObject({ _id: 'lost' });
    proxy.cutAfter(undefined);
    expect(await far.write({ _id: 'lost-2' })).toMatchObject({ kind: 'written' });
  });
});

test('close waits for the writes under way', async () => {
  const own = openStore(connect(database));
  const writes = [1, 2, 3].map((n) => own.write({ _id: `closing-${n}` }));
  await own.close();
  const { body } = await request('POST', `/${database}/_all_docs`, {
    body: { keys: ['closing-1', 'closing-2', 'closing-3'] },
  });
  expect(body.rows?.every(({ error }) => error === undefined)).toBe(true);
  expect((await Promise.all(writes)).every(({ kind }) => kind === 'written')).toBe(true);
});
