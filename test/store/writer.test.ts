import { beforeAll, describe, expect, test } from 'vitest';
import { installDesign } from '../../src/store/design.js';
import { openStore, type Store } from '../../src/store/store.js';
import { freshDatabase, request } from '../support/couch.js';
import { writeNew } from '../support/workspace.js';
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

  test('stores thousands of documents at once', async () => {
    const ids = Array.from({ length: 3_000 }, (_, i) => `many-${i}`);
    const results = await Promise.all(ids.map((_id) => writeNew(store, { _id })));
    expect(results.every(({ kind }) => kind === 'written')).toBe(true);
    expect((await store.getMany(ids)).size).toBe(ids.length);
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
