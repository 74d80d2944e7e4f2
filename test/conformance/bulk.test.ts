import { expect } from 'vitest';
import { freshDatabase, request, store, storeAll } from '../support/couch.js';
import type { CouchBody, Document, Row } from '../support/couch.js';
import { check } from './check.js';

type Results = readonly CouchBody[];

check('stores many documents with 201 and answers in the order of the request', async () => {
  const db = await freshDatabase();
  const ids = Array.from({ length: 200 }, (_, n) => `doc-${(n * 7919) % 200}`);
  const { status, body } = await request<Results>('POST', `/${db}/_bulk_docs`, {
    body: { docs: ids.map((_id) => ({ _id })) },
  });
  expect(status).toBe(201);
  expect(body.map(({ id }) => id)).toEqual(ids);
  for (const result of body)
    expect(result).toMatchObject({ ok: true, rev: expect.stringMatching(/^1-/) as string });
});

check('tells the fate of each document of a bulk write', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'old', a: 1 });
  const { status, body } = await request<Results>('POST', `/${db}/_bulk_docs`, {
    body: {
      docs: [{ _id: 'new' }, { _id: 'old', a: 2 }, { a: 3 }, { _id: 'old', _rev: rev, a: 4 }],
    },
  });
  expect(status).toBe(201);
  expect(body[0]).toMatchObject({ ok: true, id: 'new' });
  expect(body[1]).toEqual({ id: 'old', error: 'conflict', reason: 'Document update conflict.' });
  expect(body[2]).toMatchObject({
    ok: true,
    id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
  });
  expect(body[3]).toMatchObject({ ok: true, id: 'old' });
  expect((await request('GET', `/${db}/old`)).body).toMatchObject({ a: 4, _rev: body[3]?.rev });
});

check('stores one of two documents with the same id in one bulk write', async () => {
  const db = await freshDatabase();
  const { body } = await request<Results>('POST', `/${db}/_bulk_docs`, {
    body: { docs: [{ _id: 'twin', n: 0 }, { _id: 'other' }, { _id: 'twin', n: 1 }] },
  });
  expect(body.map(({ id }) => id)).toEqual(['twin', 'other', 'twin']);
  const fates = [body[0], body[2]].map((result) => result?.error ?? 'stored');
  expect(fates.sort()).toEqual(['conflict', 'stored']);
  const stored = body[0]?.error === undefined ? 0 : 1;
  const { body: twin } = await request('GET', `/${db}/twin?conflicts=true`);
  expect(twin).toEqual({ _id: 'twin', _rev: body[stored * 2]?.rev, n: stored });
});

check('keeps no trace of a refused twin of an update in one bulk write', async () => {
  const db = await freshDatabase();
  const _rev = await store(db, { _id: 'twin' });
  const { body } = await request<Results>('POST', `/${db}/_bulk_docs`, {
    body: { docs: [0, 1, 2].map((n) => ({ _id: 'twin', _rev, n })) },
  });
  expect(body.map(({ error }) => error ?? 'stored').sort()).toEqual([
    'conflict',
    'conflict',
    'stored',
  ]);
  const n = body.findIndex(({ error }) => error === undefined);
  const leaves = await request('GET', `/${db}/twin?open_revs=all`);
  expect(leaves.body).toEqual([{ ok: { _id: 'twin', _rev: body[n]?.rev, n } }]);
});

check('lets exactly one of many racing bulk writes win each document', async () => {
  const db = await freshDatabase();
  const ids = Array.from({ length: 10 }, (_, n) => `doc-${n}`);
  const revs = await storeAll(
    db,
    ids.map((_id) => ({ _id })),
  );
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, writer) =>
      request<Results>('POST', `/${db}/_bulk_docs`, {
        body: { docs: ids.map((_id, n) => ({ _id, _rev: revs[n], writer })) },
      }),
    ),
  );
  for (const [n, _id] of ids.entries()) {
    const won = answers.map(({ body }) => body[n]).filter((result) => result?.error === undefined);
    expect(won).toHaveLength(1);
    const writer = answers.findIndex(({ body }) => body[n]?.error === undefined);
    const leaves = await request('GET', `/${db}/${_id}?open_revs=all`);
    expect(leaves.body).toEqual([{ ok: { _id, _rev: won[0]?.rev, writer } }]);
  }
});

check('deletes in bulk', async () => {
  const db = await freshDatabase();
  const [rev] = await storeAll(db, [{ _id: 'doc' }]);
  const { status, body } = await request<Results>('POST', `/${db}/_bulk_docs`, {
    body: { docs: [{ _id: 'doc', _rev: rev, _deleted: true }] },
  });
  expect(status).toBe(201);
  expect(body[0]).toMatchObject({ ok: true, rev: expect.stringMatching(/^2-/) as string });
  expect((await request('GET', `/${db}/doc`)).body.reason).toBe('deleted');
});

check('refuses a bulk write without a list of documents with 400', async () => {
  const db = await freshDatabase();
  for (const body of [{}, { docs: {} }, { docs: null }, []]) {
    const answer = await request('POST', `/${db}/_bulk_docs`, { body });
    expect({ body, status: answer.status }).toEqual({ body, status: 400 });
    expect(answer.body.error).toBe('bad_request');
  }
});

