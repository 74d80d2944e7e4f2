import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { installDesign } from '../../src/store/design.js';
import { openStore, type Store } from '../../src/store/store.js';
import { admin, freshDatabase, request, store as put, storeAll } from '../support/couch.js';
import { withGuard } from '../support/guard.js';
import { connect, connectAsStranger } from './connect.js';
import { startProxy } from './tcp-proxy.js';
import { connectAsUser } from './users.js';
import { text } from './matchers.js';

let database: string;
let store: Store;
beforeAll(async () => {
  database = await freshDatabase();
  await installDesign(connect(database), { guard: withGuard });
  store = openStore(connect(database));
});

describe('get', () => {
  test.each(['plain', 'with/slash', 'with?mark&more=#1', 'my_local/x', 'ünï ↯', '100%', '..', '.'])(
    'reads the document %j',
    async (id) => {
      expect(await store.write({ _id: id, n: 1 })).toMatchObject({ kind: 'written' });
      expect(await store.get(id)).toMatchObject({ _id: id, n: 1 });
    },
  );

  test('reads the design document', async () => {
    expect(await store.get('_design/tws')).toMatchObject({ language: 'javascript' });
  });

  test.each(['nothing', '', '_all_docs', '_changes'])('finds no document %j', async (id) => {
    expect(await store.get(id)).toBeUndefined();
  });
});

describe('rangePages', () => {
  test('reads all documents whose ids begin so, each once, page by page', async () => {
    const ids = Array.from({ length: 1_001 }, (_, i) => `page:${String(i).padStart(4, '0')}`);
    await storeAll(
      database,
      [...ids, 'pagf', 'page'].map((_id) => ({ _id })),
    );
    const found: string[] = [];
    for await (const { _id } of store.rangePages('page:')) found.push(_id);
    expect(found).toEqual(ids);
  });
});

describe('isDeleted', () => {
  test('tells what was deleted from what never was, and from what is there', async () => {
    await store.write({ _id: 'alive' });
    const written = await store.write({ _id: 'dead' });
    if (written.kind !== 'written') throw new Error(written.kind);
    await store.remove('dead', written.rev);
    const ids = ['alive', 'dead', 'never', '', '_all_docs'];
    const told = await Promise.all(ids.map((id) => store.isDeleted(id)));
    expect(told).toEqual([false, true, false, false, false]);
  });
});

describe('leaves', () => {
  test('are all revisions on which nobody has written, but for deleted ones', async () => {
    const first = await put(database, { _id: 'forked', n: 1 });
    const graft = (hash: string, more: object) => ({
      ...{ _id: 'forked', _rev: `2-${hash}`, ...more },
      _revisions: { start: 2, ids: [hash, first.slice(2)] },
    });
    const docs = [graft('a', { n: 2 }), graft('b', { n: 3 }), graft('c', { _deleted: true })];
    await request('POST', `/${database}/_bulk_docs`, { body: { docs, new_edits: false } });
    const leaves = await store.leaves('forked', 3);
    expect([...leaves].sort((a, b) => (a._rev < b._rev ? -1 : 1))).toEqual([
      { _id: 'forked', _rev: '2-a', n: 2 },
      { _id: 'forked', _rev: '2-b', n: 3 },
    ]);
  });

  test.each(['nothing', '', '_all_docs'])('of %j are none', async (id) => {
    expect(await store.leaves(id, 1)).toEqual([]);
  });

  test.each(['with/slash?&#', '..'])('are read of the document %j', async (id) => {
    await store.write({ _id: id, n: 1 });
    expect(await store.leaves(id, 1)).toMatchObject([{ _id: id, n: 1 }]);
  });
});

describe('getMany', () => {
  test('brings those that exist', async () => {
    await storeAll(database, [{ _id: 'm1' }, { _id: 'm2' }]);
    const rev = await put(database, { _id: 'm3' });
    await store.remove('m3', rev);
    const found = await store.getMany(['m2', 'm3', 'missing', 'm1', 'm1']);
    expect([...found.keys()]).toEqual(['m2', 'm1']);
    expect(found.get('m1')).toMatchObject({ _id: 'm1', _rev: text(/^1-/) });
  });

  test('of nothing asks for nothing', async () => {
    const proxy = await startProxy(connect(database).url);
    expect(await openStore(connect(database, proxy.url)).getMany([])).toEqual(new Map());
    expect(proxy.accepted()).toBe(0);
  });

  test('brings more than fit into one request', async () => {
    const docs = Array.from({ length: 2_500 }, (_, i) => ({ _id: `lot-${i}` }));
    await storeAll(database, docs);
    expect((await store.getMany(docs.map(({ _id }) => _id))).size).toBe(2_500);
  });
});

