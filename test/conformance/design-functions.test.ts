import { expect } from 'vitest';
import { freshDatabase, request, store, storeAll } from '../support/couch.js';
import type { Answer, CouchBody } from '../support/couch.js';
import { check } from './check.js';

check('refuses a view that does not compile with 400 when it is stored', async () => {
  const db = await freshDatabase();
  for (const views of [
    { v: { map: 'function (doc) {' } },
    { v: { map: 'this is not JavaScript' } },
    { v: { map: 'function (doc) { emit(1); }', reduce: 'function (keys, values {' } },
  ]) {
    const { status, body } = await request('PUT', `/${db}/_design/app`, { body: { views } });
    expect({ views, status }).toEqual({ views, status: 400 });
    expect(body.error).toBe('compilation_error');
  }
  expect((await request('GET', `/${db}/_design/app`)).status).toBe(404);
});

check('leaves out the documents that a map function throws on', async () => {
  const db = await freshDatabase();
  await storeAll(db, [{ _id: 'bad' }, { _id: 'good', list: ['x'] }]);
  await store(db, {
    _id: '_design/app',
    views: { v: { map: 'function (doc) { emit(doc.list[0]); }' } },
  });
  const { status, body } = await request('GET', `/${db}/_design/app/_view/v`);
  expect(status).toBe(200);
  expect(body.rows).toEqual([{ id: 'good', key: 'x', value: null }]);
});

check('survives a map function that always throws', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  const map = "function (doc) { throw new Error('always'); }";
  await store(db, { _id: '_design/app', views: { v: { map } } });
  const { status, body } = await request('GET', `/${db}/_design/app/_view/v`);
  expect(status).toBe(200);
  expect(body.rows).toEqual([]);
  expect((await request('GET', `/${db}/doc`)).status).toBe(200);
});

check('ends an endless loop in a map function and serves others meanwhile', async () => {
  const db = await freshDatabase();
  const other = await freshDatabase();
  await store(db, { _id: 'doc' });
  await store(db, {
    _id: '_design/endless',
    views: { v: { map: 'function (doc) { while (true) {} }' } },
  });
  const endless = request('GET', `/${db}/_design/endless/_view/v`);
  const began = Date.now();
  expect((await request('GET', '/')).status).toBe(200);
  await store(other, { _id: 'doc', a: 1 });
  await store(db, { _id: 'second' });
  expect((await request('GET', `/${db}/doc`)).status).toBe(200);
  expect(Date.now() - began).toBeLessThan(4_900);
  const { status, body } = await endless;
  expect(status).toBeGreaterThanOrEqual(500);
  expect(body.error).toEqual(expect.any(String));
  await request('DELETE', `/${db}`);
});

check('ends an endless loop in a filter function', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  const filters = { endless: 'function (doc, req) { for (;;) {} }' };
  await store(db, { _id: '_design/app', filters });
  const { status, body } = await request('GET', `/${db}/_changes?filter=app/endless`);
  expect(status).toBe(500);
  expect(body.error).toEqual(expect.any(String));
  expect((await request('GET', `/${db}/doc`)).status).toBe(200);
});

check('gives map functions no way to the host process', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  const attempts = [
    'typeof (function () { return this; })().process',
    "typeof emit.constructor('return process')()",
    "typeof this.constructor.constructor('return process')()",
    "typeof doc.constructor.constructor('return globalThis.process')()",
    'typeof globalThis.process',
    "typeof require('fs')",
    'typeof fetch',
  ];
  const views = Object.fromEntries(
    attempts.map((attempt, n) => [
      `v${n}`,
      {
        map: `function (doc) { var found; try { found = ${attempt}; } catch (e) { found = 'none'; } emit(found); }`,
      },
    ]),
  );
  await store(db, { _id: '_design/app', views });
  for (const [n, attempt] of attempts.entries()) {
    const { body } = await request('GET', `/${db}/_design/app/_view/v${n}`);
    const found = body.rows?.[0]?.key;
    expect({ attempt, safe: ['none', 'undefined'].includes(String(found)) }).toEqual({
      attempt,
      safe: true,
    });
  }
});

