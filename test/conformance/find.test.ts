import { expect } from 'vitest';
import { freshDatabase, request, storeAll } from '../support/couch.js';
import type { CouchBody } from '../support/couch.js';
import { check } from './check.js';

const people = [
  { _id: 'ada', name: 'Ada', age: 36, tags: ['math', 'code'], home: { city: 'London' } },
  { _id: 'bob', name: 'Bob', age: 25, tags: [], scores: [{ n: 1 }, { n: 9 }] },
  { _id: 'cyd', name: 'Cyd', age: 41, tags: ['code'], home: { city: 'Paris' } },
  { _id: 'dan', name: 'Dan', tags: ['art'], scores: [{ n: 5 }] },
];

check('creates an index once and uses it', async () => {
  const db = await freshDatabase();
  await storeAll(db, people);
  const index = { index: { fields: ['age'] }, name: 'by-age', ddoc: 'ages', type: 'json' };
  const first = await request('POST', `/${db}/_index`, { body: index });
  expect(first.status).toBe(200);
  expect(first.body).toEqual({ result: 'created', id: '_design/ages', name: 'by-age' });
  const again = await request('POST', `/${db}/_index`, { body: index });
  expect(again.body).toMatchObject({ result: 'exists', name: 'by-age' });
  const found = await find(db, { selector: { age: { $gt: 30 } }, sort: [{ age: 'desc' }] });
  expect(found.ids).toEqual(['cyd', 'ada']);
  expect(found.body['warning']).toBeUndefined();
});

check('lists and removes indexes', async () => {
  const db = await freshDatabase();
  await index(db, ['age']);
  type Indexes = { total_rows: number; indexes: { ddoc: string | null; name: string }[] };
  const listed = await request<Indexes>('GET', `/${db}/_index`);
  expect(listed.body.total_rows).toBe(2);
  expect(listed.body.indexes[0]).toMatchObject({
    ddoc: null,
    name: '_all_docs',
    type: 'special',
    def: { fields: [{ _id: 'asc' }] },
  });
  expect(listed.body.indexes[1]).toMatchObject({
    ddoc: '_design/test',
    name: 'test',
    type: 'json',
    def: { fields: [{ age: 'asc' }] },
  });
  const removed = await request('DELETE', `/${db}/_index/test/json/test`);
  expect(removed.status).toBe(200);
  expect(removed.body).toEqual({ ok: true });
  expect((await request<Indexes>('GET', `/${db}/_index`)).body.total_rows).toBe(1);
});

check('picks fields, sorts, skips and limits', async () => {
  const db = await freshDatabase();
  await storeAll(db, people);
  await index(db, ['name']);
  const { body } = await find(db, {
    selector: { name: { $gt: null } },
    fields: ['name', 'home.city'],
    sort: ['name'],
    skip: 1,
    limit: 2,
  });
  expect(body.docs).toEqual([{ name: 'Bob' }, { name: 'Cyd', home: { city: 'Paris' } }]);
});

check('gives every row of a range, whatever the limit', async () => {
  const db = await freshDatabase();
  await storeAll(
    db,
    Array.from({ length: 60 }, (_, n) => ({ _id: `doc-${String(n).padStart(2, '0')}`, n })),
  );
  await index(db, ['n']);
  const above = await find(db, { selector: { n: { $gt: 9 } }, limit: 20 });
  expect(above.ids).toHaveLength(20);
  const all = await find(db, { selector: { n: { $gt: 9, $lte: 49 } }, limit: 1000 });
  expect(all.ids).toHaveLength(40);
});

check('gives 25 documents when no limit is given', async () => {
  const db = await freshDatabase();
  await storeAll(
    db,
    Array.from({ length: 40 }, (_, n) => ({ n })),
  );
  expect((await find(db, { selector: {} })).ids).toHaveLength(25);
});

check('pages by bookmark', async () => {
  const db = await freshDatabase();
  await storeAll(
    db,
    Array.from({ length: 10 }, (_, n) => ({ _id: `doc-${n}`, n, same: n % 2 })),
  );
  await index(db, ['same', 'n']);
  const ids: (string | undefined)[] = [];
  let bookmark: unknown = undefined;
  for (let page = 0; page < 4; page += 1) {
    const { body } = await find(db, {
      selector: { same: { $gte: 0 } },
      sort: ['same', 'n'],
      limit: 3,
      ...(bookmark === undefined ? {} : { bookmark }),
    });
    ids.push(...(body.docs ?? []).map(({ _id }) => _id));
    bookmark = body['bookmark'];
    expect(bookmark).toEqual(expect.any(String));
  }
  const expected = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9].map((n) => `doc-${n}`);
  expect(ids).toEqual(expected);
});

check('goes on behind a bookmark whose document was deleted', async () => {
  const db = await freshDatabase();
  await storeAll(
    db,
    ['a', 'b', 'c', 'd'].map((_id) => ({ _id })),
  );
  const query = { selector: { _id: { $gt: null } }, limit: 2 };
  const first = await find(db, query);
  expect(first.ids).toEqual(['a', 'b']);
  const { body } = await request('GET', `/${db}/b`);
  await request('DELETE', `/${db}/b?rev=${String(body._rev)}`);
  const next = await find(db, { ...query, bookmark: first.body['bookmark'] });
  expect(next.ids).toEqual(['c', 'd']);
});

