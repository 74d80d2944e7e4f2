import { expect } from 'vitest';
import { freshDatabase, request } from '../support/couch.js';
import { check } from './check.js';

check('greets everybody with its name and version', async () => {
  const { status, body, headers } = await request('GET', '/', { auth: null });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    couchdb: 'Welcome',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
    vendor: { name: expect.any(String) as string },
    features: expect.any(Array) as string[],
  });
  expect(headers['content-type']).toMatch(/^application\/json/);
});

check('answers /_up without credentials', async () => {
  const { status, body } = await request('GET', '/_up', { auth: null });
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'ok' });
});

check('makes as many distinct uuids as are asked for', async () => {
  const { status, body } = await request<{ uuids: string[] }>('GET', '/_uuids?count=3');
  expect(status).toBe(200);
  expect(new Set(body.uuids).size).toBe(3);
  for (const uuid of body.uuids) expect(uuid).toMatch(/^[0-9a-f]{32}$/);
});

check('makes one uuid when no count is given', async () => {
  const { body } = await request<{ uuids: string[] }>('GET', '/_uuids');
  expect(body.uuids).toHaveLength(1);
});

check('refuses more uuids than it allows with 400', async () => {
  const { status, body } = await request('GET', '/_uuids?count=100001');
  expect(status).toBe(400);
  expect(body.error).toBe('bad_request');
});

check('lists the active tasks to an admin', async () => {
  const { status, body } = await request<unknown[]>('GET', '/_active_tasks');
  expect(status).toBe(200);
  expect(body).toBeInstanceOf(Array);
});

check('lists all databases in order of their names', async () => {
  const names = [await freshDatabase(), await freshDatabase()].sort();
  const { status, body } = await request<string[]>('GET', '/_all_dbs');
  expect(status).toBe(200);
  expect(body.filter((name) => names.includes(name))).toEqual(names);
});

check('limits, skips and reverses the list of databases', async () => {
  const [first = '', second = ''] = [
    await freshDatabase('tws-test-range'),
    await freshDatabase('tws-test-range'),
  ].sort();
  const range = `start_key="${first}"&end_key="${second}"`;
  const one = await request<string[]>('GET', `/_all_dbs?${encodeURI(range)}&limit=1`);
  expect(one.body).toEqual([first]);
  const rest = await request<string[]>('GET', `/_all_dbs?${encodeURI(range)}&skip=1`);
  expect(rest.body.at(-1)).toBe(second);
  expect(rest.body).not.toContain(first);
  const reversed = encodeURI(`start_key="${second}"&end_key="${first}"`);
  const last = await request<string[]>('GET', `/_all_dbs?${reversed}&descending=true&limit=1`);
  expect(last.body).toEqual([second]);
});

check('describes several databases in one request', async () => {
  const db = await freshDatabase();
  const { status, body } = await request<unknown[]>('POST', '/_dbs_info', {
    body: { keys: [db, 'tws-test-missing'] },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject([
    { key: db, info: { db_name: db, doc_count: 0 } },
    { key: 'tws-test-missing', error: 'not_found' },
  ]);
});

check('refuses /_dbs_info without keys with 400', async () => {
  const { status, body } = await request('POST', '/_dbs_info', { body: {} });
  expect(status).toBe(400);
  expect(body.error).toBe('bad_request');
});

check('names the nodes it consists of', async () => {
  const { status, body } = await request<Record<string, string[]>>('GET', '/_membership');
  expect(status).toBe(200);
  expect(body['all_nodes']?.length).toBeGreaterThan(0);
  expect(body['cluster_nodes']?.length).toBeGreaterThan(0);
});

check('shows its settings to an admin, by section and by key', async () => {
  const all = await request<Record<string, unknown>>('GET', '/_node/_local/_config');
  expect(all.status).toBe(200);
  expect(Object.keys(all.body)).toContain('chttpd');
  const section = await request<Record<string, unknown>>('GET', '/_node/_local/_config/chttpd');
  expect(section.status).toBe(200);
  expect(section.body).toEqual(all.body['chttpd']);
  const key = await request<string>('GET', '/_node/_local/_config/chttpd/port');
  expect(key.status).toBe(200);
  expect(key.body).toMatch(/^\d+$/);
  const missing = await request('GET', '/_node/_local/_config/chttpd/no_such_key');
  expect(missing.status).toBe(404);
  expect(missing.body).toMatchObject({ error: 'not_found', reason: 'unknown_config_value' });
});

check('names its own node', async () => {
  const { status, body } = await request<{ name: string }>('GET', '/_node/_local');
  expect(status).toBe(200);
  expect(body.name).toMatch(/@/);
});

check('answers 404 to an endpoint that does not exist', async () => {
  const { status, body } = await request('GET', '/_no_such_endpoint');
  expect(status).toBe(404);
  expect(body.error).toBe('not_found');
});

check('tells about created, changed and deleted databases in /_db_updates', async () => {
  await ensureGlobalChanges();
  const db = await freshDatabase();
  type Updates = { results: { db_name: string; type: string; seq: string }[]; last_seq: string };
  const updates = async (since?: string): Promise<Updates> => {
    const query = since === undefined ? '' : `?since=${encodeURIComponent(since)}`;
    const { status, body } = await request<Updates>('GET', `/_db_updates${query}`);
    expect(status).toBe(200);
    return body;
  };
  await expect
    .poll(async () => (await updates()).results)
    .toContainEqual(expect.objectContaining({ db_name: db, type: 'created' }));
  const { last_seq } = await updates();
  await request('DELETE', `/${db}`);
  await expect
    .poll(async () => (await updates(last_seq)).results)
    .toContainEqual(expect.objectContaining({ db_name: db, type: 'deleted' }));
});

check('wakes a longpoll on /_db_updates when a database is created', async () => {
  await ensureGlobalChanges();
  const waiting = request('GET', '/_db_updates?feed=longpoll&since=now&timeout=20000');
  await request('GET', '/_up');
  await freshDatabase();
  const { status, body } = await waiting;
  expect(status).toBe(200);
  expect(body.results?.[0]).toMatchObject({ db_name: expect.any(String) as string });
});

/** CouchDB answers `/_db_updates` only where this database exists; it may be there already. */
async function ensureGlobalChanges(): Promise<void> {
  await request('PUT', '/_global_changes');
}
