import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { freshDatabase, request, store } from '../support/couch.js';
import type { Credentials } from '../support/couch.js';
import { userDocument } from '../support/users.js';
import { check } from './check.js';

type User = Credentials & { readonly path: string; readonly role: string };

const users: User[] = [];
beforeAll(async () => {
  await request('PUT', '/_users');
});
afterAll(async () => {
  for (const { path } of users) {
    const { body } = await request('GET', path);
    if (body._rev !== undefined) await request('DELETE', `${path}?rev=${body._rev}`);
  }
});

check('keeps a new database to admins', async () => {
  const db = await freshDatabase();
  const user = await newUser();
  const { status, body } = await request('GET', `/${db}/_security`);
  expect(status).toBe(200);
  expect(body).toEqual({ admins: { roles: ['_admin'] }, members: { roles: ['_admin'] } });
  const refused = await request('GET', `/${db}/_all_docs`, { auth: user });
  expect(refused.status).toBe(403);
  expect(refused.body).toEqual({
    error: 'forbidden',
    reason: 'You are not allowed to access this db.',
  });
});

check('stores and gives back who may do what', async () => {
  const db = await freshDatabase();
  const security = {
    admins: { names: ['boss'], roles: ['bosses'] },
    members: { names: ['worker'], roles: ['workers'] },
  };
  const put = await request('PUT', `/${db}/_security`, { body: security });
  expect(put.status).toBe(200);
  expect(put.body).toEqual({ ok: true });
  await expect.poll(async () => (await request('GET', `/${db}/_security`)).body).toEqual(security);
});

check('refuses a security object whose lists are not lists', async () => {
  const db = await freshDatabase();
  const { status } = await request('PUT', `/${db}/_security`, {
    body: { members: { names: 'worker' } },
  });
  expect(status).toBeGreaterThanOrEqual(400);
});

check('stores a user without the password', async () => {
  const user = await newUser();
  const { status, body, text } = await request('GET', user.path);
  expect(status).toBe(200);
  expect(body).toMatchObject({ name: user.user, roles: [user.role], type: 'user' });
  expect(text).not.toContain(user.password);
  expect(body).not.toHaveProperty('password');
});

check('tells a user who they are', async () => {
  const user = await newUser();
  const { status, body } = await request('GET', '/_session', { auth: user });
  expect(status).toBe(200);
  expect(body).toMatchObject({ userCtx: { name: user.user, roles: [user.role] } });
});

check('signs a user in and refuses a wrong password', async () => {
  const user = await newUser();
  const good = await request('POST', '/_session', {
    auth: null,
    body: { name: user.user, password: user.password },
  });
  expect(good.status).toBe(200);
  expect(good.body).toEqual({ ok: true, name: user.user, roles: [user.role] });
  const cookie = good.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const session = await request('GET', '/_session', { auth: null, headers: { cookie } });
  expect(session.body).toMatchObject({ userCtx: { name: user.user } });
  const wrong = await request('GET', '/_session', { auth: { ...user, password: 'wrong' } });
  expect(wrong.status).toBe(401);
});

check('lets a member by name or by role read and write, and nobody else', async () => {
  const [byName, byRole, stranger] = [await newUser(), await newUser(), await newUser()];
  const db = await databaseFor({ names: [byName.user], roles: [byRole.role] });
  await store(db, { _id: 'doc' });
  for (const auth of [byName, byRole]) {
    expect((await request('GET', `/${db}/doc`, { auth })).status).toBe(200);
    expect((await request('POST', `/${db}`, { auth, body: {} })).status).toBe(201);
    expect((await request('GET', `/${db}/_changes`, { auth })).status).toBe(200);
  }
  expect((await request('GET', `/${db}/doc`, { auth: stranger })).status).toBe(403);
  expect((await request('GET', `/${db}/doc`, { auth: null })).status).toBe(401);
});

