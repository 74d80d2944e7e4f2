import { expect, test } from 'vitest';

import { ownDirectory, ownServer, type OwnServer } from './own-server.js';

const KILLS = 20;
const WRITERS = 4;

/** Revisions that the server acknowledged, by document. */
type Acknowledged = Map<string, string>;

test('loses no acknowledged document over twenty kill -9 during writes', async () => {
  const dir = await ownDirectory();
  const acknowledged: Acknowledged = new Map();
  for (let round = 0; round < KILLS; round += 1) {
    const server = await ownServer(dir);
    await server.request('PUT', '/db');
    await verify(server, acknowledged);
    const writing = Array.from({ length: WRITERS }, (_, writer) =>
      writeUntilKilled(server, acknowledged, `${round}-${writer}`),
    );
    await new Promise((resolve) => setTimeout(resolve, 100 + 20 * round));
    process.kill(server.pid, 'SIGKILL');
    await Promise.all(writing);
    await server.stop();
  }
  const server = await ownServer(dir);
  await verify(server, acknowledged);
  expect(acknowledged.size).toBeGreaterThan(KILLS * WRITERS);
  await server.stop();
});

/** Makes documents and updates them, singly and in batches, until the server is gone. */
async function writeUntilKilled(
  server: OwnServer,
  acknowledged: Acknowledged,
  name: string,
): Promise<void> {
  for (let n = 0; ; n += 1) {
    const ids = [`${name}-${n}-a`, `${name}-${n}-b`, `${name}-shared`];
    const docs = ids.map((_id) => {
      const rev = acknowledged.get(_id);
      return { _id, n, ...(rev === undefined ? {} : { _rev: rev }) };
    });
    const answer = await server.request('POST', '/db/_bulk_docs', { docs }).catch(() => undefined);
    if (answer === undefined) return;
    for (const { id, rev } of answer.body as unknown as { id: string; rev?: string }[]) {
      if (rev !== undefined) acknowledged.set(id, rev);
    }
    const single = await server.request('PUT', `/db/${name}-${n}-c`, { n }).catch(() => undefined);
    if (single === undefined) return;
    acknowledged.set(String(single.body['id']), String(single.body['rev']));
  }
}

/** Every acknowledged revision is there, or a later one whose answer was lost. */
async function verify(server: OwnServer, acknowledged: Acknowledged): Promise<void> {
  const keys = [...acknowledged.keys()];
  const { body } = await server.request('POST', '/db/_all_docs', { keys });
  const rows = body['rows'] as { key: string; value?: { rev: string } }[];
  const lost = rows.filter(({ key, value }) => {
    const expected = acknowledged.get(key) ?? '';
    const found = value?.rev ?? '0-';
    return found !== expected && generation(found) <= generation(expected);
  });
  expect(lost).toEqual([]);
  for (const { key, value } of rows) acknowledged.set(key, value?.rev ?? '');
}

const generation = (rev: string): number => Number.parseInt(rev, 10);
