import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { startEmbedded } from '../../src/embedded/start.js';
import { ownDirectory, ownServer } from './own-server.js';

const processFile = fileURLToPath(new URL('../../dist/src/embedded/process.js', import.meta.url));

test('makes a random password at the first run, readable by its owner only, and keeps it', async () => {
  const dir = await ownDirectory();
  const first = await ownServer(dir);
  expect(first.password.length).toBeGreaterThanOrEqual(16);
  const file = join(dir, 'admin.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    user: first.user,
    password: first.password,
  });
  if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);
  await first.stop();
  const second = await ownServer(dir);
  expect(second.password).toBe(first.password);
  expect((await ownServer()).password).not.toBe(first.password);
});

test('keeps documents, security and sequences over a restart', async () => {
  const dir = await ownDirectory();
  const first = await ownServer(dir);
  await first.request('PUT', '/db');
  await first.request('PUT', '/db/a', {});
  const security = { members: { names: ['joe'], roles: [] }, admins: { names: [], roles: [] } };
  await first.request('PUT', '/db/_security', security);
  await first.request('PUT', '/db/_revs_limit', 7);
  const { body: before } = await first.request('GET', '/db/_changes');
  await first.stop();
  const second = await ownServer(dir);
  expect((await second.request('GET', '/db/a')).status).toBe(200);
  expect((await second.request('GET', '/db/_security')).body).toEqual(security);
  expect((await second.request('GET', '/db/_revs_limit')).body).toBe(7);
  await second.request('PUT', '/db/b', {});
  const since = String(before['last_seq']);
  const { body: after } = await second.request('GET', `/db/_changes?since=${since}`);
  expect((after['results'] as { id: string }[]).map(({ id }) => id)).toEqual(['b']);
});

test('starts a sequence of an earlier database of that name from the beginning', async () => {
  const server = await ownServer();
  await server.request('PUT', '/db');
  for (const id of ['a', 'b', 'c']) await server.request('PUT', `/db/${id}`, {});
  const { body: old } = await server.request('GET', '/db/_changes');
  await server.request('DELETE', '/db');
  await server.request('PUT', '/db');
  await server.request('PUT', '/db/new', {});
  const { body } = await server.request('GET', `/db/_changes?since=${String(old['last_seq'])}`);
  expect((body['results'] as { id: string }[]).map(({ id }) => id)).toEqual(['new']);
});

test('says when another server uses the directory', async () => {
  const dir = await ownDirectory();
  await ownServer(dir);
  await expect(startEmbedded({ dir })).rejects.toThrow(/Another embedded server uses/);
});

test('says when its port is taken', async () => {
  const { url } = await ownServer();
  const port = Number(new URL(url).port);
  const dir = await ownDirectory();
  await expect(startEmbedded({ dir, port })).rejects.toThrow(/EADDRINUSE/);
});

test('ends when the signal aborts', async () => {
  const stopping = new AbortController();
  const server = await startEmbedded({ dir: await ownDirectory(), signal: stopping.signal });
  stopping.abort();
  await server.stop();
  await expect(fetch(server.url)).rejects.toThrow();
});

test('prints one line of JSON when it listens, and ends with the process that started it', async () => {
  const dir = await ownDirectory();
  const child = spawn(process.execPath, [
    processFile,
    '--dir',
    dir,
    '--port',
    '0',
    '--with-parent',
  ]);
  const lines: string[] = [];
  const listening = new Promise<void>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line);
      resolve();
    });
  });
  await listening;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end();
  expect(await exited).toBe(0);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    dir,
    user: 'admin',
    password_file: join(dir, 'admin.json'),
  });
});

test('lets open feeds end when it is stopped', async () => {
  const server = await ownServer();
  await server.request('PUT', '/db');
  const feed = await fetch(`${server.url}/db/_changes?feed=continuous&heartbeat=60000`, {
    headers: { authorization: server.authorization },
  });
  const begun = performance.now();
  await Promise.all([feed.text().catch(() => ''), server.stop()]);
  expect(performance.now() - begun).toBeLessThan(30_000);
});
