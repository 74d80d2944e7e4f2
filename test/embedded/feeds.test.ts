import { request, type IncomingMessage } from 'node:http';
import { Agent } from 'node:http';
import { expect, test } from 'vitest';

import { ownServer, type OwnServer } from './own-server.js';

const FEEDS = 1_000;

test('is as fast after 1,000 feeds were opened and closed as before', async () => {
  const server = await ownServer();
  await server.request('PUT', '/db');
  await medianWrite(server, 'warm');
  const before = await medianWrite(server, 'before');
  const agent = new Agent({ maxSockets: Infinity });
  for (let round = 0; round < 2; round += 1) {
    const feeds = await openFeeds(server, agent, FEEDS / 2);
    const rows = Promise.all(feeds.map(firstRow));
    await server.request('PUT', `/db/seen-by-all-${round}`, {});
    for (const row of await rows) expect(row).toContain(`"seen-by-all-${round}"`);
    for (const feed of feeds) feed.destroy();
  }
  agent.destroy();
  const after = await medianWrite(server, 'after');
  // Other tests run beside this one: what matters is that the time does not grow with the feeds.
  expect(after).toBeLessThan(Math.max(3 * before, before + 10));
});

test('ends a continuous feed when its database is deleted', async () => {
  const server = await ownServer();
  await server.request('PUT', '/db');
  const agent = new Agent();
  const [feed] = await openFeeds(server, agent, 1);
  const ended = new Promise((resolve) => feed?.on('end', resolve).resume());
  await server.request('DELETE', '/db');
  await ended;
  agent.destroy();
});

test('delivers every write once, in order, to a feed that resumes in the middle', async () => {
  const server = await ownServer();
  await server.request('PUT', '/db');
  const total = 300;
  const seen: string[] = [];
  const reading = readInParts(server, total, seen);
  for (let n = 0; n < total; n += 10) {
    const docs = Array.from({ length: 10 }, (_, i) => ({
      _id: `d${String(n + i).padStart(3, '0')}`,
    }));
    await server.request('POST', '/db/_bulk_docs', { docs });
  }
  await reading;
  expect(seen).toEqual([...new Set(seen)].sort());
  expect(seen).toHaveLength(total);
});

async function medianWrite(server: OwnServer, name: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 60; n += 1) {
    const begun = performance.now();
    await server.request('PUT', `/db/${name}-${n}`, { n });
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[30] ?? 0;
}

const openFeeds = (server: OwnServer, agent: Agent, count: number): Promise<IncomingMessage[]> =>
  Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<IncomingMessage>((resolve, reject) => {
          const path = '/db/_changes?feed=continuous&since=now&heartbeat=10000';
          const headers = { authorization: server.authorization };
          request(server.url + path, { agent, headers }, resolve)
            .on('error', reject)
            .end();
        }),
    ),
  );

const firstRow = (feed: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    feed.once('error', reject).once('data', (data: Buffer) => resolve(data.toString()));
  });

/** Reads the feed in requests of a few rows, each resuming from the last. */
async function readInParts(server: OwnServer, total: number, seen: string[]): Promise<void> {
  let since = '0';
  while (seen.length < total) {
    const path = `/db/_changes?feed=longpoll&limit=7&timeout=10000&since=${since}`;
    const { body } = await server.request('GET', path);
    for (const { id } of body['results'] as { id: string }[]) seen.push(id);
    since = String(body['last_seq']);
  }
}
