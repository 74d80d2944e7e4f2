import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { eraseDocuments } from '../../src/store/erase.js';

/** A server that tells of the database what `looks` say, one after the other; answers what it was asked. */
async function serverThatTells(looks: (object | undefined)[]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const what = `${request.method} ${request.url}`;
    const about = what === 'GET /db' ? looks.shift() : undefined;
    asked.push(about === undefined ? what : `${what} ${JSON.stringify(about)}`);
    const body = what === 'POST /db/_purge' ? { purged: {} } : { ok: true, ...about };
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { asked, connection: { url: `http://127.0.0.1:${port}`, database: 'db', app: 'tws' } };
}

it('rejects where the server tells that its compaction failed', async () => {
  const reason = 'No space left on device';
  const { connection } = await serverThatTells([
    // That of somebody else, before.
    { compact_running: false, compact_error: 'another reason' },
    { compact_running: false, compact_error: reason },
  ]);
  await expect(eraseDocuments(connection, [])).rejects.toThrow(reason);
});

it.each([
  ['was started anew meanwhile', 6, 0],
  ['was started twice', 0, 0],
  ['tells no number any more', 6, undefined],
])('rejects where the server numbers compactions and %s', async (_how, before, after) => {
  const { connection } = await serverThatTells([{ compacted: before }, { compacted: after }]);
  await expect(eraseDocuments(connection, [])).rejects.toThrow('started anew');
});

it('resolves where the number of the last compaction has grown', async () => {
  const { connection } = await serverThatTells([{ compacted: 0 }, { compacted: 7 }]);
  expect(await eraseDocuments(connection, [])).toEqual([]);
});

it('begins a compaction of its own after one that runs already, and waits for its end', async () => {
  // Another compaction runs, it has ended, ours runs, it has ended.
  const looks = [true, false, true, false].map((compact_running) => ({ compact_running }));
  const { asked, connection } = await serverThatTells(looks);
  expect(await eraseDocuments(connection, [])).toEqual([]);
  expect(asked).toEqual([
    'POST /db/_purge',
    'GET /db {"compact_running":true}',
    'GET /db {"compact_running":false}',
    'POST /db/_compact',
    'GET /db {"compact_running":true}',
    'GET /db {"compact_running":false}',
  ]);
});
