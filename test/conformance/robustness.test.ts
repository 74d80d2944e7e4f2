import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterEach, expect } from 'vitest';
import { admin, basicAuth, couchUrl, freshDatabase, request, store } from '../support/couch.js';
import type { RequestOptions } from '../support/couch.js';
import { check } from './check.js';

const json = { 'content-type': 'application/json' };

afterEach(async () => {
  const { status, body } = await request('GET', '/');
  expect({ status, couchdb: body['couchdb'] }).toEqual({ status: 200, couchdb: 'Welcome' });
});

check('answers 405 to methods that a path does not have', async () => {
  const db = await freshDatabase();
  await store(db, { _id: '_design/app', views: { v: { map: 'function (doc) {}' } } });
  for (const [method, path, allowed] of [
    ['DELETE', '/', 'GET,HEAD'],
    ['POST', '/_all_dbs', 'GET,HEAD'],
    ['DELETE', '/_uuids', 'GET'],
    ['DELETE', '/_active_tasks', 'GET,HEAD'],
    ['GET', '/_replicate', 'POST'],
    ['PUT', '/_session', 'GET,HEAD,POST,DELETE'],
    ['GET', `/${db}/_bulk_docs`, 'POST'],
    ['GET', `/${db}/_bulk_get`, 'POST'],
    ['GET', `/${db}/_find`, 'POST'],
    ['GET', `/${db}/_compact`, 'POST'],
    ['GET', `/${db}/_ensure_full_commit`, 'POST'],
    ['GET', `/${db}/_revs_diff`, 'POST'],
    ['DELETE', `/${db}/_security`, 'PUT,GET'],
    ['POST', `/${db}/_revs_limit`, 'PUT,GET'],
    ['DELETE', `/${db}/_changes`, 'GET,POST,HEAD'],
    ['DELETE', `/${db}/_all_docs`, 'GET,HEAD,POST'],
    ['PUT', `/${db}/_design/app/_view/v`, 'GET,POST,HEAD'],
    ['PATCH', `/${db}`, 'DELETE,GET,HEAD,POST'],
    ['PATCH', `/${db}/doc`, 'DELETE,GET,HEAD,POST,PUT,COPY'],
  ] as const) {
    const { status, body, headers } = await request(method, path, { raw: '{}', headers: json });
    expect({ method, path, status }).toEqual({ method, path, status: 405 });
    expect(body).toMatchObject({ error: 'method_not_allowed' });
    expect({ path, allow: methods(headers.allow) }).toEqual({ path, allow: methods(allowed) });
  }
});

check('answers 400 to malformed JSON on every path that takes JSON', async () => {
  const db = await freshDatabase();
  await store(db, { _id: '_design/app', views: { v: { map: 'function (doc) {}' } } });
  for (const [method, path] of [
    ['POST', '_bulk_docs'],
    ['POST', '_bulk_get'],
    ['POST', '_all_docs'],
    ['POST', '_find'],
    ['POST', '_index'],
    ['POST', '_explain'],
    ['POST', '_revs_diff'],
    ['POST', '_changes?filter=_selector'],
    ['POST', '_design/app/_view/v'],
    ['PUT', '_security'],
    ['PUT', '_local/note'],
    ['PUT', '_design/other'],
    ['POST', ''],
  ] as const) {
    for (const raw of ['{"a"', '\u0000', '\ufeff{', '{"a": 01}', '[1,]']) {
      const { status, body } = await request(method, `/${db}/${path}`, { raw, headers: json });
      expect({ path, raw, status }).toEqual({ path, raw, status: 400 });
      expect({ path, raw, error: body.error }).toMatchObject({ path, raw, error: 'bad_request' });
    }
  }
});

check('answers 400 to JSON of the wrong shape', async () => {
  const db = await freshDatabase();
  for (const [method, path, body] of [
    ['POST', '_bulk_get', {}],
    ['POST', '_all_docs', { keys: 'x' }],
    ['POST', '_all_docs', []],
    ['POST', '_all_docs/queries', { queries: 1 }],
    ['POST', '_changes?filter=_doc_ids', { doc_ids: 'x' }],
    ['POST', '_changes?filter=_selector', { selector: 1 }],
    ['POST', '_find', []],
    ['POST', '_index', {}],
    ['PUT', 'doc', 'text'],
  ] as const) {
    const answer = await request(method, `/${db}/${path}`, { body });
    expect({ path, body, status: answer.status }).toEqual({ path, body, status: 400 });
  }
});

check('answers 400 to bad percent encodings', async () => {
  const db = await freshDatabase();
  for (const path of ['/%zz', `/${db}/%`, `/${db}/%E0%A`, `/${db}/_design/%g/_view/v`]) {
    const { status } = await request('GET', path);
    expect({ path, status }).toEqual({ path, status: 400 });
  }
});

check('does not take ids that are not UTF-8', async () => {
  const db = await freshDatabase();
  const { status } = await request('PUT', `/${db}/%ff%fe`, { body: {} });
  expect(status).toBeGreaterThanOrEqual(400);
  expect((await request('GET', `/${db}`)).body['doc_count']).toBe(0);
});

