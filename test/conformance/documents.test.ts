import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { freshDatabase, request, store } from '../support/couch.js';
import { check } from './check.js';

const revision = /^\d+-[0-9a-f]{32}$/;

check('stores a document and answers with its revision', async () => {
  const db = await freshDatabase();
  const { status, body, headers } = await request('PUT', `/${db}/doc`, { body: { a: 1 } });
  expect(status).toBe(201);
  expect(body).toEqual({ ok: true, id: 'doc', rev: expect.stringMatching(revision) as string });
  expect(body.rev).toMatch(/^1-/);
  expect(headers.etag).toBe(`"${body.rev}"`);
  expect(headers.location).toMatch(new RegExp(`/${db}/doc$`));
  const read = await request('GET', `/${db}/doc`);
  expect(read.status).toBe(200);
  expect(read.body).toEqual({ _id: 'doc', _rev: body.rev, a: 1 });
});

check('answers 409 to a write without the revision', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  const { status, body } = await request('PUT', `/${db}/doc`, { body: { a: 1 } });
  expect(status).toBe(409);
  expect(body).toEqual({ error: 'conflict', reason: 'Document update conflict.' });
});

check('answers 409 to a write with an old revision', async () => {
  const db = await freshDatabase();
  const first = await store(db, { _id: 'doc' });
  const second = await store(db, { _id: 'doc', _rev: first, a: 1 });
  expect(second).toMatch(/^2-/);
  const { status } = await request('PUT', `/${db}/doc`, { body: { _rev: first, a: 2 } });
  expect(status).toBe(409);
  expect((await request('GET', `/${db}/doc`)).body).toEqual({ _id: 'doc', _rev: second, a: 1 });
});

check('lets exactly one of many racing writers of a revision win, every time', async () => {
  const db = await freshDatabase();
  for (let round = 0; round < 20; round += 1) {
    const path = `/${db}/doc-${round}`;
    const rev = await store(db, { _id: `doc-${round}` });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, writer) =>
        request('PUT', path, { body: { _rev: rev, writer } }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    const writer = answers.findIndex(({ status }) => status === 201);
    const leaf = { _id: `doc-${round}`, _rev: answers[writer]?.body.rev, writer };
    expect((await request('GET', `${path}?conflicts=true`)).body).toEqual(leaf);
    expect((await request('GET', `${path}?open_revs=all`)).body).toEqual([{ ok: leaf }]);
  }
});

check('takes the revision from If-Match and from the query', async () => {
  const db = await freshDatabase();
  const first = await store(db, { _id: 'doc' });
  const byHeader = await request('PUT', `/${db}/doc`, {
    body: { by: 'header' },
    headers: { 'if-match': first },
  });
  expect(byHeader.status).toBe(201);
  const byQuery = await request('PUT', `/${db}/doc?rev=${byHeader.body.rev}`, {
    body: { by: 'query' },
  });
  expect(byQuery.status).toBe(201);
  const stale = await request('PUT', `/${db}/doc`, { body: {}, headers: { 'if-match': first } });
  expect(stale.status).toBe(409);
  const gone = await request('DELETE', `/${db}/doc`, {
    headers: { 'if-match': byQuery.body.rev ?? '' },
  });
  expect(gone.status).toBe(200);
});

check('answers 400 when the query and the body name different revisions', async () => {
  const db = await freshDatabase();
  const first = await store(db, { _id: 'doc' });
  const second = await store(db, { _id: 'doc', _rev: first });
  const { status, body } = await request('PUT', `/${db}/doc?rev=${first}`, {
    body: { _rev: second },
  });
  expect(status).toBe(400);
  expect(body.error).toBe('bad_request');
});

check('answers 400 to malformed JSON', async () => {
  const db = await freshDatabase();
  const json = { 'content-type': 'application/json' };
  for (const raw of ['{"a":', '{a:1}', 'nothing', '{"a":1}}']) {
    const { status, body } = await request('PUT', `/${db}/doc`, { raw, headers: json });
    expect({ raw, status }).toEqual({ raw, status: 400 });
    expect(body).toEqual({ error: 'bad_request', reason: 'invalid UTF-8 JSON' });
  }
});

check('answers 400 to a document that is not an object', async () => {
  const db = await freshDatabase();
  for (const body of [[1], 'text', 1, null, true]) {
    const answer = await request('PUT', `/${db}/doc`, { body });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: 'bad_request',
      reason: 'Document must be a JSON object',
    });
  }
});

check('makes an id for a posted document without one, and keeps a given one', async () => {
  const db = await freshDatabase();
  const made = await request('POST', `/${db}`, { body: { a: 1 } });
  expect(made.status).toBe(201);
  expect(made.body.id).toMatch(/^[0-9a-f]{32}$/);
  expect(made.headers.location).toMatch(new RegExp(`/${db}/${made.body.id}$`));
  const kept = await request('POST', `/${db}`, { body: { _id: 'mine' } });
  expect(kept.body.id).toBe('mine');
  expect((await request('POST', `/${db}`, { body: { _id: 'mine' } })).status).toBe(409);
});

check('answers 415 to a posted document that is not called JSON', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('POST', `/${db}`, {
    raw: '{}',
    headers: { 'content-type': 'text/plain' },
  });
  expect(status).toBe(415);
  expect(body).toEqual({
    error: 'bad_content_type',
    reason: 'Content-Type must be application/json',
  });
});

