import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Change } from '../../src/store/change.js';
import { openStore, type Store } from '../../src/store/store.js';
import {
  admin,
  couchUrl,
  freshDatabase,
  removeAfterwards,
  request,
  store as put,
  storeAll,
} from '../support/couch.js';
import { connect } from './connect.js';
import { follow } from './follower.js';
import { startProxy } from './tcp-proxy.js';

let database: string;
let store: Store;
beforeEach(async () => {
  database = await freshDatabase();
  store = openStore(connect(database));
});

const many = (count: number, size = 0) =>
  Array.from({ length: count }, (_, i) => ({ _id: `doc-${i}`, text: 'x'.repeat(size) }));

describe('follow', () => {
  test('begins after the position it is given', async () => {
    await storeAll(database, many(20));
    const { updateSeq } = await store.info();
    const follower = follow(store, { since: updateSeq });
    await follower.state('following');
    await put(database, { _id: 'later' });
    await follower.id('later');
    expect(follower.ids()).toEqual(['later']);
  });

  test('ends at once when it is told to, also while it waits to try again', async () => {
    const quiet = follow(store);
    await quiet.state('following');
    const began = performance.now();
    await quiet.stop();
    const lost = follow(openStore(connect(`${database}-missing`)), {
      backoff: { firstMs: 60_000, maxMs: 60_000, refusedMs: 60_000 },
    });
    await lost.state('lost');
    await lost.stop();
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  test('ends without a request when it was told to before it began', async () => {
    const proxy = await startProxy(connect(database).url);
    const far = openStore(connect(database, proxy.url));
    const feed = far.follow({ since: '0', signal: AbortSignal.abort() });
    for await (const change of feed) throw new Error(`Unexpected change ${change.id}`);
    expect(proxy.accepted()).toBe(0);
  });

  test('closes its connection when the consumer leaves the loop', async () => {
    await put(database, { _id: 'a' });
    const proxy = await startProxy(connect(database).url);
    const far = openStore(connect(database, proxy.url));
    const { signal } = new AbortController();
    for await (const change of far.follow({ since: '0', signal })) {
      expect(change.id).toBe('a');
      break;
    }
    const passed = proxy.passed();
    await put(database, { _id: 'b' });
    await put(database, { _id: 'c' });
    expect(proxy.passed()).toBe(passed);
  });
});

describe('a connection that breaks', () => {
  test('T3: is made again, from the last change on', async () => {
    const proxy = await startProxy(connect(database).url);
    const follower = follow(openStore(connect(database, proxy.url)));
    await storeAll(database, many(50));
    await follower.id('doc-49');
    proxy.cut();
    await follower.state('lost: connection broken');
    await put(database, { _id: 'missed' });
    await follower.id('missed');
    expect(follower.states).toEqual(['following', 'lost: connection broken', 'following']);
    // Shards interleave: others may come after the last one that was written.
    await expect.poll(() => new Set(follower.ids()).size).toBe(51);
    // A cluster may repeat what a shard told last, and even all of one shard, but does not begin anew.
    expect(follower.ids().length).toBeLessThan(100);
  });

  test('in the middle of a line loses nothing', async () => {
    await storeAll(database, many(40, 3_000));
    const proxy = await startProxy(connect(database).url);
    proxy.cutAfter(50_000);
    const follower = follow(openStore(connect(database, proxy.url)));
    await follower.state('lost: connection broken');
    expect(follower.changes.length).toBeLessThan(40);
    await expect.poll(() => new Set(follower.ids()).size).toBe(40);
    for (const { doc } of follower.changes) expect(doc?.['text']).toHaveLength(3_000);
  });

  test('that falls silent is given up after three heartbeats', async () => {
    const proxy = await startProxy(connect(database).url);
    const follower = follow(openStore(connect(database, proxy.url)), { heartbeatMs: 200 });
    await follower.state('following');
    proxy.silence(true);
    await follower.state('lost: nothing heard for 0.6 s');
    proxy.silence(false);
    await follower.state('following', 2);
  });

  test('T4: is told once, however often it is tried', async () => {
    const proxy = await startProxy(connect(database).url);
    const follower = follow(openStore(connect(database, proxy.url)));
    await follower.state('following');
    await proxy.listen(false);
    const refused = `lost: CouchDB at ${proxy.url} does not answer (connection refused).`;
    await follower.state(refused);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await proxy.listen(true);
    await follower.state('following', 2);
    expect(follower.states).toEqual(['following', 'lost: connection broken', refused, 'following']);
  });
});

describe('a consumer that is busy', () => {
  test('T5: holds the server back', async () => {
    const documents = many(200, 200_000);
    for (let i = 0; i < 200; i += 20) await storeAll(database, documents.slice(i, i + 20));
    const proxy = await startProxy(connect(database).url);
    const ended = new AbortController();
    const feed = openStore(connect(database, proxy.url)).follow({
      since: '0',
      signal: ended.signal,
      // Three of them are what a slow server may need for its first answer.
      heartbeatMs: 1_000,
    });
    const changes = feed[Symbol.asyncIterator]() as AsyncGenerator<Change, void>;
    const nextId = async (): Promise<string> => {
      const { done, value } = await changes.next();
      return done === true ? '' : value.id;
    };
    const seen = new Set<string>();
    seen.add(await nextId());
    // Longer than three heartbeats: silence counts only while somebody waits.
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(proxy.passed()).toBeLessThan(20_000_000);
    while (seen.size < 200) seen.add(await nextId());
    ended.abort();
    expect((await changes.next()).done).toBe(true);
  });
});

describe('a database that is not there', () => {
  test('is waited for', async () => {
    const name = `tws-test-${randomUUID()}`;
    removeAfterwards(name);
    const follower = follow(openStore(connect(name)));
    await follower.state('lost: database missing');
    await request('PUT', `/${name}`);
    await put(name, { _id: 'first' });
    await follower.id('first');
    expect(follower.states).toEqual(['lost: database missing', 'following']);
  });

  test('T6: that is deleted and made anew is read from its beginning', async () => {
    await storeAll(database, many(30));
    const follower = follow(store);
    await follower.id('doc-29');
    await request('DELETE', `/${database}`);
    await follower.state('lost: database missing');
    await request('PUT', `/${database}`);
    await put(database, { _id: 'new-life' });
    await follower.id('new-life');
  });

  test('that is made anew while nobody follows it is read from its beginning', async () => {
    await storeAll(database, many(30));
    const { updateSeq } = await store.info();
    await request('DELETE', `/${database}`);
    await request('PUT', `/${database}`);
    await put(database, { _id: 'new-life' });
    await follow(store, { since: updateSeq }).id('new-life');
  });

  test('a position that cannot be read leads to the beginning', async () => {
    await put(database, { _id: 'a' });
    const follower = follow(store, { since: 'not-a-position' });
    await follower.id('a');
  });
});

describe('a user who is not let in', () => {
  test('is told, and let in as soon as the server does', async () => {
    const user = `user-${randomUUID()}`;
    const follower = follow(openStore({ ...connect(database), user, password: 'secret-word' }));
    await follower.state('lost: CouchDB at');
    expect(follower.states).toEqual([
      `lost: CouchDB at ${new URL(couchUrl()).origin} refuses the name or password.`,
    ]);
    const id = `org.couchdb.user:${user}`;
    const rev = await put('_users', {
      _id: id,
      name: user,
      password: 'secret-word',
      type: 'user',
      roles: [],
    });
    await request('PUT', `/${database}/_security`, {
      body: { members: { names: [user] }, admins: { names: [admin().user] } },
    });
    await put(database, { _id: 'a' });
    await follower.id('a');
    expect(JSON.stringify(follower.states)).not.toContain('secret-word');
    await request('DELETE', `/_users/${encodeURIComponent(id)}?rev=${rev}`);
  });
});