check('answers an empty bulk write with an empty list', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('POST', `/${db}/_bulk_docs`, { body: { docs: [] } });
  expect(status).toBe(201);
  expect(body).toEqual([]);
});

check('refuses a whole bulk write with 400 when one document is malformed', async () => {
  const db = await freshDatabase();
  for (const bad of [{ _id: '_own' }, { _foo: 1 }, { _rev: 'abc' }, 'text', { _id: 7 }]) {
    const { status } = await request('POST', `/${db}/_bulk_docs`, {
      body: { docs: [{ _id: 'good' }, bad] },
    });
    expect({ bad, status }).toEqual({ bad, status: 400 });
  }
  expect((await request('GET', `/${db}/good`)).status).toBe(404);
});

check('reads many documents in one request, in the order asked for', async () => {
  const db = await freshDatabase();
  const [first] = await storeAll(db, [{ _id: 'a', n: 1 }, { _id: 'b' }]);
  const second = await store(db, { _id: 'a', _rev: first, n: 2 });
  type Got = { results: { id: string; docs: { ok?: Document; error?: CouchBody }[] }[] };
  const { status, body } = await request<Got>('POST', `/${db}/_bulk_get`, {
    body: { docs: [{ id: 'b' }, { id: 'missing' }, { id: 'a', rev: second }, { id: 'a' }] },
  });
  expect(status).toBe(200);
  expect(body.results.map(({ id }) => id)).toEqual(['b', 'missing', 'a', 'a']);
  expect(body.results[0]?.docs[0]?.ok).toMatchObject({ _id: 'b' });
  expect(body.results[1]?.docs[0]?.error).toMatchObject({ id: 'missing', error: 'not_found' });
  expect(body.results[2]?.docs[0]?.ok).toMatchObject({ _rev: second, n: 2 });
  expect(body.results[3]?.docs[0]?.ok).toMatchObject({ _rev: second, n: 2 });
});

check('reads listed ids in their order, with missing and deleted ones marked', async () => {
  const db = await freshDatabase();
  const [rev = ''] = await storeAll(db, [{ _id: 'gone' }, { _id: 'here', a: 1 }]);
  await request('DELETE', `/${db}/gone?rev=${rev}`);
  const { status, body } = await request('POST', `/${db}/_all_docs?include_docs=true`, {
    body: { keys: ['missing', 'here', 'gone', 'here'] },
  });
  expect(status).toBe(200);
  expect(body.rows).toMatchObject([
    { key: 'missing', error: 'not_found' },
    { id: 'here', key: 'here', doc: { a: 1 } },
    { id: 'gone', key: 'gone', value: { deleted: true }, doc: null },
    { id: 'here', key: 'here', doc: { a: 1 } },
  ]);
});

check('lists all documents by id with ranges, limits and directions', async () => {
  const db = await freshDatabase();
  await storeAll(
    db,
    ['d', 'b', 'a', 'c', 'B'].map((_id) => ({ _id })),
  );
  const list = async (query: string): Promise<unknown> =>
    (await request('GET', `/${db}/_all_docs?${encodeURI(query)}`)).body.rows?.map(({ id }) => id);
  expect(await list('')).toEqual(['B', 'a', 'b', 'c', 'd']);
  expect(await list('startkey="b"')).toEqual(['b', 'c', 'd']);
  expect(await list('start_key="b"&end_key="c"')).toEqual(['b', 'c']);
  expect(await list('startkey="b"&endkey="c"&inclusive_end=false')).toEqual(['b']);
  expect(await list('limit=2&skip=1')).toEqual(['a', 'b']);
  expect(await list('descending=true&limit=2')).toEqual(['d', 'c']);
  expect(await list('descending=true&startkey="c"&endkey="b"')).toEqual(['c', 'b']);
  expect(await list('key="c"')).toEqual(['c']);
  expect(await list('keys=["c","a"]')).toEqual(['c', 'a']);
  expect(await list('limit=0')).toEqual([]);
});

check('counts all documents and gives revisions in _all_docs', async () => {
  const db = await freshDatabase();
  const [rev] = await storeAll(db, [{ _id: 'a' }, { _id: 'b' }]);
  const { body } = await request('GET', `/${db}/_all_docs?limit=1`);
  expect(body['total_rows']).toBe(2);
  expect(body.rows).toEqual([{ id: 'a', key: 'a', value: { rev } }]);
});

check('answers several queries of all documents at once', async () => {
  const db = await freshDatabase();
  await storeAll(db, [{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }]);
  type Several = { results: { rows: Row[] }[] };
  const { status, body } = await request<Several>('POST', `/${db}/_all_docs/queries`, {
    body: { queries: [{ keys: ['c', 'a'] }, { limit: 1, skip: 1 }, { startkey: 'x' }] },
  });
  expect(status).toBe(200);
  const ids = body.results.map(({ rows }) => rows.map(({ id }) => id));
  expect(ids).toEqual([['c', 'a'], ['b'], []]);
});

check('refuses malformed parameters of _all_docs with 400', async () => {
  const db = await freshDatabase();
  for (const query of ['limit=x', 'limit=-1', 'skip=x', 'descending=x', 'key=x', 'keys=1']) {
    const { status } = await request('GET', `/${db}/_all_docs?${query}`);
    expect({ query, status }).toEqual({ query, status: 400 });
  }
});
