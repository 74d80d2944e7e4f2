import { describe, expect, test } from 'vitest';
import { installDesign, designState } from '../../src/store/design.js';
import { openStore } from '../../src/store/store.js';
import { viewNames } from '../../src/store/views.js';
import { freshDatabase, request, store as put, type Document } from '../support/couch.js';
import { connect } from './connect.js';
import { text } from './matchers.js';
import { connectAsUser } from './users.js';

const parts = [...viewNames, 'filters/definitions', 'filters/jobs', 'validate_doc_update'];
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

  test('takes the name of another design document', async () => {
    const database = await freshDatabase();
    await installDesign({ ...connect(database), app: 'mine' });
    expect((await request('GET', `/${database}/_design/mine/_view/jobs`)).status).toBe(200);
  });

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
