import { expect, test } from 'vitest';

import { ownServer, type OwnServer } from './own-server.js';
import { kinds } from './storages.js';

const withPassword = (server: OwnServer, name: string): string => {
  const url = new URL(`${server.url}/${name}`);
  url.username = server.user;
  url.password = server.password;
  return url.href;
};

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('it did not happen within 10 s');
}

/** Servers of different storages, where this Node has both. */
const pairs = kinds.map((kind, i) => [kind, kinds[(i + 1) % kinds.length] ?? kind] as const);

test.each(pairs)(
  'grows out of %s into %s, both ways, with attachments and conflicts',
  async (...pair) => {
    const [here, there] = await Promise.all([
      ownServer(undefined, { storage: pair[0] }),
      ownServer(undefined, { storage: pair[1] }),
    ]);
    await here.request('PUT', '/db');
    await here.request('PUT', '/db/a', { n: 1 });
    const data = Buffer.from('hello').toString('base64');
    await here.request('PUT', '/db/b', {
      _attachments: { x: { content_type: 'text/plain', data } },
    });
    const rivals = ['1-aaa', '1-bbb'].map((_rev) => ({ _id: 'c', _rev, of: _rev }));
    await here.request('POST', '/db/_bulk_docs', { docs: rivals, new_edits: false });

    const pushed = await here.request('POST', '/_replicate', {
      source: 'db',
      target: withPassword(there, 'copy'),
      create_target: true,
    });
    expect(pushed).toMatchObject({ status: 200, body: { ok: true } });
    expect((await there.request('GET', '/copy/a')).body).toMatchObject({ n: 1 });
    const { body: conflicted } = await there.request('GET', '/copy/c?conflicts=true');
    expect(conflicted).toMatchObject({ _rev: '1-bbb', _conflicts: ['1-aaa'] });
    const attachment = await fetch(`${there.url}/copy/b/x`, {
      headers: { authorization: there.authorization },
    });
    expect(await attachment.text()).toBe('hello');

    await there.request('PUT', '/copy/d', {});
    const pulled = await here.request('POST', '/_replicate', {
      source: withPassword(there, 'copy'),
      target: 'db',
    });
    expect(pulled.status).toBe(200);
    expect((await here.request('GET', '/db/d')).status).toBe(200);
  },
);

test('follows a database until it is cancelled', async () => {
  const server = await ownServer();
  await server.request('PUT', '/from');
  await server.request('PUT', '/to');
  const both = { source: 'from', target: 'to', continuous: true };
  expect((await server.request('POST', '/_replicate', both)).status).toBe(202);
  await server.request('PUT', '/from/a', {});
  await until(async () => (await server.request('GET', '/to/a')).status === 200);
  const { body: tasks } = await server.request('GET', '/_active_tasks');
  expect(tasks).toMatchObject([{ type: 'replication', continuous: true }]);
  const cancelled = await server.request('POST', '/_replicate', { ...both, cancel: true });
  expect(cancelled.status).toBe(200);
  await until(async () => (await server.request('GET', '/_active_tasks')).body.length === 0);
});

test('says which side cannot be reached', async () => {
  const server = await ownServer();
  await server.request('PUT', '/db');
  const nowhere = await server.request('POST', '/_replicate', {
    source: 'db',
    target: 'http://127.0.0.1:9/none',
  });
  expect(nowhere.status).toBe(500);
  const missing = await server.request('POST', '/_replicate', { source: 'none', target: 'db' });
  expect(missing.status).toBe(404);
});
