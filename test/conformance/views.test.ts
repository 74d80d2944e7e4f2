import { expect } from 'vitest';
import { freshDatabase, request, store, storeAll } from '../support/couch.js';
import type { CouchBody, Row } from '../support/couch.js';
import { check } from './check.js';

const byKind = 'function (doc) { if (doc.kind) emit([doc.kind, doc.n], doc.n); }';
const fruits = [
  { _id: 'apple', kind: 'fruit', n: 1 },
  { _id: 'beet', kind: 'root', n: 2 },
  { _id: 'cherry', kind: 'fruit', n: 3 },
  { _id: 'date', kind: 'fruit', n: 5 },
];

check('gives the rows of a view in order of their keys', async () => {
  const view = await viewOf(byKind);
  const { status, body } = await view('');
  expect(status).toBe(200);
  expect(body['total_rows']).toBe(4);
  expect(body['offset']).toBe(0);
  expect(body.rows).toEqual([
    { id: 'apple', key: ['fruit', 1], value: 1 },
    { id: 'cherry', key: ['fruit', 3], value: 3 },
    { id: 'date', key: ['fruit', 5], value: 5 },
    { id: 'beet', key: ['root', 2], value: 2 },
  ]);
});

check('cuts a view to keys, ranges, limits and directions', async () => {
  const view = await viewOf(byKind);
  const ids = async (query: string): Promise<unknown> =>
    (await view(query)).body.rows?.map(({ id }) => id);
  expect(await ids('key=["root",2]')).toEqual(['beet']);
  expect(await ids('keys=[["root",2],["fruit",1],["none",0]]')).toEqual(['beet', 'apple']);
  expect(await ids('startkey=["fruit",2]')).toEqual(['cherry', 'date', 'beet']);
  expect(await ids('start_key=["fruit"]&end_key=["fruit",{}]')).toEqual([
    'apple',
    'cherry',
    'date',
  ]);
  expect(await ids('endkey=["fruit",3]')).toEqual(['apple', 'cherry']);
  expect(await ids('endkey=["fruit",3]&inclusive_end=false')).toEqual(['apple']);
  expect(await ids('limit=2&skip=1')).toEqual(['cherry', 'date']);
  expect(await ids('descending=true&limit=2')).toEqual(['beet', 'date']);
  expect(await ids('descending=true&startkey=["fruit",3]')).toEqual(['cherry', 'apple']);
});

check('includes the documents of a view', async () => {
  const view = await viewOf(byKind);
  const { body } = await view('include_docs=true&limit=1');
  expect(body.rows?.[0]?.doc).toMatchObject({ _id: 'apple', kind: 'fruit', n: 1 });
});

check('includes the document that the value of a row points to', async () => {
  const view = await viewOf("function (doc) { emit(doc._id, { _id: 'date' }); }");
  const { body } = await view('include_docs=true&key="apple"');
  expect(body.rows?.[0]).toMatchObject({ id: 'apple', doc: { _id: 'date' } });
});

check('orders keys null, booleans, numbers, strings, arrays, objects', async () => {
  const keys = [null, false, true, -1, 0, 1.5, 10, 'a', 'b', [], [1], ['a'], {}, { a: 1 }];
  const docs = keys.map((key, n) => ({ _id: `doc-${keys.length - n}`, key }));
  const view = await viewOf('function (doc) { emit(doc.key); }', undefined, docs);
  const { body } = await view('');
  expect(body.rows?.map(({ key }) => key)).toEqual(keys);
  expect(body.rows?.[0]?.value).toBeNull();
});

check('orders rows with the same key by id, and pages from a key and an id', async () => {
  const docs = ['a', 'b', 'c', 'd'].map((_id) => ({ _id }));
  const view = await viewOf("function (doc) { emit('same'); }", undefined, docs);
  const ids = async (query: string): Promise<unknown> =>
    (await view(query)).body.rows?.map(({ id }) => id);
  expect(await ids('startkey="same"&startkey_docid=b&limit=2')).toEqual(['b', 'c']);
  expect(await ids('startkey="same"&start_key_doc_id=b&skip=1&limit=2')).toEqual(['c', 'd']);
  expect(await ids('endkey="same"&endkey_docid=b')).toEqual(['a', 'b']);
  expect(await ids('descending=true&startkey="same"&startkey_docid=c')).toEqual(['c', 'b', 'a']);
});