check('understands the operators of selectors', async () => {
  const db = await freshDatabase();
  await storeAll(db, people);
  for (const [selector, expected] of [
    [{ age: 36 }, ['ada']],
    [{ age: { $ne: 36 } }, ['bob', 'cyd']],
    [{ age: { $gte: 36, $lt: 41 } }, ['ada']],
    [{ $or: [{ age: 25 }, { name: 'Dan' }] }, ['bob', 'dan']],
    [{ $and: [{ tags: { $all: ['code'] } }, { age: { $gt: 40 } }] }, ['cyd']],
    [{ $nor: [{ age: 25 }, { name: 'Dan' }] }, ['ada', 'cyd']],
    [{ name: { $in: ['Ada', 'Cyd', 'Zoe'] } }, ['ada', 'cyd']],
    [{ name: { $nin: ['Ada', 'Cyd'] } }, ['bob', 'dan']],
    [{ name: { $regex: '^[AB]' } }, ['ada', 'bob']],
    [{ age: { $exists: false } }, ['dan']],
    [{ home: { $exists: true } }, ['ada', 'cyd']],
    [{ age: { $type: 'number' } }, ['ada', 'bob', 'cyd']],
    [{ tags: { $size: 1 } }, ['cyd', 'dan']],
    [{ tags: { $elemMatch: { $eq: 'math' } } }, ['ada']],
    [{ scores: { $elemMatch: { n: { $gt: 6 } } } }, ['bob']],
    [{ scores: { $allMatch: { n: { $lt: 6 } } } }, ['dan']],
    [{ age: { $mod: [5, 0] } }, ['bob']],
    [{ age: { $not: { $gt: 30 } } }, ['bob']],
    [{ 'home.city': 'Paris' }, ['cyd']],
    [{ home: { city: 'Paris' } }, ['cyd']],
    [{ _id: { $gt: 'bob' } }, ['cyd', 'dan']],
  ] as const) {
    const { ids } = await find(db, { selector });
    expect({ selector, ids: [...ids].sort() }).toEqual({ selector, ids: [...expected] });
  }
});

check('finds without an index, and says so in a warning', async () => {
  const db = await freshDatabase();
  await storeAll(db, people);
  const { ids, body } = await find(db, { selector: { name: 'Bob' } });
  expect(ids).toEqual(['bob']);
  expect(body['warning']).toMatch(/No matching index found/);
});

check('explains how it would find', async () => {
  const db = await freshDatabase();
  await index(db, ['age']);
  const { status, body } = await request('POST', `/${db}/_explain`, {
    body: { selector: { age: { $gt: 30 } }, fields: ['age'], limit: 7, skip: 2 },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    dbname: db,
    index: { ddoc: '_design/test', name: 'test', type: 'json' },
    selector: { age: { $gt: 30 } },
    fields: ['age'],
    limit: 7,
    skip: 2,
  });
});

check('keeps a partial index to the documents of its selector', async () => {
  const db = await freshDatabase();
  await storeAll(db, people);
  await request('POST', `/${db}/_index`, {
    body: {
      index: {
        fields: ['age'],
        partial_filter_selector: { tags: { $elemMatch: { $eq: 'code' } } },
      },
      ddoc: 'coders',
      name: 'coders',
    },
  });
  const { ids } = await find(db, { selector: { age: { $gt: 0 } }, use_index: 'coders' });
  expect(ids.sort()).toEqual(['ada', 'cyd']);
});

check('counts what a find has read when asked to', async () => {
  const db = await freshDatabase();
  await storeAll(db, people);
  const { body } = await find(db, { selector: { age: 36 }, execution_stats: true });
  expect(body['execution_stats']).toMatchObject({
    total_docs_examined: expect.any(Number) as number,
    results_returned: 1,
    execution_time_ms: expect.any(Number) as number,
  });
});

check('follows changes of documents', async () => {
  const db = await freshDatabase();
  await index(db, ['age']);
  const [rev] = await storeAll(db, [{ _id: 'eve', age: 50 }]);
  expect((await find(db, { selector: { age: 50 } })).ids).toEqual(['eve']);
  await storeAll(db, [{ _id: 'eve', _rev: rev, age: 51 }]);
  expect((await find(db, { selector: { age: 50 } })).ids).toEqual([]);
  expect((await find(db, { selector: { age: 51 } })).ids).toEqual(['eve']);
});

check('refuses malformed finds with 400', async () => {
  const db = await freshDatabase();
  for (const [body, error] of [
    [{}, 'missing_required_key'],
    [{ selector: 'text' }, 'invalid_selector_json'],
    [{ selector: { a: { $no: 1 } } }, 'invalid_operator'],
    [{ selector: {}, limit: -1 }, 'invalid_non_neg_integer'],
    [{ selector: { a: 1 }, sort: ['a'] }, 'no_usable_index'],
    [{ selector: {}, sort: [{ a: 'up' }] }, 'invalid_sort_field'],
  ] as const) {
    const answer = await request('POST', `/${db}/_find`, { body });
    expect({ body, status: answer.status }).toEqual({ body, status: 400 });
    expect({ body, error: answer.body.error }).toEqual({ body, error });
  }
});

async function find(
  db: string,
  body: unknown,
): Promise<{ body: CouchBody; ids: (string | undefined)[] }> {
  const answer = await request('POST', `/${db}/_find`, { body });
  expect(answer.status).toBe(200);
  return { body: answer.body, ids: answer.body.docs?.map(({ _id }) => _id) ?? [] };
}

async function index(db: string, fields: readonly string[]): Promise<void> {
  const { status } = await request('POST', `/${db}/_index`, {
    body: { index: { fields }, ddoc: 'test', name: 'test' },
  });
  expect(status).toBe(200);
}
