import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import {
  couchUrl,
  freshDatabase,
  removeAfterwards,
  request,
  store,
  storeAll,
} from '../support/couch.js';
import type { Answer, CouchBody } from '../support/couch.js';
import { check } from './check.js';

check('copies documents, tombstones, conflicts and attachments to another database', async () => {
  const [source, target] = [await freshDatabase(), await freshDatabase()];
  const [gone = ''] = await storeAll(source, [{ _id: 'gone' }, { _id: 'doc', a: 1 }]);
  await request('DELETE', `/${source}/gone?rev=${gone}`);
  const [one, two] = [`1-${'a'.repeat(32)}`, `1-${'b'.repeat(32)}`];
  await request('POST', `/${source}/_bulk_docs`, {
    body: { new_edits: false, docs: [one, two].map((_rev) => ({ _id: 'twice', _rev })) },
  });
  const data = Buffer.from('hello').toString('base64');
  await store(source, {
    _id: 'attached',
    _attachments: { 'a.txt': { content_type: 'text/plain', data } },
  });
  const { status, body } = await replicate(source, target);
  expect(status).toBe(200);
  expect(body).toMatchObject({ ok: true, session_id: expect.any(String) as string });
  expect(historyOf(body)).toMatchObject({ docs_written: 5, doc_write_failures: 0 });
  for (const id of ['doc', 'twice', 'attached']) {
    const [before, after] = await Promise.all(
      [source, target].map((db) => request('GET', `/${db}/${id}?conflicts=true&revs=true`)),
    );
    expect(after?.body).toEqual(before?.body);
  }
  expect((await request('GET', `/${target}/gone`)).body.reason).toBe('deleted');
  expect((await request('GET', `/${target}/attached/a.txt`)).text).toBe('hello');
});

check('copies only what is new the next time', async () => {
  const [source, target] = [await freshDatabase(), await freshDatabase()];
  await storeAll(source, [{ _id: 'a' }, { _id: 'b' }]);
  const first = await replicate(source, target);
  expect(historyOf(first.body)).toMatchObject({ docs_written: 2 });
  const nothing = await replicate(source, target);
  expect(nothing.body).toMatchObject({ ok: true, no_changes: true });
  await store(source, { _id: 'c' });
  const second = await replicate(source, target);
  expect(historyOf(second.body)).toMatchObject({ start_last_seq: first.body['source_last_seq'] });
  expect(await idsOf(target)).toEqual(['a', 'b', 'c']);
});

check('merges what changed on both sides', async () => {
  const [one, two] = [await freshDatabase(), await freshDatabase()];
  await store(one, { _id: 'doc', from: 'one' });
  await store(two, { _id: 'doc', from: 'two' });
  await replicate(one, two);
  await replicate(two, one);
  const [left, right] = await Promise.all(
    [one, two].map((db) => request('GET', `/${db}/doc?conflicts=true`)),
  );
  expect(left?.body).toEqual(right?.body);
  expect(left?.body['_conflicts']).toHaveLength(1);
});

check('creates the target on request', async () => {
  const source = await freshDatabase();
  await store(source, { _id: 'doc' });
  const target = `tws-test-${randomUUID()}`;
  removeAfterwards(target);
  const { status } = await replicate(source, target, { create_target: true });
  expect(status).toBe(200);
  expect((await request('GET', `/${target}/doc`)).status).toBe(200);
});

check('copies the documents that are asked for', async () => {
  const [source, byId, bySelector] = [
    await freshDatabase(),
    await freshDatabase(),
    await freshDatabase(),
  ];
  await storeAll(source, [
    { _id: 'a', type: 'job' },
    { _id: 'b', type: 'flow' },
    { _id: 'c', type: 'job' },
  ]);
  await replicate(source, byId, { doc_ids: ['b'] });
  expect(await idsOf(byId)).toEqual(['b']);
  await replicate(source, bySelector, { selector: { type: 'job' } });
  expect(await idsOf(bySelector)).toEqual(['a', 'c']);
});

check('copies several hundred documents with long histories', async () => {
  const [source, target] = [await freshDatabase(), await freshDatabase()];
  const docs = Array.from({ length: 300 }, (_, n) => ({ _id: `doc-${n}`, n }));
  const first = await storeAll(source, docs);
  await storeAll(
    source,
    docs.map((doc, n) => ({ ...doc, _rev: first[n], again: true })),
  );
  const { body } = await replicate(source, target);
  expect(body.ok).toBe(true);
  const [before, after] = await Promise.all(
    [source, target].map((db) => request('GET', `/${db}/_all_docs`)),
  );
  expect(after?.body.rows).toEqual(before?.body.rows);
});

check('does not replicate from a database that does not exist', async () => {
  const target = await freshDatabase();
  const { status, body } = await replicate(`tws-test-${randomUUID()}`, target);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(body.error).toEqual(expect.any(String));
});

check('does not replicate for nobody', async () => {
  const [source, target] = [await freshDatabase(), await freshDatabase()];
  const { status } = await request('POST', '/_replicate', {
    auth: null,
    body: { source: urlOf(source), target: urlOf(target) },
  });
  expect(status).toBe(401);
});

function replicate(source: string, target: string, more: object = {}): Promise<Answer<CouchBody>> {
  return request('POST', '/_replicate', {
    body: { source: urlOf(source), target: urlOf(target), ...more },
  });
}

/** Endpoints are named by URLs: CouchDB 3 does not sign in for the bare name of a database. */
function urlOf(db: string): string {
  return `${couchUrl()}/${db}`;
}

function historyOf(body: CouchBody): unknown {
  return (body['history'] as readonly unknown[])[0];
}

async function idsOf(db: string): Promise<unknown> {
  return (await request('GET', `/${db}/_all_docs`)).body.rows?.map(({ id }) => id);
}
