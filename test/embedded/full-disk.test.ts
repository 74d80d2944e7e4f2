import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { startEmbedded } from '../../src/embedded/start.js';
import { checkServer } from '../../src/store/server.js';
import { openWorkspace } from '../support/workspace.js';

/** A file system of so many bytes; undefined where this user may not mount one. */
async function smallDisk(bytes: number): Promise<string | undefined> {
  const dir = await mkdtemp(join(tmpdir(), 'tws-full-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', dir], {
      stdio: 'ignore',
    });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', dir]));
  return dir;
}

test('a server whose disk is full says so, and stores again when there is room', async ({
  skip,
}) => {
  const dir = await smallDisk(48_000_000);
  if (dir === undefined) return skip('a small disk can be mounted by root alone');
  const lines: string[] = [];
  const server = await startEmbedded({ dir: join(dir, 'couch'), tell: (line) => lines.push(line) });
  onTestFinished(() => server.stop());
  const { user, password } = server;
  const url = server.url.replace('http://', `http://${user}:${password}@`);
  const space = await openWorkspace({ 'noop.mjs': `export default () => 'done';` }, url);
  const job = { type: 'job', tasks: ['noop'] };
  await space.put({ _id: 'task:DEFAULT:noop', type: 'task', name: 'noop' });
  await space.engine();
  await space.put({ ...job, _id: 'before' });
  expect(await space.ended('before')).toMatchObject({ exit: 0 });
  // Somebody else fills the disk, to the last byte.
  const filler = join(dir, 'filler');
  await writeFile(filler, Buffer.alloc(60_000_000)).catch(() => undefined);
  const headers = { authorization: `Basic ${btoa(`${user}:${password}`)}` };
  const write = async (id: string, body: object) => {
    const request = { method: 'PUT', headers, body: JSON.stringify(body) };
    return fetch(`${server.url}/tws-test/${id}`, request);
  };
  const large = { text: 'x'.repeat(1_000_000) };
  let n = 0;
  await expect.poll(async () => (await write(`large-${(n += 1)}`, large)).status).toBe(507);
  expect(await (await write('refused', large)).json()).toMatchObject({ error: 'enospc' });
  expect((await fetch(`${server.url}/_up`)).status).toBe(503);
  const report = await checkServer(space.store.connection);
  expect(report.problem?.message).toContain('No space left');
  // Reading goes on.
  expect(await space.store.get('before')).toMatchObject({ exit: 0 });
  await rm(filler);
  await expect.poll(async () => (await fetch(`${server.url}/_up`)).status).toBe(200);
  await space.put({ ...job, _id: 'after' });
  expect(await space.ended('after')).toMatchObject({ exit: 0 });
  expect(lines.map((line) => line.replace(` of ${dir}/couch`, ''))).toEqual([
    'No space left on the disk: nothing is stored until there is some.',
    'There is room on the disk again: everything is stored as before.',
  ]);
});