check('takes several rows from one document', async () => {
  const view = await viewOf(
    'function (doc) { doc.tags.forEach(function (tag) { emit(tag, 1); emit(tag, 2); }); }',
    undefined,
    [{ _id: 'doc', tags: ['x', 'y'] }],
  );
  const rows = (await view('')).body.rows?.map(({ key, value }) => [key, value]);
  expect(rows?.sort()).toEqual([
    ['x', 1],
    ['x', 2],
    ['y', 1],
    ['y', 2],
  ]);
});

check('reduces with _count, _sum and _stats, by group and by level', async () => {
  const counted = await viewOf(byKind, '_count');
  expect((await counted('')).body.rows).toEqual([{ key: null, value: 4 }]);
  expect((await counted('group_level=1')).body.rows).toEqual([
    { key: ['fruit'], value: 3 },
    { key: ['root'], value: 1 },
  ]);
  expect((await counted('group=true&key=["root",2]')).body.rows).toEqual([
    { key: ['root', 2], value: 1 },
  ]);
  expect((await counted('startkey=["x"]')).body.rows).toEqual([]);
  const summed = await viewOf(byKind, '_sum');
  expect((await summed('group_level=1')).body.rows?.[0]).toEqual({ key: ['fruit'], value: 9 });
  const statistics = await viewOf(byKind, '_stats');
  expect((await statistics('')).body.rows?.[0]?.value).toEqual({
    sum: 11,
    count: 4,
    min: 1,
    max: 5,
    sumsqr: 39,
  });
});

check('gives the rows of a reduced view on request', async () => {
  const view = await viewOf(byKind, '_count');
  const { body } = await view('reduce=false&include_docs=true&limit=2');
  expect(body.rows?.map(({ id }) => id)).toEqual(['apple', 'cherry']);
  expect(body.rows?.[0]?.doc).toMatchObject({ _id: 'apple' });
});

check('limits and reverses groups', async () => {
  const view = await viewOf(byKind, '_count');
  const { body } = await view('group=true&limit=1&descending=true');
  expect(body.rows).toEqual([{ key: ['root', 2], value: 1 }]);
  const keys = await view('group=true&keys=[["root",2],["fruit",1]]');
  expect(keys.body.rows).toEqual([
    { key: ['root', 2], value: 1 },
    { key: ['fruit', 1], value: 1 },
  ]);
});

check('reduces with a function, also over reduced values', async () => {
  const view = await viewOf(
    'function (doc) { emit(doc.n % 2, doc.n); }',
    'function (keys, values, rereduce) { return rereduce ? Math.max.apply(null, values) : Math.max.apply(null, values); }',
    Array.from({ length: 300 }, (_, n) => ({ _id: `doc-${n}`, n })),
  );
  expect((await view('')).body.rows).toEqual([{ key: null, value: 299 }]);
  expect((await view('group=true')).body.rows).toEqual([
    { key: 0, value: 298 },
    { key: 1, value: 299 },
  ]);
});

check('answers 500 to _stats over values that are not numbers', async () => {
  const view = await viewOf("function (doc) { emit(null, 'text'); }", '_stats');
  expect((await view('')).status).toBe(500);
});

check('takes keys and parameters in the body', async () => {
  const view = await viewOf(byKind);
  const { status, body } = await view('', { keys: [['root', 2]], include_docs: true });
  expect(status).toBe(200);
  expect(body.rows).toMatchObject([{ id: 'beet', doc: { _id: 'beet' } }]);
});

check('answers several queries of a view at once', async () => {
  const view = await viewOf(byKind, '_count');
  const { status, body } = await view<{ results: { rows: Row[] }[] }>('', {
    queries: [{ reduce: false, keys: [['root', 2]] }, { group_level: 1 }, {}],
  });
  expect(status).toBe(200);
  expect(body.results.map(({ rows }) => rows.length)).toEqual([1, 2, 1]);
});

type Query = <T = CouchBody>(query: string, body?: unknown) => Promise<{ status: number; body: T }>;

/** Stores `docs` and a view over them, and returns what queries it. */
async function viewOf(
  map: string,
  reduce?: string,
  docs: readonly { _id: string; [key: string]: unknown }[] = fruits,
): Promise<Query> {
  const db = await freshDatabase();
  await storeAll(db, docs);
  await store(db, { _id: '_design/app', views: { v: reduce ? { map, reduce } : { map } } });
  return <T>(query: string, body?: unknown) => {
    const several = typeof body === 'object' && body !== null && 'queries' in body;
    const path = `/${db}/_design/app/_view/v${several ? '/queries' : ''}?${encodeURI(query)}`;
    return request<T>(body === undefined ? 'GET' : 'POST', path, { body });
  };
}
