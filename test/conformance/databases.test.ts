import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { freshDatabase, removeAfterwards, request, store } from '../support/couch.js';
import { check } from './check.js';

check('creates a database once, then answers 412', async () => {
  const name = `tws-test-${randomUUID()}`;
  removeAfterwards(name);
  const first = await request('PUT', `/${name}?n=1`);
  expect([201, 202]).toContain(first.status);
  expect(first.body).toEqual({ ok: true });
  const second = await request('PUT', `/${name}?n=1`);
  expect(second.status).toBe(412);
  expect(second.body.error).toBe('file_exists');
});

check('refuses a database name that breaks the rules with 400', async () => {
  for (const name of ['Bad_Name', '1st', 'a b', 'a.b', '_own', 'a%3Fb']) {
    const { status, body } = await request('PUT', `/${name.replace(' ', '%20')}`);
    expect({ name, status }).toEqual({ name, status: 400 });
    expect(body.error).toBe('illegal_database_name');
    expect(body.reason).toContain('Only lowercase characters (a-z)');
  }
});

check('answers 404 to a database that does not exist', async () => {
  const { status, body } = await request('GET', `/tws-test-${randomUUID()}`);
  expect(status).toBe(404);
  expect(body).toEqual({ error: 'not_found', reason: 'Database does not exist.' });
});

check('does not create a database for a document', async () => {
  const name = `tws-test-${randomUUID()}`;
  const put = await request('PUT', `/${name}/doc`, { body: {} });
  expect(put.status).toBe(404);
  expect(put.body).toEqual({ error: 'not_found', reason: 'Database does not exist.' });
  expect((await request('GET', `/${name}`)).status).toBe(404);
});

check('tells the size, the counts and the sequence of a database', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'gone' });
  await store(db, { _id: 'here' });
  await request('DELETE', `/${db}/gone?rev=${rev}`);
  const { status, body } = await request('GET', `/${db}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    db_name: db,
    doc_count: 1,
    doc_del_count: 1,
    update_seq: expect.any(String) as string,
    compact_running: false,
    instance_start_time: expect.any(String) as string,
    disk_format_version: expect.any(Number) as number,
    sizes: {
      active: expect.any(Number) as number,
      external: expect.any(Number) as number,
      file: expect.any(Number) as number,
    },
    cluster: { q: expect.any(Number) as number, n: 1 },
    props: {},
  });
});

check('changes the sequence of a database with every write', async () => {
  const db = await freshDatabase();
  const before = (await request('GET', `/${db}`)).body.update_seq;
  await store(db, { _id: 'doc' });
  const after = (await request('GET', `/${db}`)).body.update_seq;
  expect(after).not.toBe(before);
});

check('answers HEAD of a database with its existence', async () => {
  const db = await freshDatabase();
  expect((await request('HEAD', `/${db}`)).status).toBe(200);
  expect((await request('HEAD', `/tws-test-${randomUUID()}`)).status).toBe(404);
});

check('removes a database', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('DELETE', `/${db}`);
  expect([200, 202]).toContain(status);
  expect(body).toEqual({ ok: true });
  await expect.poll(async () => (await request('GET', `/${db}`)).status).toBe(404);
  const listed = await request<string[]>('GET', '/_all_dbs');
  expect(listed.body).not.toContain(db);
  expect((await request('DELETE', `/${db}`)).status).toBe(404);
});

check('refuses to remove a database when a revision is given', async () => {
  const db = await freshDatabase();
  const { status, body } = await request('DELETE', `/${db}?rev=1-abc`);
  expect(status).toBe(400);
  expect(body.error).toBe('bad_request');
  expect((await request('GET', `/${db}`)).status).toBe(200);
});

check('starts empty when a removed database is created again', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  await request('PUT', `/${db}/_local/note`, { body: {} });
  await request('DELETE', `/${db}`);
  await expect.poll(async () => (await request('PUT', `/${db}?n=1`)).status).toBe(201);
  expect((await request('GET', `/${db}`)).body).toMatchObject({ doc_count: 0, doc_del_count: 0 });
  expect((await request('GET', `/${db}/doc`)).status).toBe(404);
  expect((await request('GET', `/${db}/_local/note`)).status).toBe(404);
  expect((await request('GET', `/${db}/_changes`)).body.results).toEqual([]);
});

check('takes every character in a name that the rules allow', async () => {
  const name = `tws-test-${randomUUID()}/a_b+c-d$e(f)/g`;
  removeAfterwards(name);
  const path = `/${encodeURIComponent(name)}`;
  expect([201, 202]).toContain((await request('PUT', `${path}?n=1`)).status);
  expect((await request('GET', path)).body['db_name']).toBe(name);
  expect((await request('PUT', `${path}/doc`, { body: { a: 1 } })).status).toBe(201);
  expect((await request('GET', `${path}/doc`)).body).toMatchObject({ _id: 'doc', a: 1 });
  const listed = await request<string[]>('GET', '/_all_dbs');
  expect(listed.body).toContain(name);
});

check(
  'creates a partitioned database',
  () => expectPartitioned(201),
  () => expectPartitioned(501),
);

async function expectPartitioned(expected: number): Promise<void> {
  const name = `tws-test-${randomUUID()}`;
  removeAfterwards(name);
  const { status, body } = await request('PUT', `/${name}?partitioned=true&n=1`);
  expect(status).toBe(expected);
  if (expected === 201) return;
  expect(body).toMatchObject({ error: 'not_implemented', reason: expect.any(String) as string });
  expect((await request('GET', `/${name}`)).status).toBe(404);
}