check('lets map functions use the language’s own objects', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc', at: '2024-01-02T03:04:05Z', tags: ['b', 'a'] });
  const map = `function (doc) {
    var date = new Date(doc.at);
    emit([date.getTime(), Math.max(1, 2), JSON.stringify(doc.tags), /a/.test('cat')],
      Object.keys(doc).sort().concat(doc.tags.map(function (tag) { return tag + '!'; })));
    if (isArray(doc.tags)) emit(toJSON({ ok: true }), null);
    log('seen');
  }`;
  await store(db, { _id: '_design/app', views: { v: { map } } });
  const { body } = await request('GET', `/${db}/_design/app/_view/v`);
  expect(body.rows).toEqual([
    { id: 'doc', key: '{"ok":true}', value: null },
    {
      id: 'doc',
      key: [1704164645000, 2, '["b","a"]', true],
      value: ['_id', '_rev', 'at', 'tags', 'b!', 'a!'],
    },
  ]);
});

check('gives every document to a map function unchanged by the others', async () => {
  const db = await freshDatabase();
  await storeAll(db, [{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }]);
  const map =
    'function (doc) { var first = doc.seen === undefined; doc.seen = true; emit(first); }';
  await store(db, { _id: '_design/app', views: { v: { map }, w: { map } } });
  for (const view of ['v', 'w']) {
    const { body } = await request('GET', `/${db}/_design/app/_view/${view}`);
    expect(body.rows?.map(({ key }) => key)).toEqual([true, true, true]);
  }
});

check('lets no map function change a document', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc', list: [1] });
  const quiet = 'function (doc) { doc.seen = true; emit(doc.seen === undefined, doc.list); }';
  const loud = 'function (doc) { doc.list.push(2); emit(null, doc.list); }';
  await store(db, { _id: '_design/app', views: { a: { map: loud }, b: { map: quiet } } });
  const rowsOf = async (view: string) =>
    (await request('GET', `/${db}/_design/app/_view/${view}`)).body.rows;
  expect(await rowsOf('a')).toEqual([]);
  expect(await rowsOf('b')).toEqual([{ id: 'doc', key: true, value: [1] }]);
});

const legacy = {
  _id: '_design/app',
  language: 'javascript',
  views: { v: { map: 'function (doc) { emit(doc._id); }' } },
  shows: { s: 'function (doc, req) { return "shown " + doc._id; }' },
  lists: { l: 'function (head, req) { var row; while ((row = getRow())) send(row.key); }' },
  updates: { u: 'function (doc, req) { doc.seen = true; return [doc, "done"]; }' },
  rewrites: [{ from: '/here', to: '../../doc' }],
};

for (const [title, method, path, expected] of [
  ['renders a document through a show function', 'GET', '_show/s/doc', 'shown doc'],
  ['renders a view through a list function', 'GET', '_list/l/v', 'doc'],
  ['changes a document through an update function', 'PUT', '_update/u/doc', 'done'],
  ['rewrites a path through a design document', 'GET', '_rewrite/here', '"_id":"doc"'],
] as const) {
  check(
    title,
    async () => {
      const { status, text } = await legacyRequest(method, path);
      expect([200, 201]).toContain(status);
      expect(text).toContain(expected);
    },
    async () => {
      const { status, body } = await legacyRequest(method, path);
      expect(status).toBe(501);
      expect(body.error).toBe('not_implemented');
      expect(body.reason).toMatch(/\w+ \w+/);
    },
  );
}

async function legacyRequest(method: string, path: string): Promise<Answer<CouchBody>> {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  await store(db, legacy);
  return request(method, `/${db}/_design/app/${path}`);
}
