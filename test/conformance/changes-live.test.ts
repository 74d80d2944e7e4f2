import { expect } from 'vitest';
import { freshDatabase, openFeed, request, store, storeAll } from '../support/couch.js';
import type { CouchBody, Feed } from '../support/couch.js';
import { check } from './check.js';

check('answers a longpoll at once when there are changes', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  const { status, body } = await request('GET', `/${db}/_changes?feed=longpoll`);
  expect(status).toBe(200);
  expect(body.results?.map(({ id }) => id)).toEqual(['doc']);
  expect(body.last_seq).toEqual(expect.any(String));
});

check('wakes a longpoll with the next write, with its document', async () => {
  const db = await freshDatabase();
  const feed = await openFeed(
    'GET',
    `/${db}/_changes?feed=longpoll&since=now&include_docs=true&heartbeat=200`,
  );
  await feed.line();
  const rev = await store(db, { _id: 'doc', a: 1 });
  const body = JSON.parse(await restOf(feed, '{"results":[')) as CouchBody;
  expect(body.results).toMatchObject([{ id: 'doc', doc: { _id: 'doc', _rev: rev, a: 1 } }]);
});

check('ends a longpoll with no results at its timeout', async () => {
  const db = await freshDatabase();
  const began = Date.now();
  const { status, body } = await request(
    'GET',
    `/${db}/_changes?feed=longpoll&since=now&timeout=1000`,
  );
  expect(status).toBe(200);
  expect(body.results).toEqual([]);
  expect(body.last_seq).toEqual(expect.any(String));
  expect(Date.now() - began).toBeGreaterThanOrEqual(900);
  expect(Date.now() - began).toBeLessThan(30_000);
});

check('keeps a waiting longpoll alive with empty lines', async () => {
  const db = await freshDatabase();
  const path = `/${db}/_changes?feed=longpoll&since=now&heartbeat=300`;
  const feed = await openFeed('GET', path);
  expect(await feed.line()).toBe('{"results":[');
  for (let beat = 0; beat < 3; beat += 1) expect(await feed.line(2000)).toBe('');
  feed.close();
});

check('sends what is there, then every write, down a continuous feed', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'before' });
  const path = `/${db}/_changes?feed=continuous&include_docs=true&heartbeat=1000`;
  const feed = await openFeed('GET', path);
  expect(feed.status).toBe(200);
  expect((await feed.change())?.id).toBe('before');
  for (let n = 0; n < 5; n += 1) {
    const rev = await store(db, { _id: `doc-${n}`, n });
    expect(await feed.change()).toMatchObject({
      seq: expect.any(String) as string,
      id: `doc-${n}`,
      changes: [{ rev }],
      doc: { _id: `doc-${n}`, n },
    });
  }
  const rev = await store(db, { _id: 'gone' });
  await feed.change();
  await request('DELETE', `/${db}/gone?rev=${rev}`);
  expect(await feed.change()).toMatchObject({ id: 'gone', deleted: true });
  feed.close();
});

check('sends heartbeats down a silent continuous feed', async () => {
  const db = await freshDatabase();
  const feed = await openFeed('GET', `/${db}/_changes?feed=continuous&since=now&heartbeat=300`);
  for (let beat = 0; beat < 3; beat += 1) expect(await feed.line(2000)).toBe('');
  await store(db, { _id: 'doc' });
  expect((await feed.change())?.id).toBe('doc');
  expect(await feed.line(2000)).toBe('');
  feed.close();
});

check('resumes a continuous feed after a sequence, without gaps and repetitions', async () => {
  const db = await freshDatabase();
  await storeAll(
    db,
    Array.from({ length: 10 }, (_, n) => ({ _id: `first-${n}` })),
  );
  const feed = await openFeed('GET', `/${db}/_changes?feed=continuous&heartbeat=1000`);
  const before = new Set<string>();
  let seq = '';
  for (let n = 0; n < 6; n += 1) {
    const change = await feed.change();
    before.add(change?.id ?? '');
    seq = change?.seq ?? '';
  }
  feed.close();
  await storeAll(
    db,
    Array.from({ length: 10 }, (_, n) => ({ _id: `second-${n}` })),
  );
  const resumed = await openFeed(
    'GET',
    `/${db}/_changes?feed=continuous&heartbeat=1000&since=${encodeURIComponent(seq)}`,
  );
  const after: string[] = [];
  for (let n = 0; n < 14; n += 1) after.push((await resumed.change())?.id ?? '');
  resumed.close();
  expect(new Set(after).size).toBe(14);
  expect(after.filter((id) => before.has(id))).toEqual([]);
});

