import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';

import { ownServer, type OwnServer } from './own-server.js';
import { kinds } from './storages.js';

/** Sends the beginning of a request and ends the connection; resolves when it is closed. */
async function sendPart({ url, authorization }: OwnServer, head: string, part: string) {
  const { hostname, port } = new URL(url);
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.end(`${head}\r\nhost: x\r\nauthorization: ${authorization}\r\n${part}`);
    });
    socket.on('close', () => resolve()).on('error', reject);
    socket.resume();
  });
}

const json = 'content-type: application/json\r\n';

describe.each(kinds)('what is written badly, in %s', (storage) => {
  test('is refused where it would break the documents of others', async () => {
    const server = await ownServer(undefined, { storage });
    await server.request('PUT', '/db');
    const good = 'a'.repeat(32);
    const bad: readonly unknown[] = [
      { start: 1, ids: ['x","evil":"y'] },
      { start: 1, ids: ['x\\'] },
      { start: 1, ids: ['x\u0000y'] },
      { start: 1, ids: ['x\n'] },
      { start: 1, ids: [''] },
      { start: 2, ids: [good, 'b-c'] },
      { start: 2, ids: [good, 7] },
      { start: 1, ids: [good, good] },
      { start: 0.5, ids: [good] },
      { start: 1e15, ids: [good] },
      { start: 0, ids: [] },
      { ids: [good] },
      'x',
    ];
    for (const [n, _revisions] of bad.entries()) {
      const doc = { _id: `r${n}`, _revisions, _rev: `1-${good}` };
      const { status } = await server.request('POST', '/db/_bulk_docs', {
        new_edits: false,
        docs: [doc],
      });
      expect([_revisions, status]).toEqual([_revisions, 400]);
    }
    for (const _rev of ['1-a"b', '1-\\', '1-a\u0001', '1-a-b', '1-', 'a', '1-\ud800']) {
      const put = await server.request('PUT', '/db/doc?new_edits=false', { _rev });
      expect([_rev, put.status]).toEqual([_rev, 400]);
    }
    const { body } = await server.request('GET', '/db/_all_docs?include_docs=true');
    expect(body['rows']).toEqual([]);
  });

  test('leaves nothing when its body ends early', async () => {
    const server = await ownServer(undefined, { storage });
    await server.request('PUT', '/db');
    await server.request('PUT', '/db/other', {});
    const doc = '{"a":1}';
    await sendPart(server, 'PUT /db/a HTTP/1.1', `${json}content-length: 100\r\n\r\n${doc}`);
    const chunk = `${doc.length.toString(16)}\r\n${doc}\r\n`;
    await sendPart(
      server,
      'PUT /db/b HTTP/1.1',
      `${json}transfer-encoding: chunked\r\n\r\n${chunk}`,
    );
    await sendPart(
      server,
      'PUT /db/c/file HTTP/1.1',
      `content-type: text/plain\r\ncontent-length: 900000\r\n\r\n${'x'.repeat(400_000)}`,
    );
    await sendPart(
      server,
      'POST /db/_bulk_docs HTTP/1.1',
      `${json}content-length: 100\r\n\r\n{"docs":[{"_id":"d"}]}`,
    );
    const { body } = await server.request('GET', '/db/_all_docs');
    expect((body['rows'] as { id: string }[]).map(({ id }) => id)).toEqual(['other']);
  });
});