check('lets no name lead out of its folder', async () => {
  const db = await freshDatabase();
  for (const name of [
    '..',
    '%2e%2e',
    '..%2f..%2fetc',
    '%2fetc',
    'a%2f..%2f..%2fb',
    'a%00b',
    'a%5cb',
  ]) {
    for (const method of ['PUT', 'GET', 'DELETE']) {
      const { status } = await request(method, `/${name}`);
      expect({ method, name, refused: status >= 400 && status < 500 }).toEqual({
        method,
        name,
        refused: true,
      });
    }
  }
  for (const path of [
    '/_utils/../../../../../../etc/passwd',
    '/_utils/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
    '/_utils/..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd',
    '/_utils//etc/passwd',
    '/_utils/%00',
    `/${db}/../../../../../etc/passwd`,
    `/${db}/doc/..%2f..%2f..%2f..%2fetc%2fpasswd`,
  ]) {
    const { status, text } = await request('GET', path);
    expect({ path, refused: status >= 300 }).toEqual({ path, refused: true });
    expect(text).not.toContain('root:');
  }
});

check('stores documents and attachments whose names look like paths', async () => {
  const db = await freshDatabase();
  const id = encodeURIComponent('../../etc/passwd');
  const put = await request('PUT', `/${db}/${id}`, { body: { a: 1 } });
  expect(put.body).toMatchObject({ ok: true, id: '../../etc/passwd' });
  expect((await request('GET', `/${db}/${id}`)).body['a']).toBe(1);
});

check('keeps documents named like parts of the language', async () => {
  const db = await freshDatabase();
  for (const id of ['constructor', 'hasOwnProperty', 'toString', 'prototype']) {
    await store(db, { _id: id, mine: id });
    expect((await request('GET', `/${db}/${id}`)).body).toMatchObject({ _id: id, mine: id });
  }
  const missing = await request('GET', `/${db}/valueOf`);
  expect(missing.status).toBe(404);
  const view = await request('GET', `/${db}/_design/constructor/_view/constructor`);
  expect(view.status).toBe(404);
});

check('keeps a field named __proto__ as a field', async () => {
  const db = await freshDatabase();
  const raw = '{"a":{"__proto__":{"polluted":true}}}';
  expect((await request('PUT', `/${db}/doc`, { raw, headers: json })).status).toBe(201);
  expect((await request('GET', `/${db}/doc`)).text).toContain(
    '"a":{"__proto__":{"polluted":true}}',
  );
  expect((await request('GET', `/${db}`)).body).not.toHaveProperty('polluted');
});

check('refuses a body of 100 MB', async () => {
  const db = await freshDatabase();
  const raw = Buffer.alloc(100_000_000, 'x');
  raw.write('{"a":"');
  raw.write('"}', raw.length - 2);
  const status = await statusOrClosed('PUT', `/${db}/doc`, { raw, headers: json });
  expect([413, 'closed']).toContain(status);
  expect((await request('GET', `/${db}/doc`)).status).toBe(404);
});

check('survives deeply nested JSON', async () => {
  const db = await freshDatabase();
  const raw = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const { status } = await request('PUT', `/${db}/doc`, { raw, headers: json });
  expect([201, 400, 413]).toContain(status);
  expect((await request('GET', `/${db}`)).status).toBe(200);
});

check('survives garbage that calls itself multipart', async () => {
  const db = await freshDatabase();
  const garbage = randomBytes(10_000);
  for (const type of [
    'multipart/related; boundary="part"',
    'multipart/related',
    'multipart/form-data; boundary=part',
    'multipart/mixed; boundary=',
  ]) {
    for (const raw of [garbage, Buffer.from('--part\r\n\r\n{}'), Buffer.from('')]) {
      const headers = { 'content-type': type };
      const signal = AbortSignal.timeout(5000);
      const status = await statusOrClosed('PUT', `/${db}/doc`, { raw, headers, signal });
      expect({ type, stored: status === 201 }).toEqual({ type, stored: false });
    }
  }
});

check('survives a body that is not what its encoding says', async () => {
  const db = await freshDatabase();
  for (const encoding of ['gzip', 'bogus']) {
    const headers = { ...json, 'content-encoding': encoding };
    const { status } = await request('PUT', `/${db}/doc`, { raw: '{"a":1}', headers });
    expect({ encoding, refused: [400, 415].includes(status) }).toEqual({ encoding, refused: true });
  }
});

check('survives long paths and long headers', async () => {
  const db = await freshDatabase();
  const long = 'x'.repeat(200_000);
  for (const [path, headers] of [
    [`/${long}`, {}],
    [`/${db}/${long}`, {}],
    [`/${db}/_all_docs?key=${long}`, {}],
    [`/${db}`, { 'x-long': long }],
  ] as const) {
    const status = await statusOrClosed('GET', path, { headers });
    expect(status === 'closed' || status >= 400 || path === `/${db}`).toBe(true);
  }
});

check('survives bytes that are not HTTP', async () => {
  for (const bytes of [
    'garbage\r\n\r\n',
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    '\u0000\u0001\u0002',
  ]) {
    await speak(bytes);
  }
});

check('survives clients that leave in the middle of a request', async () => {
  const db = await freshDatabase();
  const { authorization } = basicAuth(admin());
  for (let n = 0; n < 20; n += 1) {
    await speak(
      `PUT /${db}/doc HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"half":',
    );
  }
  expect((await request('GET', `/${db}/doc`)).status).toBe(404);
});

async function statusOrClosed(
  method: string,
  path: string,
  options: RequestOptions,
): Promise<number | 'closed'> {
  try {
    return (await request(method, path, options)).status;
  } catch {
    return 'closed';
  }
}

/** Sends bytes over a bare connection and leaves when the server answers, closes, or is silent. */
function speak(bytes: string): Promise<void> {
  const { hostname, port } = new URL(couchUrl());
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(200);
    socket.on('timeout', () => socket.destroy());
    socket.on('data', () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
}

function methods(header: string | undefined): readonly string[] {
  return (header ?? '').split(/,\s*/).sort();
}