check('lets a member neither change design documents nor settings of a database', async () => {
  const member = await newUser();
  const db = await databaseFor({ names: [member.user], roles: [] });
  const security = await request('GET', `/${db}/_security`);
  for (const [method, path, body] of [
    ['PUT', '_design/app', {}],
    ['PUT', '_security', { admins: { names: [member.user], roles: [] } }],
    ['PUT', '_revs_limit', 7],
    ['POST', '_compact', {}],
    ['POST', '_view_cleanup', {}],
  ] as const) {
    const { status } = await request(method, `/${db}/${path}`, { auth: member, body });
    expect({ path, refused: status >= 400 }).toEqual({ path, refused: true });
  }
  expect((await request('GET', `/${db}/_design/app`)).status).toBe(404);
  expect((await request('GET', `/${db}/_security`)).body).toEqual(security.body);
  expect((await request<number>('GET', `/${db}/_revs_limit`)).body).not.toBe(7);
});

check('lets an admin of a database change its design documents', async () => {
  const boss = await newUser();
  const db = await databaseFor({ names: [], roles: ['none'] }, { names: [boss.user], roles: [] });
  const views = { v: { map: 'function (doc) { emit(doc._id); }' } };
  const put = await request('PUT', `/${db}/_design/app`, { auth: boss, body: { views } });
  expect(put.status).toBe(201);
});

check('lets a user neither create nor delete databases nor see the others', async () => {
  const user = await newUser();
  const db = await freshDatabase();
  for (const [method, path] of [
    ['PUT', `/tws-test-${randomUUID()}`],
    ['DELETE', `/${db}`],
    ['GET', '/_all_dbs'],
    ['GET', '/_node/_local/_config'],
    ['GET', '/_active_tasks'],
    ['GET', '/_users/_all_docs'],
  ] as const) {
    const { status } = await request(method, path, { auth: user });
    expect({ path, refused: [401, 403].includes(status) }).toEqual({ path, refused: true });
  }
  expect((await request('GET', `/${db}`)).status).toBe(200);
});

check('shows a user no other user’s record', async () => {
  const [me, other] = [await newUser(), await newUser()];
  const { status, text } = await request('GET', other.path, { auth: me });
  expect([401, 403, 404]).toContain(status);
  expect(text).not.toContain('derived_key');
});

check('lets a user not give themselves a role', async () => {
  const me = await newUser();
  const { body } = await request('GET', me.path);
  const promoted = { ...body, roles: ['_admin', 'boss'] };
  const { status } = await request('PUT', me.path, { auth: me, body: promoted });
  expect([401, 403]).toContain(status);
  expect((await request('GET', me.path)).body['roles']).toEqual([me.role]);
});

check('takes the new password, and no longer the old one, after a change', async () => {
  const me = await newUser();
  const { body } = await request('GET', me.path);
  const password = `new-${randomUUID()}`;
  expect((await request('PUT', me.path, { body: { ...body, password } })).status).toBe(201);
  const statusWith = async (auth: Credentials): Promise<number> =>
    (await request('GET', '/_session', { auth })).status;
  await expect.poll(() => statusWith({ ...me, password })).toBe(200);
  expect(await statusWith(me)).toBe(401);
});

check('refuses a user whose id and name differ', async () => {
  const { status } = await request('PUT', `/_users/org.couchdb.user:${randomUUID()}`, {
    body: { name: 'somebody', password: 'x', roles: [], type: 'user' },
  });
  expect(status).toBe(403);
});

async function newUser(): Promise<User> {
  const user = `tws-test-${randomUUID()}`;
  const role = `role-${randomUUID()}`;
  const password = `secret-${randomUUID()}`;
  const path = `/_users/org.couchdb.user:${user}`;
  const { status, text } = await request('PUT', path, {
    body: userDocument({ name: user, password }, [role]),
  });
  if (status !== 201 && status !== 202) throw new Error(`PUT ${path}: ${status} ${text}`);
  const made = { user, role, password, path };
  users.push(made);
  return made;
}

type Group = { readonly names: readonly string[]; readonly roles: readonly string[] };

async function databaseFor(
  members: Group,
  admins: Group = { names: [], roles: [] },
): Promise<string> {
  const db = await freshDatabase();
  await request('PUT', `/${db}/_security`, { body: { admins, members } });
  return db;
}
