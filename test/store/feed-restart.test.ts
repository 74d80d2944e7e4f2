import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../../src/store/database.js';
import { openStore } from '../../src/store/store.js';
import { couchKind } from '../support/couch.js';
import { freePort } from '../support/ports.js';
import { follow } from './follower.js';
import { storageOfTests } from '../support/storage.js';

test.skipIf(couchKind() === 'couchdb')(
  'a feed begins before its server and survives its restart',
  async () => {
    const { startEmbedded } = await import('../../src/embedded/start.js');
    const dir = await mkdtemp(join(tmpdir(), 'tws-feed-'));
    const port = await freePort();
    const first = await startEmbedded({ dir, port, ...storageOfTests() });
    const { url, user, password } = first;
    await first.stop();

    const store = openStore({ url, database: 'restarted', app: 'tws', user, password });
    const follower = follow(store);
    await follower.state('lost');

    let server = await startEmbedded({ dir, port, ...storageOfTests() });
    onTestFinished(async () => {
      await follower.stop();
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    });
    await follower.state('lost: database missing');
    await createDatabase(store.connection);
    await follower.state('following');
    await store.write({ _id: 'a' });
    await follower.id('a');

    await server.stop();
    const told = follower.states.length;
    await follower.state('lost', told - 1);
    expect(await store.write({ _id: 'b' })).toMatchObject({ kind: 'unknown' });
    server = await startEmbedded({ dir, port, ...storageOfTests() });
    await follower.state('following', told);
    await expect.poll(async () => (await store.write({ _id: 'c' })).kind).toBe('written');
    await follower.id('c');
    expect(follower.ids().filter((id) => id === 'a').length).toBeLessThanOrEqual(2);
  },
);