describe('info', () => {
  test('tells the position, the number of documents and of copies', async () => {
    const name = await freshDatabase();
    const own = openStore(connect(name));
    const empty = await own.info();
    expect(empty).toMatchObject({ documents: 0, copies: 1, updateSeq: text() });
    await put(name, { _id: 'a' });
    const { documents, updateSeq } = await own.info();
    expect(documents).toBe(1);
    expect(updateSeq).not.toBe(empty.updateSeq);
  });
});

describe('view', () => {
  const final = { state: '$$complete', steps: [], run: 1 };
  beforeAll(async () => {
    await storeAll(database, [
      { _id: 't1', type: 'task', name: 'fetch' },
      { _id: 't2', type: 'task', name: 'fetch', owner: 'me', plugin: 'http' },
      { _id: 'f1', type: 'flow', name: 'daily', owner: 'me', tasks: ['fetch'] },
      { _id: 'j1', type: 'job', flow: 'daily', owner: 'me' },
      { _id: 'j2', type: 'job', flow: 'daily', exec_after: '2030-01-01T00:00:00Z' },
      { _id: 'j3', type: 'job', tasks: ['fetch'], parent: { job: 'j1', step: 'a' } },
      { _id: 'j4', type: 'job', flow: 'daily', ...final, exit: 0, end: 10 },
      { _id: 'j5', type: 'job', flow: 'daily', ...final, exit: 2, end: 20, failure: { name: 'X' } },
      { _id: 'j6', type: 'job', flow: 'daily', ...final, exit: 1, end: 30 },
      { _id: 'j7', type: 'job', flow: 'nightly', state: 'fetch-0', steps: [], next_due: 99 },
    ]);
  });

  // Shows A-05, L-08.
  test('tasks finds the one of an owner and the one of all', async () => {
    const rows = await store.view('tasks', { keys: ['fetch::me', 'fetch::DEFAULT', 'x::DEFAULT'] });
    expect(rows).toEqual([
      { id: 't2', key: 'fetch::me', value: 'http' },
      { id: 't1', key: 'fetch::DEFAULT', value: 'fetch' },
    ]);
  });

  test('flows brings documents when asked', async () => {
    const [row] = await store.view('flows', { key: 'daily::me', includeDocs: true });
    expect(row).toMatchObject({ id: 'f1', value: true, doc: { _id: 'f1', tasks: ['fetch'] } });
  });

  // Shows L-08.
  test('jobs has every job once, by flow and owner', async () => {
    const rows = await store.view('jobs');
    expect(rows.map(({ id }) => id).sort()).toEqual(['j1', 'j2', 'j3', 'j4', 'j5', 'j6', 'j7']);
    const own = await store.view('jobs', { key: 'daily::me' });
    expect(own).toEqual([{ id: 'j1', key: 'daily::me', value: { state: '', exit: null } }]);
  });

  test('unfinished has the others by state', async () => {
    const rows = await store.view('unfinished');
    expect(rows.map(({ id, key }) => [id, key[0]])).toEqual([
      ['j1', ''],
      ['j2', ''],
      ['j3', ''],
      ['j7', 'fetch-0'],
    ]);
  });

  test('due is ordered by time and takes a range', async () => {
    expect((await store.view('due')).map(({ id }) => id)).toEqual(['j7', 'j2']);
    expect((await store.view('due', { endKey: 100 })).map(({ key }) => key)).toEqual([99]);
    const later = await store.view('due', { startKey: 99, descending: false, skip: 1, limit: 5 });
    expect(later.map(({ key }) => key)).toEqual([Date.parse('2030-01-01T00:00:00Z')]);
  });

  test('failed is ordered by flow and end', async () => {
    const query = { startKey: ['daily', {}], endKey: ['daily'], descending: true, limit: 1 };
    expect(await store.view('failed', query)).toEqual([
      { id: 'j6', key: ['daily', 30], value: { exit: 1, failure: null } },
    ]);
  });

  // Shows B-11.
  test('children are found by their parent', async () => {
    expect((await store.view('children', { key: 'j1' })).map(({ id }) => id)).toEqual(['j3']);
  });

  test('pages by key and id', async () => {
    const page = { startKey: [''], startKeyDocId: 'j2', limit: 1 };
    expect((await store.view('unfinished', page)).map(({ id }) => id)).toEqual(['j2']);
  });

  test('brings rows also when a user added a reduce', async () => {
    const name = await freshDatabase();
    await installDesign(connect(name), { guard: withGuard });
    const own = openStore(connect(name));
    const { views, ...design } = (await own.get('_design/tws')) as { views?: object } & Record<
      string,
      unknown
    >;
    const jobs = { ...(views as Record<string, object>)['jobs'], reduce: '_count' };
    const body = { ...design, views: { ...views, jobs } };
    expect((await request('PUT', `/${name}/_design/tws`, { body })).status).toBe(201);
    await put(name, { _id: 'j', type: 'job', flow: 'daily' });
    expect((await own.view('jobs')).map(({ id }) => id)).toEqual(['j']);
    expect(await own.view('jobs', { group: true })).toMatchObject([{ value: 1 }]);
  });
});

