import { expect } from 'vitest';
import { freshDatabase, request, store } from '../support/couch.js';
import { check } from './check.js';

check('limits the revisions that a document remembers', async () => {
  const db = await freshDatabase();
  const before = await request<number>('GET', `/${db}/_revs_limit`);
  expect(before.status).toBe(200);
  expect(before.body).toBeGreaterThanOrEqual(50);
  const put = await request('PUT', `/${db}/_revs_limit`, { raw: '5' });
  expect(put.status).toBe(200);
  expect(put.body).toEqual({ ok: true });
  expect((await request<number>('GET', `/${db}/_revs_limit`)).body).toBe(5);
  let rev = await store(db, { _id: 'doc' });
  for (let n = 0; n < 9; n += 1) rev = await store(db, { _id: 'doc', _rev: rev, n });
  const { body } = await request<{ _revisions: { start: number; ids: string[] } }>(
    'GET',
    `/${db}/doc?revs=true`,
  );
  expect(body._revisions.start).toBe(10);
  expect(body._revisions.ids).toHaveLength(5);
});

check('refuses a limit of revisions that is no positive number', async () => {
  const db = await freshDatabase();
  for (const raw of ['0', '-1', '"x"', 'x']) {
    const { status } = await request('PUT', `/${db}/_revs_limit`, { raw });
    expect({ raw, refused: status >= 400 }).toEqual({ raw, refused: true });
  }
});

check('compacts a database and its views', async () => {
  const db = await freshDatabase();
  const map = 'function (doc) { emit(doc._id); }';
  await store(db, { _id: '_design/app', views: { v: { map } } });
  await request('GET', `/${db}/_design/app/_view/v`);
  for (const path of ['_compact', '_compact/app', '_view_cleanup']) {
    const { status, body } = await request('POST', `/${db}/${path}`);
    expect({ path, status }).toEqual({ path, status: 202 });
    expect(body).toEqual({ ok: true });
  }
});

check('answers 415 to a compaction that is not called JSON', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('POST', `/${db}/_compact`, {
    headers: { 'content-type': 'text/plain' },
  });
  expect(status).toBe(415);
  expect(body.error).toBe('bad_content_type');
});

check('drops the bodies of old revisions when it compacts', async () => {
  const db = await freshDatabase();
  const first = await store(db, { _id: 'doc', n: 1 });
  const second = await store(db, { _id: 'doc', _rev: first, n: 2 });
  await request('POST', `/${db}/_compact`);
  await expect.poll(async () => (await request('GET', `/${db}/doc?rev=${first}`)).status).toBe(404);
  const { body } = await request('GET', `/${db}/doc?revs_info=true`);
  expect(body).toMatchObject({
    _rev: second,
    n: 2,
    _revs_info: [
      { rev: second, status: 'available' },
      { rev: first, status: 'missing' },
    ],
  });
});

check('keeps conflicts when it compacts', async () => {
  const db = await freshDatabase();
  const [one, two] = [`1-${'a'.repeat(32)}`, `1-${'b'.repeat(32)}`];
  await request('POST', `/${db}/_bulk_docs`, {
    body: { new_edits: false, docs: [one, two].map((_rev) => ({ _id: 'doc', _rev, n: _rev })) },
  });
  await request('POST', `/${db}/_compact`);
  await expect
    .poll(async () => (await request('GET', `/${db}`)).body['compact_running'])
    .toBe(false);
  expect((await request('GET', `/${db}/doc?rev=${one}`)).body['n']).toBe(one);
});

check('confirms that everything is on disk', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('POST', `/${db}/_ensure_full_commit`);
  expect(status).toBe(201);
  expect(body).toMatchObject({ ok: true, instance_start_time: expect.any(String) as string });
});
