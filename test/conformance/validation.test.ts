import { expect } from 'vitest';
import { admin, freshDatabase, request, store } from '../support/couch.js';
import type { CouchBody } from '../support/couch.js';
import { check } from './check.js';

/** Forbids what is marked bad, wants an owner for what is marked locked, and protects kept ones. */
const rule = `function (newDoc, oldDoc, userCtx, secObj) {
  if (newDoc.bad) throw({ forbidden: 'bad is not allowed' });
  if (newDoc.locked) throw({ unauthorized: 'sign in first' });
  if (oldDoc && oldDoc.keep && newDoc._deleted) throw({ forbidden: 'kept documents stay' });
  if (newDoc.broken) throw new Error('a bug');
  if (newDoc.seen) throw({ forbidden: JSON.stringify([oldDoc === null, userCtx, secObj]) });
}`;

check('refuses a document that a validation function forbids with 403', async () => {
  const db = await databaseWithRule();
  const bad = await request('PUT', `/${db}/doc`, { body: { bad: true } });
  expect(bad.status).toBe(403);
  expect(bad.body).toEqual({ error: 'forbidden', reason: 'bad is not allowed' });
  expect((await request('GET', `/${db}/doc`)).status).toBe(404);
  expect((await request('PUT', `/${db}/doc`, { body: { good: true } })).status).toBe(201);
  const posted = await request('POST', `/${db}`, { body: { bad: true } });
  expect(posted.status).toBe(403);
});

check('answers 401 when a validation function says unauthorized', async () => {
  const db = await databaseWithRule();
  const { status, body } = await request('PUT', `/${db}/doc`, { body: { locked: true } });
  expect(status).toBe(401);
  expect(body).toEqual({ error: 'unauthorized', reason: 'sign in first' });
});

check('refuses a document over which a validation function throws an error', async () => {
  const db = await databaseWithRule();
  const { status } = await request('PUT', `/${db}/doc`, { body: { broken: true } });
  expect(status).toBeGreaterThanOrEqual(400);
  expect((await request('GET', `/${db}/doc`)).status).toBe(404);
});

check(
  'shows a validation function the old document, the user and the security object',
  async () => {
    const db = await databaseWithRule();
    const security = { admins: { names: [], roles: ['x'] }, members: { names: [], roles: ['y'] } };
    await request('PUT', `/${db}/_security`, { body: security });
    const { body } = await request('PUT', `/${db}/doc`, { body: { seen: true } });
    const [isNew, userCtx, secObj] = JSON.parse(body.reason ?? '') as unknown[];
    expect(isNew).toBe(true);
    expect(userCtx).toMatchObject({ db, name: admin().user, roles: ['_admin'] });
    expect(secObj).toMatchObject(security);
  },
);

check('validates each document of a bulk write by itself', async () => {
  const db = await databaseWithRule();
  const { status, body } = await request<CouchBody[]>('POST', `/${db}/_bulk_docs`, {
    body: { docs: [{ _id: 'one' }, { _id: 'two', bad: true }, { _id: 'three' }] },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject([
    { ok: true, id: 'one' },
    { id: 'two', error: 'forbidden', reason: 'bad is not allowed' },
    { ok: true, id: 'three' },
  ]);
});

check('validates deletions', async () => {
  const db = await databaseWithRule();
  const rev = await store(db, { _id: 'doc', keep: true });
  const { status, body } = await request('DELETE', `/${db}/doc?rev=${rev}`);
  expect(status).toBe(403);
  expect(body.reason).toBe('kept documents stay');
  expect((await request('GET', `/${db}/doc`)).status).toBe(200);
});

check('validates replicated revisions', async () => {
  const db = await databaseWithRule();
  const _rev = `1-${'a'.repeat(32)}`;
  const { status, body } = await request<CouchBody[]>('POST', `/${db}/_bulk_docs`, {
    body: {
      docs: [
        { _id: 'bad', _rev, bad: true },
        { _id: 'good', _rev },
      ],
      new_edits: false,
    },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject([{ id: 'bad', error: 'forbidden' }]);
  expect((await request('GET', `/${db}/bad`)).status).toBe(404);
  expect((await request('GET', `/${db}/good`)).status).toBe(200);
});

check('validates attachments', async () => {
  const db = await freshDatabase();
  await store(db, {
    _id: '_design/app',
    validate_doc_update:
      "function (newDoc) { if (newDoc._attachments) throw({ forbidden: 'no attachments' }); }",
  });
  const rev = await store(db, { _id: 'doc' });
  const { status, body } = await request('PUT', `/${db}/doc/a.txt?rev=${rev}`, {
    raw: 'text',
    headers: { 'content-type': 'text/plain' },
  });
  expect(status).toBe(403);
  expect(body.reason).toBe('no attachments');
});

check('does not validate local documents', async () => {
  const db = await databaseWithRule();
  const { status } = await request('PUT', `/${db}/_local/note`, { body: { bad: true } });
  expect(status).toBe(201);
});

check('asks the validation functions of all design documents', async () => {
  const db = await databaseWithRule();
  await store(db, {
    _id: '_design/second',
    validate_doc_update: "function (newDoc) { if (newDoc.worse) throw({ forbidden: 'worse' }); }",
  });
  expect((await request('PUT', `/${db}/a`, { body: { bad: true } })).status).toBe(403);
  expect((await request('PUT', `/${db}/b`, { body: { worse: true } })).body.reason).toBe('worse');
});

check('follows a validation function that changes, and forgets one that is deleted', async () => {
  const db = await freshDatabase();
  const forbid = (word: string): string =>
    `function (newDoc) { if (newDoc.${word}) throw({ forbidden: '${word}' }); }`;
  const first = await store(db, { _id: '_design/app', validate_doc_update: forbid('one') });
  expect((await request('PUT', `/${db}/a`, { body: { one: true } })).status).toBe(403);
  const second = await store(db, {
    _id: '_design/app',
    _rev: first,
    validate_doc_update: forbid('two'),
  });
  expect((await request('PUT', `/${db}/a`, { body: { one: true } })).status).toBe(201);
  expect((await request('PUT', `/${db}/b`, { body: { two: true } })).status).toBe(403);
  expect((await request('DELETE', `/${db}/_design/app?rev=${second}`)).status).toBe(200);
  expect((await request('PUT', `/${db}/b`, { body: { two: true } })).status).toBe(201);
});

check('ends an endless loop in a validation function', async () => {
  const db = await freshDatabase();
  await store(db, {
    _id: '_design/app',
    validate_doc_update: 'function (newDoc) { if (newDoc.endless) while (true) {} }',
  });
  const endless = request('PUT', `/${db}/doc`, { body: { endless: true } });
  const other = await freshDatabase();
  await store(other, { _id: 'doc' });
  expect((await endless).status).toBeGreaterThanOrEqual(400);
  expect((await request('GET', `/${db}/doc`)).status).toBe(404);
});

async function databaseWithRule(): Promise<string> {
  const db = await freshDatabase();
  await store(db, { _id: '_design/app', validate_doc_update: rule });
  return db;
}