describe('a problem', () => {
  const read = (url: string, over: object = {}) =>
    openStore({ ...connect(database, url), ...over });

  test('tells that nobody answers', async () => {
    const proxy = await startProxy(connect(database).url);
    await proxy.listen(false);
    const message = `CouchDB at ${proxy.url} does not answer (connection refused).`;
    for (const ask of [
      (own: Store) => own.info(),
      (own: Store) => own.get('a'),
      (own: Store) => own.getMany(['a']),
      (own: Store) => own.view('jobs'),
    ]) {
      await expect(ask(read(proxy.url))).rejects.toMatchObject({
        code: 'couch_unreachable',
        message,
      });
    }
  });

  test('tells that the server has another address', async () => {
    await expect(read('http://nowhere.invalid:5984').info()).rejects.toThrow(
      /^CouchDB at http:\/\/nowhere\.invalid:5984 does not answer \(/,
    );
  });

  test('never shows credentials', async () => {
    const proxy = await startProxy(connect(database).url);
    await proxy.listen(false);
    const url = proxy.url.replace('//', '//joe:secret-word@');
    const error: unknown = await read(url, { password: 'secret-word' })
      .info()
      .catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error) + String(error)).not.toContain('secret-word');
  });

  test('tells a wrong password', async () => {
    const { url } = connect(database);
    await expect(openStore(connectAsStranger(database)).get('a')).rejects.toMatchObject({
      code: 'couch_unauthorized',
      message: `CouchDB at ${url} refuses the name or password.`,
    });
  });

  test('tells a missing database, for a document as well', async () => {
    const { url } = connect(database);
    for (const ask of [(own: Store) => own.get('a'), (own: Store) => own.view('jobs')]) {
      await expect(ask(read(url, { database: 'tws-missing' }))).rejects.toMatchObject({
        code: 'database_missing',
        message: `There is no database "tws-missing" at ${url}.`,
      });
    }
  });

  test('tells a missing view', async () => {
    const { url } = connect(database);
    await expect(read(url, { app: 'other' }).view('jobs')).rejects.toMatchObject({
      code: 'view_missing',
      message: `Database "${database}" has no view "jobs" in _design/other.`,
    });
  });

  test('tells an answer that broke off', async () => {
    await put(database, { _id: 'long', text: 'x'.repeat(100_000) });
    const proxy = await startProxy(connect(database).url);
    proxy.cutAfter(10_000);
    await expect(read(proxy.url).get('long')).rejects.toMatchObject({ code: 'couch_unreachable' });
  });

  test.each(['text/html', 'application/octet-stream', 'application/json'])(
    'tells that %s is not the answer of a CouchDB',
    async (type) => {
      const server = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': type }).end('<h1>Sign in</h1>');
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      onTestFinished(() => void server.close());
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const cause = 'the answer is not the JSON of a CouchDB';
      await expect(read(url).get('a')).rejects.toThrow(cause);
      await expect(read(url).view('jobs')).rejects.toThrow(cause);
      expect(await read(url).write({ _id: 'a' })).toMatchObject({ kind: 'unknown' });
    },
  );

  test('a connection that died while it was idle is none', async () => {
    const proxy = await startProxy(connect(database).url);
    const own = read(proxy.url);
    await own.info();
    proxy.cut();
    expect(await own.info()).toMatchObject({ copies: 1 });
  });

  test('tells who is not a member', async () => {
    const user = await connectAsUser(database);
    await request('PUT', `/${database}/_security`, {
      body: { members: { names: [admin().user] }, admins: { names: [admin().user] } },
    });
    await expect(openStore(user).info()).rejects.toMatchObject({
      code: 'couch_forbidden',
    });
  });
});
