import { expect } from 'vitest';
import { freshDatabase, request, store, storeAll } from '../support/couch.js';
import { check } from './check.js';

const ids = { map: 'function (doc) { emit(doc._id, doc.n); }' };

check('shows every write at once in a view', async () => {
  const db = await databaseWithView();
  const rows = async (): Promise<unknown> =>
    (await request('GET', `/${db}/_design/app/_view/ids`)).body.rows;
  expect(await rows()).toEqual([]);
  const rev = await store(db, { _id: 'doc', n: 1 });
  expect(await rows()).toEqual([{ id: 'doc', key: 'doc', value: 1 }]);
  const next = await store(db, { _id: 'doc', _rev: rev, n: 2 });
  expect(await rows()).toEqual([{ id: 'doc', key: 'doc', value: 2 }]);
  await request('DELETE', `/${db}/doc?rev=${next}`);
  expect(await rows()).toEqual([]);
});

check('answers from a view as it is with update=false and with stale=ok', async () => {
  const db = await databaseWithView();
  await store(db, { _id: 'doc' });
  await request('GET', `/${db}/_design/app/_view/ids`);
  for (const query of ['update=false&stable=true', 'update=lazy', 'stale=ok', 'stable=true']) {
    const { status, body } = await request('GET', `/${db}/_design/app/_view/ids?${query}`);
    expect({ query, status }).toEqual({ query, status: 200 });
    expect(body.rows?.map(({ id }) => id)).toEqual(['doc']);
  }
});

check('tells the sequence that a view reflects', async () => {
  const db = await databaseWithView();
  await store(db, { _id: 'doc' });
  const { body } = await request('GET', `/${db}/_design/app/_view/ids?update_seq=true`);
  expect(body.update_seq).toEqual(expect.any(String));
});

check('builds a view anew when its definition changes', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc', n: 1 });
  const rev = await store(db, { _id: '_design/app', views: { v: ids } });
  const path = `/${db}/_design/app/_view/v`;
  expect((await request('GET', path)).body.rows).toMatchObject([{ key: 'doc' }]);
  const views = { v: { map: "function (doc) { emit('changed', doc.n); }" } };
  await store(db, { _id: '_design/app', _rev: rev, views });
  expect((await request('GET', path)).body.rows).toMatchObject([{ key: 'changed' }]);
});

check('keeps the views of a design document apart', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc', n: 1 });
  const views = { ids, numbers: { map: 'function (doc) { emit(doc.n); }', reduce: '_sum' } };
  await store(db, { _id: '_design/app', views });
  const first = await request('GET', `/${db}/_design/app/_view/ids`);
  expect(first.body.rows).toMatchObject([{ key: 'doc' }]);
  const second = await request('GET', `/${db}/_design/app/_view/numbers?reduce=false`);
  expect(second.body.rows).toMatchObject([{ key: 1 }]);
});

check('answers 404 to a view or a design document that does not exist', async () => {
  const db = await databaseWithView();
  const view = await request('GET', `/${db}/_design/app/_view/none`);
  expect(view.status).toBe(404);
  expect(view.body).toEqual({ error: 'not_found', reason: 'missing_named_view' });
  const design = await request('GET', `/${db}/_design/none/_view/ids`);
  expect(design.status).toBe(404);
  expect(design.body).toEqual({ error: 'not_found', reason: 'missing' });
});

check('refuses malformed parameters of a view with 400', async () => {
  const db = await databaseWithView();
  for (const query of [
    'limit=x',
    'limit=-1',
    'skip=-1',
    'descending=maybe',
    'group=true',
    'group_level=1',
    'reduce=true',
    'key={',
    'keys={}',
    'update=maybe',
    'startkey="b"&endkey="a"',
  ]) {
    const { status, body } = await request(
      'GET',
      `/${db}/_design/app/_view/ids?${encodeURI(query)}`,
    );
    expect({ query, status }).toEqual({ query, status: 400 });
    expect(['query_parse_error', 'bad_request']).toContain(body.error);
  }
});

check('ignores parameters of a view that it does not know', async () => {
  const db = await databaseWithView();
  const { status } = await request('GET', `/${db}/_design/app/_view/ids?_=1&unknown=x`);
  expect(status).toBe(200);
});

check('describes the index of a design document', async () => {
  const db = await databaseWithView();
  const { status, body } = await request('GET', `/${db}/_design/app/_info`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    name: 'app',
    view_index: {
      language: 'javascript',
      signature: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      updater_running: expect.any(Boolean) as boolean,
      compact_running: expect.any(Boolean) as boolean,
      sizes: { file: expect.any(Number) as number },
    },
  });
});

check('indexes 5,000 documents', async () => {
  const db = await databaseWithView();
  await storeAll(
    db,
    Array.from({ length: 5000 }, (_, n) => ({ _id: `doc-${n}`, n })),
  );
  const { body } = await request('GET', `/${db}/_design/app/_view/ids?limit=1`);
  expect(body['total_rows']).toBe(5000);
});

async function databaseWithView(): Promise<string> {
  const db = await freshDatabase();
  await store(db, { _id: '_design/app', views: { ids } });
  return db;
}
