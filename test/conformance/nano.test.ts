import nano from 'nano';
import { expect } from 'vitest';
import { admin, couchUrl, freshDatabase } from '../support/couch.js';
import { check } from './check.js';

type Doc = { readonly n?: number };

check('serves the document calls of nano', async () => {
  const db = await open();
  const { id, rev } = await db.insert({ n: 1 }, 'doc');
  expect(id).toBe('doc');
  expect(await db.get('doc')).toEqual({ _id: 'doc', _rev: rev, n: 1 });
  expect(await db.head('doc')).toMatchObject({ etag: `"${rev}"` });
  await expect(db.insert({ n: 2 }, 'doc')).rejects.toMatchObject({
    statusCode: 409,
    error: 'conflict',
  });
  expect((await db.destroy('doc', rev)).ok).toBe(true);
  await expect(db.get('doc')).rejects.toMatchObject({ statusCode: 404, reason: 'deleted' });
});

check('serves the bulk and list calls of nano', async () => {
  const db = await open();
  const stored = await db.bulk({
    docs: [
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
    ],
  });
  expect(stored.map(({ id }) => id)).toEqual(['a', 'b']);
  const listed = await db.list({ include_docs: true });
  expect(listed.rows.map(({ doc }) => doc?.n)).toEqual([1, 2]);
  const fetched = await db.fetch({ keys: ['b', 'missing'] });
  expect(fetched.rows).toMatchObject([{ id: 'b' }, { key: 'missing', error: 'not_found' }]);
});

check('serves the view and find calls of nano', async () => {
  const db = await open();
  const views = { by_n: { map: 'function (doc) { if (doc.n) emit(doc.n); }', reduce: '_count' } };
  await db.insert({ views } as object, '_design/app');
  await db.bulk({
    docs: [
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
    ],
  });
  const view = await db.view<null>('app', 'by_n', { reduce: false, startkey: 2 });
  expect(view.rows).toEqual([{ id: 'b', key: 2, value: null }]);
  const keys = await db.view<null>('app', 'by_n', { reduce: false, keys: [2, 1] });
  expect(keys.rows.map(({ id }) => id)).toEqual(['b', 'a']);
  const counted = await db.view<number>('app', 'by_n', { group: true });
  expect(counted.rows.map(({ value }) => value)).toEqual([1, 1]);
  const index = await db.createIndex({ index: { fields: ['n'] }, name: 'by-n' });
  expect(index.result).toBe('created');
  const found = await db.find({ selector: { n: { $gt: 1 } } });
  expect(found.docs.map(({ _id }) => _id)).toEqual(['b']);
});

check('serves the changes reader of nano', async () => {
  const db = await open();
  await db.insert({ n: 1 }, 'before');
  const ids: string[] = [];
  const reader = db.changesReader.start({ since: '0', includeDocs: true, timeout: 2000 });
  const done = new Promise<void>((resolve, reject) => {
    reader.on('change', (change: { id: string }) => {
      ids.push(change.id);
      if (ids.length === 3) resolve();
    });
    reader.on('error', reject);
  });
  await db.insert({ n: 2 }, 'during');
  await db.insert({ n: 3 }, 'later');
  await done;
  db.changesReader.stop();
  expect(ids.sort()).toEqual(['before', 'during', 'later']);
});

check('serves the one-off changes reader of nano', async () => {
  const db = await open();
  await db.bulk({ docs: Array.from({ length: 250 }, (_, n) => ({ n })) });
  const reader = db.changesReader.get({ batchSize: 100, since: '0', timeout: 1000 });
  let seen = 0;
  reader.on('batch', (batch: unknown[]) => {
    seen += batch.length;
  });
  await new Promise<void>((resolve, reject) => {
    reader.on('end', () => resolve());
    reader.on('error', reject);
  });
  expect(seen).toBe(250);
});

check('serves the attachment calls of nano', async () => {
  const db = await open();
  const bytes = Buffer.from([0, 1, 2, 255]);
  const { rev } = await db.attachment.insert('doc', 'a.bin', bytes, 'application/octet-stream');
  expect(await db.attachment.get('doc', 'a.bin')).toEqual(bytes);
  await db.multipart.insert(
    { n: 5 },
    [{ name: 'b.txt', data: 'text', content_type: 'text/plain' }],
    'many',
  );
  expect((await db.get('many')).n).toBe(5);
  expect(String(await db.attachment.get('many', 'b.txt'))).toBe('text');
  const gone: unknown = await db.attachment.destroy('doc', 'a.bin', { rev });
  expect(gone).toMatchObject({ ok: true });
});

check('serves the database and session calls of nano', async () => {
  const name = await freshDatabase();
  const server = nano(couchUrl());
  expect(await server.db.list()).toContain(name);
  expect((await server.db.get(name)).db_name).toBe(name);
  expect((await server.use(name).info()).doc_count).toBe(0);
  const { origin } = new URL(couchUrl());
  const visitor = nano(origin);
  const { user, password } = admin();
  expect((await visitor.auth(user, password)).ok).toBe(true);
  expect(await visitor.session()).toMatchObject({ userCtx: { name: user } });
  expect(await visitor.db.list()).toContain(name);
});

async function open(): Promise<nano.DocumentScope<Doc>> {
  return nano(couchUrl()).use<Doc>(await freshDatabase());
}
