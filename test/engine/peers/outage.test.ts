import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startEmbedded } from '../../../src/embedded/start.js';
import { freePort } from '../../support/ports.js';
import { openWorkspace } from '../../support/workspace.js';
import { storageOfTests } from '../../support/storage.js';

/** A server of this test's own, which it can stop and start: always the embedded one. */
async function ownServer() {
  const dir = await mkdtemp(join(tmpdir(), 'tws-outage-'));
  const port = await freePort();
  let server = await startEmbedded({ dir, port, ...storageOfTests() });
  onTestFinished(async () => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const { user, password } = server;
  return {
    url: `http://${user}:${password}@127.0.0.1:${port}`,
    stop: () => server.stop(),
    start: async () => {
      server = await startEmbedded({ dir, port, ...storageOfTests() });
    },
  };
}

it('a database that goes away and comes back is told once, and the work goes on', async () => {
  const server = await ownServer();
  const space = await openWorkspace(
    {
      'slow.mjs': `import { setTimeout as sleep } from 'node:timers/promises';
        export default async ({ step }) => { await sleep(400); return step.attempt; };`,
    },
    server.url,
  );
  await space.put(
    { _id: 'task:DEFAULT:slow', type: 'task', name: 'slow' },
    { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['slow', 'slow', 'slow'] },
  );
  await space.engine();
  const jobs = Array.from({ length: 10 }, () => ({ type: 'job', flow: 'f', owner: 'me' }));
  const ids = await space.put(...jobs);
  await space.until(String(ids[0]), (doc) => doc['state'] === 'slow-1');
  await server.stop();
  await space.logged((line) => line.message.includes('is lost'));
  await server.start();
  for (const id of ids) {
    const ended = await space.ended(id);
    expect(ended).toMatchObject({ state: '$$complete', exit: 0 });
    // The attempts that ran during the outage kept their outcome: none was made twice.
    expect(ended.steps.map((step) => step['result'])).toEqual([1, 1, 1]);
  }
  await space.logged((line) => line.message.includes('is back'));
  const said = space.log.filter(({ message }) => message.includes('connection to'));
  const told = said.map(({ level }) => level).filter((level) => level !== 'debug');
  expect(told).toEqual(['warn', 'info']);
});

it('an engine ends while it waits for a database', async () => {
  const server = await ownServer();
  const space = await openWorkspace({}, server.url);
  await server.stop();
  const end = new AbortController();
  const starting = space.engine({ signal: end.signal });
  end.abort();
  await (await starting).stop();
  expect(space.log.filter(({ message }) => message.includes('follows'))).toEqual([]);
  await server.start();
});

it('an engine waits for a database that does not exist yet', async () => {
  const server = await ownServer();
  const space = await openWorkspace({}, server.url);
  await space.put(
    { _id: 'task:DEFAULT:noop', type: 'task', name: 'noop' },
    { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['noop'] },
    { _id: 'job-1', type: 'job', flow: 'f', owner: 'me' },
  );
  await server.stop();
  const starting = space.engine();
  await server.start();
  await starting;
  expect(await space.ended('job-1')).toMatchObject({ exit: 0 });
});
