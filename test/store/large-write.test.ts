import { beforeAll, expect, test } from 'vitest';
import { BigResult } from '../../src/model/big-result.js';
import { installDesign } from '../../src/store/design.js';
import { openStore, type Store } from '../../src/store/store.js';
import { freshDatabase } from '../support/couch.js';
import { startFaultyProxy } from '../support/faulty-proxy.js';
import { connect } from './connect.js';
import { text } from './matchers.js';

let database: string;
let store: Store;
beforeAll(async () => {
  database = await freshDatabase();
  await installDesign(connect(database));
  store = openStore(connect(database));
});

const value = { list: Array.from({ length: 40_000 }, (_, i) => ({ i, text: `ü ${i} \n` })) };
const json = JSON.stringify(value);
const name = 'result-graph.a "b".0-1.json';

function withLarge(doc: { readonly _id: string; readonly _rev?: string }) {
  const data = new BigResult(value, Buffer.byteLength(json));
  const about = { content_type: 'application/json', data };
  return { ...doc, _attachments: { [name]: about } };
}

test('is stored as one revision, whose attachment is a stub that later ones keep', async () => {
  const first = await store.write({ _id: 'a' });
  const rev = first.kind === 'written' ? first.rev : '';
  const written = await store.write(withLarge({ _id: 'a', _rev: rev }));
  expect(written).toEqual({ kind: 'written', rev: text(/^2-/) });
  const stored = await store.get('a');
  expect(stored).toMatchObject({
    _rev: written.kind === 'written' ? written.rev : '',
    _attachments: {
      [name]: {
        ...{ content_type: 'application/json', stub: true, revpos: 2, digest: text(/^md5-/) },
        length: Buffer.byteLength(json),
      },
    },
  });
  expect((await store.attachment('a', name)) === json).toBe(true);
  const { _attachments } = stored as { readonly _attachments?: Record<string, unknown> };
  const next = await store.write({ ...stored, _id: 'a', n: 1, _attachments });
  expect(next).toMatchObject({ kind: 'written' });
  expect((await store.attachment('a', name)) === json).toBe(true);
});

test('is a conflict for an old revision and for none, and leaves nothing behind', async () => {
  const first = await store.write({ _id: 'b' });
  const rev = first.kind === 'written' ? first.rev : '';
  await store.write({ _id: 'b', _rev: rev, n: 1 });
  expect(await store.write(withLarge({ _id: 'b', _rev: rev }))).toEqual({ kind: 'conflict' });
  expect(await store.write(withLarge({ _id: 'b' }))).toEqual({ kind: 'conflict' });
  expect(await store.get('b')).not.toHaveProperty('_attachments');
});

test('lets exactly one of several writers of a revision win', async () => {
  const first = await store.write({ _id: 'race' });
  const rev = first.kind === 'written' ? first.rev : '';
  const results = await Promise.all(
    [1, 2, 3, 4].map((n) =>
      openStore(connect(database)).write({ ...withLarge({ _id: 'race', _rev: rev }), n }),
    ),
  );
  expect(results.map(({ kind }) => kind).sort()).toEqual([
    ...['conflict', 'conflict', 'conflict', 'written'],
  ]);
});

test('is refused for the document that the database does not take', async () => {
  expect(await store.write({ ...withLarge({ _id: 'c' }), type: 'task' })).toEqual({
    kind: 'refused',
    reason: 'A task needs a "name": a text that is not empty.',
  });
});

test('is not known when the answer is lost, and can be read back', async () => {
  const proxy = await startFaultyProxy(connect(database).url);
  const far = openStore(connect(database, proxy.url));
  proxy.begin({ kind: 'cut_answer' });
  expect(await far.write(withLarge({ _id: 'd' }))).toMatchObject({ kind: 'unknown' });
  proxy.heal();
  expect(await far.get('d')).toMatchObject({ _rev: text(/^1-/) });
  expect((await far.attachment('d', name)) === json).toBe(true);
});

test('is not stored when the connection breaks on the way', async () => {
  const proxy = await startFaultyProxy(connect(database).url);
  const far = openStore(connect(database, proxy.url));
  proxy.begin({ kind: 'cut' });
  expect(await far.write(withLarge({ _id: 'e' }))).toMatchObject({ kind: 'unknown' });
  proxy.heal();
  expect(await far.get('e')).toBeUndefined();
  expect(await far.write(withLarge({ _id: 'e' }))).toMatchObject({ kind: 'written' });
});
