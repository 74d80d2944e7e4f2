import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { eraseDocuments } from '../../src/store/erase.js';

it('begins a compaction of its own after one that runs already, and waits for its end', async () => {
  const asked: string[] = [];
  /** What each look at the database says: another compaction runs, it has ended, ours runs, it has ended. */
  const running = [true, false, true, false];
  const server = createServer((request, response) => {
    const what = `${request.method} ${request.url}`;
    const isRunning = what === 'GET /db' ? running.shift() : undefined;
    asked.push(isRunning === undefined ? what : `${what} ${isRunning}`);
    const body =
      what === 'POST /db/_purge' ? { purged: {} } : { ok: true, compact_running: isRunning };
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = { url: `http://127.0.0.1:${port}`, database: 'db', app: 'tws' };
  expect(await eraseDocuments(connection, [])).toEqual([]);
  expect(asked).toEqual([
    'POST /db/_purge',
    'GET /db true',
    'GET /db false',
    'POST /db/_compact',
    'GET /db true',
    'GET /db false',
  ]);
});
