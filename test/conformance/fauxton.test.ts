import { expect } from 'vitest';
import type { TestContext } from 'vitest';
import { couchKind, freshDatabase, request, store } from '../support/couch.js';
import { check } from './check.js';

check('leads /_utils to Fauxton', async (context) => {
  await needsFauxton(context);
  const { status, headers } = await request('GET', '/_utils', { auth: null });
  expect([301, 302, 307, 308]).toContain(status);
  expect(new URL(headers.location ?? '', 'http://host').pathname).toBe('/_utils/');
});

check('serves the page of Fauxton to everybody, with a content policy', async (context) => {
  await needsFauxton(context);
  const { status, headers, text } = await request('GET', '/_utils/', { auth: null });
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^text\/html/);
  expect(headers['content-security-policy']).toContain("default-src 'self'");
  expect(text).toMatch(/<div id="app/);
});

check('serves every file that the page of Fauxton names', async (context) => {
  await needsFauxton(context);
  const { text } = await request('GET', '/_utils/', { auth: null });
  const names = [...text.matchAll(/(?:src|href)="\.?\/?([^"#:]+\.(?:js|css|ico|png))[^"]*"/g)];
  expect(names.length).toBeGreaterThan(1);
  for (const [, name = ''] of names) {
    const file = await request('GET', `/_utils/${name}`, { auth: null });
    expect({ name, status: file.status }).toEqual({ name, status: 200 });
    const type = name.endsWith('.js') ? /javascript/ : name.endsWith('.css') ? /css/ : /image/;
    expect(file.headers['content-type']).toMatch(type);
    expect(file.bytes.length).toBeGreaterThan(0);
  }
});

check('answers 404 to a file that Fauxton does not have', async () => {
  const { status } = await request('GET', '/_utils/none.js', { auth: null });
  expect(status).toBe(404);
});

check('answers 405 to a write below /_utils', async () => {
  const { status } = await request('PUT', '/_utils/index.html', { raw: 'x' });
  expect([401, 405]).toContain(status);
});

check('answers everything that the pages of Fauxton ask for', async () => {
  const db = await freshDatabase();
  const map = 'function (doc) { emit(doc._id); }';
  await store(db, { _id: '_design/app', views: { v: { map, reduce: '_count' } } });
  await store(db, { _id: 'doc', a: 1 });
  const asked: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ['GET', '/'],
    ['GET', '/_session'],
    ['GET', '/_membership'],
    ['GET', '/_node/_local/_config'],
    ['GET', '/_node/_local/_config/admins'],
    ['GET', '/_node/_local/_config/cors'],
    ['GET', '/_active_tasks'],
    ['GET', '/_all_dbs?limit=21&skip=0'],
    ['POST', '/_dbs_info', { keys: [db] }],
    ['GET', `/${db}`],
    ['GET', `/${db}/_security`],
    ['GET', `/${db}/_index`],
    ['GET', `/${db}/_all_docs?include_docs=true&limit=21&skip=0&conflicts=true`],
    ['GET', `/${db}/_all_docs?startkey="_design/"&endkey="_design0"&include_docs=true&limit=501`],
    ['GET', `/${db}/_design/app/_info`],
    ['GET', `/${db}/_design/app/_view/v?limit=21&reduce=false&skip=0&include_docs=true`],
    ['GET', `/${db}/_design/app/_view/v?reduce=true&group=true`],
    ['GET', `/${db}/_changes?limit=100&descending=true&include_docs=true&style=all_docs`],
    ['POST', `/${db}/_find`, { selector: { a: { $gt: null } }, limit: 21 }],
    ['POST', `/${db}/_explain`, { selector: { a: { $gt: null } } }],
    ['GET', `/${db}/doc?revs=true&open_revs=all&conflicts=true`],
    ['GET', '/_uuids?count=1'],
  ];
  for (const [method, path, body] of asked) {
    const answer = await request(method, encodeURI(path), { body });
    expect({ path, status: answer.status }).toEqual({ path, status: 200 });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  }
});

/** A CouchDB that was built without its front end has nothing to show. */
async function needsFauxton(context: TestContext): Promise<void> {
  if (couchKind() !== 'couchdb') return;
  const { status } = await request('GET', '/_utils/', { auth: null });
  if (status === 404) context.skip('This CouchDB was built without Fauxton.');
}
