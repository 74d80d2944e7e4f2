import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { freshDatabase, request, store } from '../support/couch.js';
import type { Answer, CouchBody } from '../support/couch.js';
import { check } from './check.js';

type Stubs = Record<string, Record<string, unknown>>;

check('stores an attachment and gives its bytes back', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'doc' });
  const raw = randomBytes(300_000);
  const put = await request('PUT', `/${db}/doc/data.bin?rev=${rev}`, {
    raw,
    headers: { 'content-type': 'application/octet-stream' },
  });
  expect(put.status).toBe(201);
  expect(put.body).toMatchObject({
    ok: true,
    id: 'doc',
    rev: expect.stringMatching(/^2-/) as string,
  });
  const { status, headers, bytes } = await request('GET', `/${db}/doc/data.bin`);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/octet-stream');
  expect(headers['content-length']).toBe('300000');
  expect(bytes.equals(raw)).toBe(true);
});

check('describes attachments in their document', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc', a: 1, _attachments: { 'a.txt': inline('hello') } });
  const { body } = await request('GET', `/${db}/doc`);
  expect(body).toMatchObject({ a: 1 });
  expect((body['_attachments'] as Stubs)['a.txt']).toEqual({
    content_type: 'text/plain',
    revpos: 1,
    digest: expect.stringMatching(/^md5-.{24}$/) as string,
    length: 5,
    stub: true,
  });
});

check('gives attachments with their document on request', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc', _attachments: { 'a.txt': inline('hello') } });
  const { body } = await request('GET', `/${db}/doc?attachments=true`);
  const attachment = (body['_attachments'] as Stubs)['a.txt'];
  expect(attachment).toMatchObject({ data: Buffer.from('hello').toString('base64') });
  expect(attachment).not.toHaveProperty('stub');
});

check('gives attachments in lists and feeds on request', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc', _attachments: { 'a.txt': inline('hello') } });
  const data = Buffer.from('hello').toString('base64');
  const doc = { _attachments: { 'a.txt': { data } } };
  const query = 'include_docs=true&attachments=true';
  const all = await request('GET', `/${db}/_all_docs?${query}`);
  expect(all.body.rows?.[0]?.doc).toMatchObject(doc);
  const changes = await request('GET', `/${db}/_changes?${query}`);
  expect(changes.body.results?.[0]?.doc).toMatchObject(doc);
});

check('makes the document for an attachment that comes first', async () => {
  const db = await freshDatabase();
  const put = await request('PUT', `/${db}/new/a.txt`, {
    raw: 'hello',
    headers: { 'content-type': 'text/plain' },
  });
  expect(put.status).toBe(201);
  expect((await request('GET', `/${db}/new`)).body._rev).toBe(put.body.rev);
});

check('answers 409 to an attachment without the revision', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  const { status } = await request('PUT', `/${db}/doc/a.txt`, { raw: 'hello' });
  expect(status).toBe(409);
});

check('keeps an attachment whose stub is sent back and drops the others', async () => {
  const db = await freshDatabase();
  const first = await store(db, {
    _id: 'doc',
    _attachments: { keep: inline('kept'), drop: inline('dropped') },
  });
  const { body } = await request('GET', `/${db}/doc`);
  const { keep } = body['_attachments'] as Stubs;
  await store(db, { _id: 'doc', _rev: first, a: 1, _attachments: { keep } });
  expect((await request('GET', `/${db}/doc/keep`)).text).toBe('kept');
  expect((await request('GET', `/${db}/doc/drop`)).status).toBe(404);
});