check('answers 304 to a read with the current ETag', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'doc' });
  const read = await request('GET', `/${db}/doc`);
  expect(read.headers.etag).toBe(`"${rev}"`);
  const headers = { 'if-none-match': `"${rev}"` };
  const again = await request('GET', `/${db}/doc`, { headers });
  expect(again.status).toBe(304);
  expect(again.text).toBe('');
  await store(db, { _id: 'doc', _rev: rev });
  expect((await request('GET', `/${db}/doc`, { headers })).status).toBe(200);
});

check('answers HEAD of a document with its revision', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'doc' });
  const { status, headers, text } = await request('HEAD', `/${db}/doc`);
  expect(status).toBe(200);
  expect(headers.etag).toBe(`"${rev}"`);
  expect(text).toBe('');
  expect((await request('HEAD', `/${db}/missing`)).status).toBe(404);
});

check('gives the same revision to the same content', async () => {
  const [one, two] = [await freshDatabase(), await freshDatabase()];
  const content = { _id: 'doc', a: [1, { b: null }], z: 'ü' };
  const first = await store(one, content);
  expect(await store(two, content)).toBe(first);
  expect(await store(two, { ...content, _id: 'other', a: 2 })).not.toBe(first);
});

check('refuses unknown fields that begin with an underscore with 400', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('PUT', `/${db}/doc`, { body: { _foo: 1 } });
  expect(status).toBe(400);
  expect(body).toEqual({ error: 'doc_validation', reason: 'Bad special document member: _foo' });
});

check('refuses ids that begin with an underscore with 400', async () => {
  const db = await freshDatabase();
  const put = await request('PUT', `/${db}/_own`, { body: {} });
  expect(put.status).toBe(400);
  expect(put.body.error).toBe('illegal_docid');
  const post = await request('POST', `/${db}`, { body: { _id: '_own' } });
  expect(post.status).toBe(400);
  expect(post.body.error).toBe('illegal_docid');
});

check('refuses a malformed revision with 400', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('PUT', `/${db}/doc`, { body: { _rev: 'abc' } });
  expect(status).toBe(400);
  expect(body).toEqual({ error: 'bad_request', reason: 'Invalid rev format' });
});

check('takes slashes, spaces and any Unicode in ids', async () => {
  const db = await freshDatabase();
  for (const id of [
    'a/b',
    'a b',
    'ünïcödé',
    '日本語',
    '🦆',
    'a+b',
    'a%2Fb',
    'a?b#c',
    'a:b',
    '"q"',
  ]) {
    const path = `/${db}/${encodeURIComponent(id)}`;
    const put = await request('PUT', path, { body: { id } });
    expect({ id, status: put.status, stored: put.body.id }).toEqual({
      id,
      status: 201,
      stored: id,
    });
    expect((await request('GET', path)).body).toMatchObject({ _id: id, id });
  }
});

check('gives numbers, texts and structures back as they came', async () => {
  const db = await freshDatabase();
  const value = {
    numbers: [0, -1, 1.5, 0.1, 1e21, 1e-7, 9007199254740991, -9007199254740991],
    texts: ['', 'ü', '🦆', '\u0000', '\u2028', '\\ " / \b \n \t', '</script>'],
    nothing: null,
    yes: true,
    '': 'empty key',
    ключ: { deep: [[[{}]], []] },
    constructor: 'no prototype',
  };
  await store(db, { _id: 'doc', value });
  expect((await request('GET', `/${db}/doc`)).body['value']).toEqual(value);
});

check('copies a document to a new id, and over a revision', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'doc', a: 1 });
  const made = await request('COPY', `/${db}/doc`, { headers: { destination: 'copy' } });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ ok: true, id: 'copy' });
  expect((await request('GET', `/${db}/copy`)).body).toMatchObject({ _id: 'copy', a: 1 });
  expect((await request('COPY', `/${db}/doc`, { headers: { destination: 'copy' } })).status).toBe(
    409,
  );
  await store(db, { _id: 'doc', _rev: rev, a: 2 });
  const destination = `copy?rev=${made.body.rev}`;
  expect((await request('COPY', `/${db}/doc`, { headers: { destination } })).status).toBe(201);
  expect((await request('GET', `/${db}/copy`)).body['a']).toBe(2);
});

check('takes a document of 7 MB', async () => {
  const db = await freshDatabase();
  const text = 'x'.repeat(7_000_000);
  await store(db, { _id: 'large', text });
  const { body } = await request('GET', `/${db}/large`);
  expect(body['text']).toBe(text);
});

check('refuses a document over 8 MB with 413', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('PUT', `/${db}/large`, {
    body: { text: 'x'.repeat(9_000_000) },
  });
  expect(status).toBe(413);
  expect(body.error).toBe('document_too_large');
});

check('takes a body that is compressed with gzip', async () => {
  const db = await freshDatabase();
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const raw = gzipSync(JSON.stringify({ a: 'compressed' }));
  expect((await request('PUT', `/${db}/doc`, { raw, headers })).status).toBe(201);
  expect((await request('GET', `/${db}/doc`)).body['a']).toBe('compressed');
});
