import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { installDesign, designState, guardState } from '../../src/store/design.js';
import { openStore } from '../../src/store/store.js';
import { viewNames } from '../../src/store/views.js';
import { freshDatabase, request, store as put, type Document } from '../support/couch.js';
import { connect } from './connect.js';
import { text } from './matchers.js';
import { connectAsUser } from './users.js';

const parts = [...viewNames, 'filters/definitions', 'filters/jobs', 'guard'];
const all = (done: string) => Object.fromEntries(parts.map((part) => [part, done]));

async function stored(database: string): Promise<Document & { readonly views: object }> {
  const { body } = await request<Document & { views: object }>('GET', `/${database}/_design/tws`);
  return body;
}

describe('installDesign', () => {
  test('stores everything once and nothing twice', async () => {
    const database = await freshDatabase();
    const connection = connect(database);
    expect(await designState(connection)).toBe('missing');
    expect(await installDesign(connection)).toEqual(all('inserted'));
    const { _rev } = await stored(database);
    expect(await installDesign(connection)).toEqual(all('unchanged'));
    expect((await stored(database))._rev).toBe(_rev);
    expect(await designState(connection)).toBe('current');
  });

  test('renews what is old and keeps what users added', async () => {
    const database = await freshDatabase();
    const connection = connect(database);
    await installDesign(connection);
    const { views, ...design } = await stored(database);
    const mine = { map: 'function (doc) { emit(doc._id); }' };
    const { due: _due, ...others } = views as Record<string, object>;
    const changed = { ...others, jobs: { map: 'function (doc) {}' }, mine };
    await put(database, { ...design, views: changed });
    expect(await designState(connection)).toBe('old');
    expect(await installDesign(connection)).toEqual({
      ...all('unchanged'),
      due: 'inserted',
      jobs: 'updated',
    });
    expect((await stored(database)).views).toEqual({ ...views, mine });
    expect(await openStore(connection).view('jobs')).toEqual([]);
  });

  test('several at once leave one complete document', async () => {
    const connection = connect(await freshDatabase());
    await Promise.all([1, 2, 3].map(() => installDesign(connection)));
    expect(await installDesign(connection)).toEqual(all('unchanged'));
  });

  test('leaves the guard out or removes it, and brings it back only when asked', async () => {
    const database = await freshDatabase();
    const connection = connect(database);
    const taskWithoutName = async (): Promise<number> =>
      (await request('POST', `/${database}`, { body: { type: 'task' } })).status;
    expect(await installDesign(connection, { guard: false })).toMatchObject({ guard: 'left_out' });
    expect(await installDesign(connection)).toMatchObject({ guard: 'left_out' });
    expect([await guardState(connection), await designState(connection)]).toEqual([
      'left_out',
      'current',
    ]);
    expect(await taskWithoutName()).toBe(201);
    expect(await installDesign(connection, { guard: true })).toMatchObject({ guard: 'inserted' });
    expect(await taskWithoutName()).toBe(403);
    expect(await installDesign(connection)).toMatchObject({ guard: 'unchanged' });
    expect(await installDesign(connection, { guard: false })).toMatchObject({ guard: 'removed' });
    expect(await taskWithoutName()).toBe(201);
    expect((await request('GET', `/${database}/_design/tws_guard`)).status).toBe(404);
  });

  test('a guard that somebody deleted by hand stays away', async () => {
    const database = await freshDatabase();
    const connection = connect(database);
    await installDesign(connection);
    const { body } = await request<Document>('GET', `/${database}/_design/tws_guard`);
    await request('DELETE', `/${database}/_design/tws_guard?rev=${String(body._rev)}`);
    expect(await installDesign(connection)).toMatchObject({ guard: 'left_out' });
  });

  test('renews a guard of another version and leaves views beside it', async () => {
    const database = await freshDatabase();
    const connection = connect(database);
    await installDesign(connection);
    const id = '_design/tws_guard';
    const { body } = await request<Document>('GET', `/${database}/${id}`);
    expect(Object.keys(body).sort()).toEqual(['_id', '_rev', 'language', 'validate_doc_update']);
    const views = { mine: { map: 'function (doc) { emit(1); }' } };
    await put(database, { ...body, _id: id, views, validate_doc_update: 'function () {}' });
    expect(await designState(connection)).toBe('old');
    expect(await installDesign(connection)).toMatchObject({ guard: 'updated' });
    expect(await installDesign(connection, { guard: false })).toMatchObject({ guard: 'removed' });
    const { body: left } = await request<Document>('GET', `/${database}/${id}`);
    expect(left).toMatchObject({ views });
    expect(left).not.toHaveProperty('validate_doc_update');
  });

  test.each([
    ['moves', undefined, 'inserted', 'installed'],
    ['removes', false, 'left_out', 'left_out'],
  ] as const)(
    '%s the guard that an earlier version kept in the design document',
    async (_verb, guard, done, state) => {
      const database = await freshDatabase();
      const connection = connect(database);
      await installDesign(connection, { guard: false });
      const older = await readFile(new URL('../fixtures/older-guard.txt', import.meta.url), 'utf8');
      await put(database, { ...(await stored(database)), validate_doc_update: older });
      expect(await designState(connection)).toBe('old');
      const said = await installDesign(connection, { guard });
      expect(said).toMatchObject({ guard: done, validate_doc_update: 'removed' });
      expect(await stored(database)).not.toHaveProperty('validate_doc_update');
      expect(await guardState(connection)).toBe(state);
      expect(await designState(connection)).toBe('current');
    },
  );

  test('keeps a validation that a user wrote into the design document', async () => {
    const database = await freshDatabase();
    const connection = connect(database);
    await installDesign(connection, { guard: false });
    const mine = 'function (newDoc) { if (newDoc.bad) throw { forbidden: "bad" }; }';
    await put(database, { ...(await stored(database)), validate_doc_update: mine });
    expect(await designState(connection)).toBe('current');
    for (const guard of [undefined, true, false]) {
      const said = await installDesign(connection, { guard });
      expect(said).toMatchObject({ validate_doc_update: 'kept' });
      expect(await stored(database)).toMatchObject({ validate_doc_update: mine });
    }
  });

  test('takes the name of another design document', async () => {
    const database = await freshDatabase();
    await installDesign({ ...connect(database), app: 'mine' });
    expect((await request('GET', `/${database}/_design/mine/_view/jobs`)).status).toBe(200);
  });

  // Shows M-03.
  test('tells who is no admin which right is missing', async () => {
    const database = await freshDatabase();
    const member = await connectAsUser(database);
    await request('PUT', `/${database}/_security`, {
      body: { members: { names: [member.user] }, admins: { names: [] } },
    });
    await expect(installDesign(member)).rejects.toMatchObject({
      code: 'couch_not_admin',
      message: text('refuses to store the design document'),
    });
  });
});

describe('filters', () => {
  test('bring definitions, or the jobs of a flow', async () => {
    const database = await freshDatabase();
    await installDesign(connect(database));
    await put(database, { _id: 't', type: 'task', name: 'fetch' });
    await put(database, { _id: 'j1', type: 'job', flow: 'daily' });
    await put(database, { _id: 'j2', type: 'job', flow: 'nightly' });
    const changes = async (query: string): Promise<readonly string[]> => {
      const { body } = await request('GET', `/${database}/_changes?filter=tws/${query}`);
      return (body.results ?? []).map(({ id }) => id).sort();
    };
    expect(await changes('definitions')).toEqual(['t']);
    expect(await changes('jobs')).toEqual(['j1', 'j2']);
    expect(await changes('jobs&flow=daily&owner=DEFAULT')).toEqual(['j1']);
  });
});
