import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { installDesign } from '../../src/store/design.js';
import { openStore, type Store } from '../../src/store/store.js';
import { admin, freshDatabase, request, store as put } from '../support/couch.js';
import { withGuard } from '../support/guard.js';
import { connect, connectAsStranger } from './connect.js';
import { startProxy } from './tcp-proxy.js';
import { connectAsUser } from './users.js';

let database: string;
beforeAll(async () => {
  database = await freshDatabase();
  await installDesign(connect(database), { guard: withGuard });
});

test('getMany of nothing asks for nothing', async () => {
  const proxy = await startProxy(connect(database).url);
  expect(await openStore(connect(database, proxy.url)).getMany([])).toEqual(new Map());
  expect(proxy.accepted()).toBe(0);
});

test('brings rows of a view also when a user added a reduce', async () => {
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
