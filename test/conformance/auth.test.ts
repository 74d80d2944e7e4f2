import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { admin, freshDatabase, request, store } from '../support/couch.js';
import { check } from './check.js';

check('tells who is signed in with a name and a password', async () => {
  const { status, body } = await request('GET', '/_session');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ok: true,
    userCtx: { name: admin().user, roles: ['_admin'] },
    info: { authenticated: 'default' },
  });
});

check('tells that nobody is signed in', async () => {
  const { status, body } = await request('GET', '/_session', { auth: null });
  expect(status).toBe(200);
  expect(body).toMatchObject({ ok: true, userCtx: { name: null, roles: [] } });
});

check('answers 401 to a database request without credentials', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('GET', `/${db}`, { auth: null });
  expect(status).toBe(401);
  expect(body).toEqual({
    error: 'unauthorized',
    reason: 'You are not authorized to access this db.',
  });
});

check('answers 401 to a wrong password', async () => {
  const auth = { user: `nobody-${randomUUID()}`, password: 'wrong' };
  const { status, body } = await request('GET', '/_all_dbs', { auth });
  expect(status).toBe(401);
  expect(body).toEqual({ error: 'unauthorized', reason: 'Name or password is incorrect.' });
});

check('answers 400 to an Authorization header that is not base64', async () => {
  const { status, body } = await request('GET', '/_all_dbs', {
    auth: null,
    headers: { authorization: 'Basic %%%' },
  });
  expect(status).toBe(400);
  expect(body.error).toBe('bad_request');
});

check('gives a cookie for a name and a password, and takes it back', async () => {
  const db = await freshDatabase();
  const { cookie, header } = await signIn('json');
  for (const part of [/; HttpOnly/i, /; Path=\/(;|$)/i, /; Expires=/i, /; Max-Age=\d+/i]) {
    expect(header).toMatch(part);
  }
  const read = await request('GET', `/${db}`, { auth: null, headers: { cookie } });
  expect(read.status).toBe(200);
  const session = await request('GET', '/_session', { auth: null, headers: { cookie } });
  expect(session.body).toMatchObject({
    userCtx: { name: admin().user, roles: ['_admin'] },
    info: { authenticated: 'cookie' },
  });
  const out = await request('DELETE', '/_session', { auth: null, headers: { cookie } });
  expect(out.status).toBe(200);
  expect(out.headers['set-cookie']?.[0]).toMatch(/^AuthSession=;/);
});

check('gives a cookie for a posted form', async () => {
  const { cookie } = await signIn('form');
  expect(cookie).toMatch(/^AuthSession=.+/);
});

check('lets a cookie write', async () => {
  const db = await freshDatabase();
  const { cookie } = await signIn('json');
  const { status } = await request('PUT', `/${db}/doc`, {
    auth: null,
    headers: { cookie },
    body: { a: 1 },
  });
  expect(status).toBe(201);
});

check('refuses a cookie that somebody changed', async () => {
  const db = await freshDatabase();
  const forged = Buffer.from(`${admin().user}:FFFFFFFF:forged`).toString('base64url');
  const headers = { cookie: `AuthSession=${forged}` };
  const { status } = await request('GET', `/${db}`, { auth: null, headers });
  expect([400, 401, 403]).toContain(status);
});

check('answers 401 to a sign-in with a wrong password', async () => {
  const { status, body, headers } = await request('POST', '/_session', {
    auth: null,
    body: { name: `nobody-${randomUUID()}`, password: 'wrong' },
  });
  expect(status).toBe(401);
  expect(body.error).toBe('unauthorized');
  expect(headers['set-cookie']?.[0] ?? 'AuthSession=;').toMatch(/^AuthSession=;/);
});

check('lets nobody create or delete a database without credentials', async () => {
  const name = `tws-test-${randomUUID()}`;
  const create = await request('PUT', `/${name}`, { auth: null });
  expect(create.status).toBe(401);
  expect((await request('GET', `/${name}`)).status).toBe(404);
  const db = await freshDatabase();
  expect((await request('DELETE', `/${db}`, { auth: null })).status).toBe(401);
  expect((await request('GET', `/${db}`)).status).toBe(200);
});

check('lets nobody read the server’s internals without credentials', async () => {
  for (const path of [
    '/_all_dbs',
    '/_active_tasks',
    '/_membership',
    '/_users/_all_docs',
    '/_users/_changes',
    '/_node/_local/_config',
    '/_node/_local/_stats',
    '/_config',
    '/_log',
  ]) {
    const { status, text } = await request('GET', path, { auth: null });
    expect({ path, status }).toEqual({ path, status: 401 });
    expect(text).toContain('unauthorized');
  }
});

check('lets nobody read or write documents without credentials', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc', secret: 'yes' });
  for (const [method, path, body] of [
    ['GET', '/doc'],
    ['HEAD', '/doc'],
    ['GET', '/_all_docs'],
    ['GET', '/_changes'],
    ['GET', '/_changes?feed=continuous&timeout=100'],
    ['GET', '/_security'],
    ['GET', '/_local_docs'],
    ['PUT', '/other', {}],
    ['POST', '', {}],
    ['POST', '/_bulk_docs', { docs: [{}] }],
    ['POST', '/_find', { selector: {} }],
    ['PUT', '/_local/x', {}],
    ['PUT', '/_security', {}],
    ['POST', '/_compact', {}],
  ] as const) {
    const { status, text } = await request(method, `/${db}${path}`, { auth: null, body });
    expect({ method, path, status }).toEqual({ method, path, status: 401 });
    expect(text).not.toContain('secret');
  }
});

async function signIn(kind: 'json' | 'form'): Promise<{ cookie: string; header: string }> {
  const { user, password } = admin();
  const form = new URLSearchParams({ name: user, password }).toString();
  const { status, body, headers } = await request('POST', '/_session', {
    auth: null,
    ...(kind === 'json'
      ? { body: { name: user, password } }
      : { raw: form, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ ok: true, roles: ['_admin'] });
  const header = headers['set-cookie']?.[0] ?? '';
  return { cookie: header.split(';')[0] ?? '', header };
}
