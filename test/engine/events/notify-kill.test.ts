import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Engine } from '../../../src/engine/engine.js';
import { couchUrl } from '../../support/couch.js';
import { flow, job, task } from '../../support/documents.js';
import { endingAt } from '../../support/ending.js';
import { startReceiver } from '../../support/receiver.js';
import { openWorkspace } from '../../support/workspace.js';

const bin = join(import.meta.dirname, '..', '..', '..', 'bin', 'tws.js');
const leases = { leaseMs: 600, renewMs: 100, sweepMs: 500 };
const plugins = { 'ok.mjs': `export default () => 'fine';` };

/** Its claim, the notification, its end; then the claim of the notification, and its end. */
const writes = [1, 2, 3, 4, 5];

it.each(writes.flatMap((at) => [[at, 'before'] as const, [at, 'after'] as const]))(
  'an engine that dies at write %i (%s it is stored) leaves a job of whose end somebody is told',
  async (at, when) => {
    const { url, until } = await startReceiver();
    const space = await openWorkspace(plugins);
    await space.put(task('ok'), flow('f', ['ok'], { timeout: 0, notify: [{ url }] }));
    let first: Engine | undefined = undefined as Engine | undefined;
    const end = async (): Promise<void> => first?.kill();
    const ending = endingAt(space.store, at, when, end);
    first = await space.engine({ ...leases, store: ending.store });
    await space.put(job('f', { _id: 'j' }));
    await ending.reached;
    await space.engine(leases);
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ exit: 0, notifications: [{ id: 'j:notify:1:0' }] });
    expect(await space.ended('j:notify:1:0')).toMatchObject({ exit: 0 });
    const came = await until(1);
    expect(new Set(came.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const { body } of came) {
      expect(body).toMatchObject({ type: 'job.succeeded', data: { end: ended['end'] } });
    }
  },
);

it('what was made for an end that did not come about tells nobody', async () => {
  const { url, received, until } = await startReceiver();
  const space = await openWorkspace(plugins);
  const notify = [
    { on: ['succeeded'], url: `${url}/well` },
    { on: ['cancelled'], url: `${url}/cancelled` },
  ];
  await space.put(task('ok'), flow('f', ['ok'], { timeout: 0, notify }));
  let first: Engine | undefined = undefined as Engine | undefined;
  const end = async (): Promise<void> => first?.kill();
  const ending = endingAt(space.store, 3, 'before', end);
  first = await space.engine({ ...leases, store: ending.store });
  await space.put(job('f', { _id: 'j' }));
  await ending.reached;
  const early = await space.until('j:notify:1:0', () => true);
  expect(early).toMatchObject({ notifies: { status: 'succeeded' } });
  const doc = await space.store.get('j');
  await space.put({ ...doc, cancel: { by: 'eve' } });
  await space.engine(leases);
  expect(await space.ended('j')).toMatchObject({
    state: '$$cancelled',
    notifications: [{ id: 'j:notify:1:1' }],
  });
  const skipped = 'Job j did not end as this notification was to tell.';
  expect(await space.ended('j:notify:1:0')).toMatchObject({ exit: 0, result: { skipped } });
  await space.ended('j:notify:1:1');
  await until(1);
  expect(received.map(({ path }) => path)).toEqual(['/cancelled']);
});

it('a process that is killed while it sends leaves a webhook that is sent again', async () => {
  const space = await openWorkspace();
  const folder = await mkdtemp(join(tmpdir(), 'tws-project-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { database } = space.store.connection;
  await writeFile(join(folder, 'tws.json'), JSON.stringify({ database, lease: 1_500 }));
  let kill = (): void => undefined;
  const { url, until } = await startReceiver(({ at }) => {
    if (at === 0) kill();
    return { status: 200 };
  });
  const victim = spawn(process.execPath, [bin, 'start'], {
    cwd: folder,
    env: { ...process.env, COUCH_URL: couchUrl() },
    stdio: 'ignore',
  });
  kill = () => void victim.kill('SIGKILL');
  onTestFinished(kill);
  await space.put(task('noop'), flow('f', ['noop'], { timeout: 0, notify: [{ url }] }));
  await space.put(job('f', { _id: 'j' }));
  await until(1);
  await space.engine(leases);
  const came = await until(2);
  expect(came[0]?.headers['webhook-id']).toBe(came[1]?.headers['webhook-id']);
  const told = await space.ended('j:notify:1:0');
  expect(told.steps).toMatchObject([{ failure: { name: 'EngineLost' } }, { state: '$$complete' }]);
});