check('stores attachments in bulk, and keeps stubs beside what is new', async () => {
  const db = await freshDatabase();
  const bulk = (doc: object) => request('POST', `/${db}/_bulk_docs`, { body: { docs: [doc] } });
  const json = (value: unknown) => ({
    content_type: 'application/json',
    data: Buffer.from(JSON.stringify(value)).toString('base64'),
  });
  const large = { text: 'x'.repeat(9_000_000) };
  expect((await bulk({ _id: 'doc', _attachments: { a: json(large) } })).status).toBe(201);
  const { body } = await request('GET', `/${db}/doc`);
  const kept = body['_attachments'] as Stubs;
  const next = { _id: 'doc', _rev: body._rev, _attachments: { ...kept, b: json([1]) } };
  expect((await bulk(next)).body).toMatchObject([{ ok: true }]);
  expect(JSON.parse((await request('GET', `/${db}/doc/a`)).text)).toEqual(large);
  expect((await request('GET', `/${db}/doc/b`)).text).toBe('[1]');
  const { _attachments } = (await request('GET', `/${db}/doc`)).body;
  expect(_attachments).toMatchObject({
    a: { stub: true, revpos: 1 },
    b: { stub: true, revpos: 2 },
  });
});

check('deletes an attachment', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'doc', _attachments: { 'a.txt': inline('hello') } });
  const { status, body } = await request('DELETE', `/${db}/doc/a.txt?rev=${rev}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ ok: true, rev: expect.stringMatching(/^2-/) as string });
  expect((await request('GET', `/${db}/doc`)).body).not.toHaveProperty('_attachments');
});

check('answers 404 to an attachment that does not exist', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  const { status, body } = await request('GET', `/${db}/doc/none.txt`);
  expect(status).toBe(404);
  expect(body).toEqual({ error: 'not_found', reason: 'Document is missing attachment' });
  expect((await request('GET', `/${db}/none/none.txt`)).status).toBe(404);
});

check('answers HEAD and a read with the current ETag of an attachment', async () => {
  const db = await freshDatabase();
  await store(db, {
    _id: 'doc',
    _attachments: { 'a.bin': { ...inline('hello'), content_type: 'application/octet-stream' } },
  });
  const head = await request('HEAD', `/${db}/doc/a.bin`);
  expect(head.status).toBe(200);
  expect(head.headers['content-length']).toBe('5');
  const digest = createHash('md5').update('hello').digest('base64');
  expect(head.headers.etag).toBe(`"${digest}"`);
  const again = await request('GET', `/${db}/doc/a.bin`, {
    headers: { 'if-none-match': `"${digest}"` },
  });
  expect(again.status).toBe(304);
});

check('takes slashes, spaces and Unicode in the names of attachments', async () => {
  const db = await freshDatabase();
  let rev = await store(db, { _id: 'doc' });
  for (const name of ['folder/a.txt', 'with space.txt', 'ünïcödé.txt']) {
    const encoded = name.split('/').map(encodeURIComponent).join('/');
    const put = await request('PUT', `/${db}/doc/${encoded}?rev=${rev}`, {
      raw: name,
      headers: { 'content-type': 'text/plain' },
    });
    expect({ name, status: put.status }).toEqual({ name, status: 201 });
    rev = put.body.rev ?? '';
    expect((await request('GET', `/${db}/doc/${encoded}`)).text).toBe(name);
  }
  const { body } = await request('GET', `/${db}/doc`);
  expect(Object.keys(body['_attachments'] as Stubs).sort()).toEqual(
    ['folder/a.txt', 'with space.txt', 'ünïcödé.txt'].sort(),
  );
});

check('reads the attachment of an older revision', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'doc', _attachments: { 'a.txt': inline('hello') } });
  expect((await request('GET', `/${db}/doc/a.txt?rev=${rev}`)).text).toBe('hello');
  const missing = await request('GET', `/${db}/doc/a.txt?rev=1-${'a'.repeat(32)}`);
  expect(missing.status).toBe(404);
});

check('refuses attachment data that is not base64', async () => {
  const db = await freshDatabase();
  const { status } = await request('PUT', `/${db}/doc`, {
    body: { _attachments: { 'a.txt': { content_type: 'text/plain', data: '***' } } },
  });
  expect(status).toBeGreaterThanOrEqual(400);
  expect((await request('GET', `/${db}/doc`)).status).toBe(404);
});

check('answers 412 to a stub for an attachment that is not there', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('PUT', `/${db}/doc`, {
    body: { _attachments: { 'a.txt': { stub: true, content_type: 'text/plain', length: 5 } } },
  });
  expect(status).toBe(412);
  expect(body.error).toBe('missing_stub');
});

check('takes a document and its attachments as multipart/related', async () => {
  const db = await freshDatabase();
  const bytes = randomBytes(1000);
  const data = { follows: true, content_type: 'application/octet-stream', length: 1000 };
  const put = await putRelated(`/${db}/doc`, { a: 1, _attachments: { data } }, bytes);
  expect(put.status).toBe(201);
  expect((await request('GET', `/${db}/doc`)).body['a']).toBe(1);
  expect((await request('GET', `/${db}/doc/data`)).bytes.equals(bytes)).toBe(true);
});

check(
  'takes a revision as multipart/related by compare-and-set, other attachments kept',
  async () => {
    const db = await freshDatabase();
    const first = await store(db, { _id: 'doc', _attachments: { 'a.txt': inline('hello') } });
    const { _attachments: kept } = (await request('GET', `/${db}/doc`)).body as {
      _attachments: Stubs;
    };
    const bytes = randomBytes(2_000_000);
    const data = { follows: true, content_type: 'application/octet-stream', length: bytes.length };
    const doc = { _id: 'doc', _rev: first, n: 2, _attachments: { data, ...kept } };
    const put = await putRelated(`/${db}/doc`, doc, bytes);
    expect(put.status).toBe(201);
    const { body } = await request('GET', `/${db}/doc`);
    expect(body).toMatchObject({ _rev: put.body.rev, n: 2 });
    const digest = createHash('md5').update(bytes).digest('base64');
    expect((body['_attachments'] as Stubs)['data']).toEqual({
      ...{ content_type: 'application/octet-stream', length: bytes.length, revpos: 2, stub: true },
      digest: `md5-${digest}`,
    });
    expect((await request('GET', `/${db}/doc/data`)).bytes.equals(bytes)).toBe(true);
    expect((await request('GET', `/${db}/doc/a.txt`)).text).toBe('hello');
    const late = await putRelated(`/${db}/doc`, doc, bytes);
    expect(late.status).toBe(409);
    expect((await request('GET', `/${db}/doc`)).body._rev).toBe(put.body.rev);
  },
);

check('takes a compressed attachment, as a replicating CouchDB sends it', async () => {
  const db = await freshDatabase();
  const text = 'hello '.repeat(1000);
  const bytes = gzipSync(text);
  const doc = {
    _rev: `1-${'a'.repeat(32)}`,
    _revisions: { start: 1, ids: ['a'.repeat(32)] },
    _attachments: {
      'a.txt': {
        follows: true,
        content_type: 'text/plain',
        revpos: 1,
        digest: `md5-${createHash('md5').update(bytes).digest('base64')}`,
        length: text.length,
        encoding: 'gzip',
        encoded_length: bytes.length,
      },
    },
  };
  const put = await putRelated(`/${db}/doc?new_edits=false`, doc, bytes);
  expect(put.status).toBe(201);
  expect((await request('GET', `/${db}/doc/a.txt`)).text).toBe(text);
  const { body } = await request('GET', `/${db}/doc`);
  expect((body['_attachments'] as Stubs)['a.txt']).toMatchObject({ length: text.length });
});

function putRelated(path: string, doc: object, part: Buffer): Promise<Answer<CouchBody>> {
  const raw = Buffer.concat([
    Buffer.from('--part\r\nContent-Type: application/json\r\n\r\n'),
    Buffer.from(JSON.stringify(doc)),
    Buffer.from('\r\n--part\r\n\r\n'),
    part,
    Buffer.from('\r\n--part--'),
  ]);
  const headers = { 'content-type': 'multipart/related; boundary="part"' };
  return request('PUT', path, { raw, headers });
}

function inline(text: string): Record<string, string> {
  return { content_type: 'text/plain', data: Buffer.from(text).toString('base64') };
}
