import { expect } from 'vitest';
import { freshDatabase, request, store } from '../support/couch.js';
import { check } from './check.js';

check('stores, reads, updates and deletes a local document', async () => {
  const db = await freshDatabase();
  const path = `/${db}/_local/note`;
  const first = await request('PUT', path, { body: { a: 1 } });
  expect(first.status).toBe(201);
  expect(first.body).toEqual({ ok: true, id: '_local/note', rev: '0-1' });
  expect((await request('GET', path)).body).toEqual({ _id: '_local/note', _rev: '0-1', a: 1 });
  const second = await request('PUT', path, { body: { _rev: '0-1', a: 2 } });
  expect(second.status).toBe(201);
  expect(second.body.rev).toBe('0-2');
  const gone = await request('DELETE', `${path}?rev=0-2`);
  expect(gone.status).toBe(200);
  const read = await request('GET', path);
  expect(read.status).toBe(404);
  expect(read.body.error).toBe('not_found');
});

check('takes a stale write of a local document: there is no compare-and-set', async () => {
  const db = await freshDatabase();
  const path = `/${db}/_local/note`;
  await request('PUT', path, { body: { a: 1 } });
  await request('PUT', path, { body: { _rev: '0-1', a: 2 } });
  const stale = await request('PUT', path, { body: { _rev: '0-1', a: 3 } });
  expect(stale.status).toBe(201);
  expect((await request('GET', path)).body['a']).toBe(3);
});

check('keeps local documents out of feeds, lists and counts', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  await request('PUT', `/${db}/_local/note`, { body: {} });
  const changes = await request('GET', `/${db}/_changes`);
  expect(changes.body.results?.map(({ id }) => id)).toEqual(['doc']);
  const all = await request('GET', `/${db}/_all_docs`);
  expect(all.body.rows?.map(({ id }) => id)).toEqual(['doc']);
  expect((await request('GET', `/${db}`)).body['doc_count']).toBe(1);
});

check('lists the local documents', async () => {
  const db = await freshDatabase();
  await request('PUT', `/${db}/_local/b`, { body: { n: 2 } });
  await request('PUT', `/${db}/_local/a`, { body: { n: 1 } });
  const { status, body } = await request('GET', `/${db}/_local_docs?include_docs=true`);
  expect(status).toBe(200);
  const rows = body.rows?.filter(({ id }) => /^_local\/[ab]$/.test(id ?? ''));
  expect(rows?.map(({ id }) => id)).toEqual(['_local/a', '_local/b']);
  expect(rows?.[0]?.doc).toMatchObject({ n: 1 });
});

check('takes local documents whose id needs encoding', async () => {
  const db = await freshDatabase();
  const path = `/${db}/_local/${encodeURIComponent('a/b ü')}`;
  expect((await request('PUT', path, { body: { a: 1 } })).status).toBe(201);
  expect((await request('GET', path)).body).toMatchObject({ _id: '_local/a/b ü', a: 1 });
});