check('loses no change that is written while a continuous feed starts', async () => {
  const db = await freshDatabase();
  const writes = Array.from({ length: 40 }, (_, n) => store(db, { _id: `doc-${n}` }));
  const feed = await openFeed('GET', `/${db}/_changes?feed=continuous&heartbeat=1000`);
  const seen = new Set<string>();
  while (seen.size < 40) seen.add((await feed.change())?.id ?? 'end');
  await Promise.all(writes);
  expect(seen).not.toContain('end');
  feed.close();
});

check('serves several continuous feeds of one database', async () => {
  const db = await freshDatabase();
  const path = `/${db}/_changes?feed=continuous&since=now&heartbeat=200`;
  const feeds = await Promise.all(Array.from({ length: 10 }, () => openFeed('GET', path)));
  await Promise.all(feeds.map((feed) => feed.line()));
  await store(db, { _id: 'doc' });
  const ids = await Promise.all(feeds.map(async (feed) => (await feed.change())?.id));
  expect(ids).toEqual(ids.map(() => 'doc'));
  for (const feed of feeds) feed.close();
});

check('ends a continuous feed with its last sequence at its timeout', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'doc' });
  const feed = await openFeed('GET', `/${db}/_changes?feed=continuous&timeout=1000`);
  expect((await feed.change())?.id).toBe('doc');
  expect(await feed.change()).toMatchObject({ last_seq: expect.any(String) as string, pending: 0 });
  expect(await feed.change()).toBeUndefined();
});

check('ends a continuous feed at its limit', async () => {
  const db = await freshDatabase();
  await storeAll(db, [{ _id: 'a' }, { _id: 'b' }]);
  const feed = await openFeed('GET', `/${db}/_changes?feed=continuous&limit=1`);
  expect(['a', 'b']).toContain((await feed.change())?.id);
  expect((await feed.change())?.last_seq).toEqual(expect.any(String));
  expect(await feed.change()).toBeUndefined();
});

check('ends continuous feeds and longpolls when their database is deleted', async () => {
  const db = await freshDatabase();
  const path = (style: string): string => `/${db}/_changes?feed=${style}&since=now&heartbeat=300`;
  const feeds = [
    await openFeed('GET', path('continuous')),
    await openFeed('GET', path('longpoll')),
  ];
  for (const feed of feeds) await feed.line();
  await request('DELETE', `/${db}`);
  for (const feed of feeds) expect(await restOf(feed)).toContain('"last_seq"');
});

check('speaks the event stream format', async () => {
  const db = await freshDatabase();
  const rev = await store(db, { _id: 'doc' });
  const path = `/${db}/_changes?feed=eventsource&heartbeat=300`;
  const feed = await openFeed('GET', path, { headers: { accept: 'text/event-stream' } });
  expect(feed.status).toBe(200);
  expect(feed.headers['content-type']).toMatch(/^text\/event-stream/);
  const data = await nextWith(feed, 'data: {');
  const change = JSON.parse(data.slice('data: '.length)) as { id: string; seq: string };
  expect(change).toMatchObject({ id: 'doc', changes: [{ rev }] });
  expect(await nextWith(feed, 'id: ')).toContain(change.seq);
  expect(await feed.line()).toBe('');
  expect(await nextWith(feed, 'event: ')).toBe('event: heartbeat');
  feed.close();
});

check('resumes an event stream after the last event that the browser saw', async () => {
  const db = await freshDatabase();
  await store(db, { _id: 'seen' });
  const { body } = await request('GET', `/${db}/_changes`);
  await store(db, { _id: 'new' });
  const feed = await openFeed('GET', `/${db}/_changes?feed=eventsource&heartbeat=1000`, {
    headers: { accept: 'text/event-stream', 'last-event-id': body.last_seq ?? '' },
  });
  expect(await nextWith(feed, 'data: {')).toContain('"id":"new"');
  feed.close();
});

async function nextWith(feed: Feed, start: string): Promise<string> {
  for (let line = await feed.line(); line !== undefined; line = await feed.line()) {
    if (line.startsWith(start)) return line;
  }
  throw new Error(`The feed ended without a line that starts with "${start}".`);
}

async function restOf(feed: Feed, already = ''): Promise<string> {
  let text = already;
  for (let line = await feed.line(); line !== undefined; line = await feed.line()) text += line;
  return text;
}
