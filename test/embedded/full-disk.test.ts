import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import leveldown from 'leveldown';
import { expect, onTestFinished, test } from 'vitest';

import { startServer } from '../../src/embedded/server.js';
import { startEmbedded } from '../../src/embedded/start.js';
import { checkServer } from '../../src/store/server.js';
import { openApi } from '../http/server.js';
import { openWorkspace } from '../support/workspace.js';
import { kinds } from './storages.js';
import type { StorageKind } from '../../src/storage-kinds.js';

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

test.for(kinds)(
  'a server in %s whose disk is full says so, and stores again when there is room',
  async (storage, { skip }) => {
    const dir = await smallDisk(48_000_000);
    if (dir === undefined) return skip('a small disk can be mounted by root alone');
    const lines: string[] = [];
    const server = await startEmbedded({
      dir: join(dir, 'couch'),
      storage,
      tell: (line) => lines.push(line),
    });
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
  },
);

type Failing = (...given: unknown[]) => unknown;

/** Makes the writes of a kind of storage fail while `isFull` says so. */
function failWrites(kind: StorageKind, isFull: () => boolean): void {
  if (kind === 'leveldb') {
    const level = leveldown.prototype as { _batch: Failing };
    const { _batch: batch } = level;
    level._batch = function failing(...given) {
      if (!isFull()) return batch.apply(this, given);
      const done = given.at(-1) as (error: Error) => void;
      return setImmediate(done, new Error('IO error: 000003.log: No space left on device'));
    };
    onTestFinished(() => void (level._batch = batch));
    return;
  }
  const sqlite = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as {
    StatementSync: { prototype: { run: Failing } };
  };
  const { prototype } = sqlite.StatementSync;
  const { run } = prototype;
  prototype.run = function failing(...given) {
    if (isFull()) throw new Error('database or disk is full');
    return run.apply(this, given);
  };
  onTestFinished(() => void (prototype.run = run));
}

/** A server in this process whose stores take no writes while its disk is full. */
async function serverOnFullDisk(storage: StorageKind) {
  const dir = await mkdtemp(join(tmpdir(), 'tws-full-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  // Room is looked for by writing this file.
  const noRoom = join(dir, '.room');
  let isFull = false;
  failWrites(storage, () => isFull);
  const server = await startServer({ dir, host: '127.0.0.1', port: 0, storage });
  onTestFinished(() => server.close());
  const { user, password } = server.credentials;
  return {
    url: server.url.replace('http://', `http://${user}:${password}@`),
    isUp: async () => (await fetch(`${server.url}/_up`)).status,
    fill: async () => {
      await mkdir(noRoom);
      isFull = true;
    },
    free: async () => {
      isFull = false;
      await rmdir(noRoom);
    },
  };
}

test.each(kinds)(
  'jobs that waited for room on the disk of %s are run to their end, once',
  async (kind) => {
    const server = await serverOnFullDisk(kind);
    const hold = `import { existsSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    export default async ({ params }) => { while (!existsSync(params.file)) await setTimeout(5); };`;
    const space = await openWorkspace(
      { 'hold.mjs': hold, 'noop.mjs': `export default () => 1;` },
      server.url,
    );
    const { connection } = space.store;
    const api = await openApi({ workspace: space, inspect: () => checkServer(connection) });
    const file = join(space.folder, 'go');
    await space.put({ _id: 'task:DEFAULT:noop', type: 'task', name: 'noop' });
    await space.put({
      _id: 'task:DEFAULT:hold',
      type: 'task',
      name: 'hold',
      params: { file },
      timeout: 0,
    });
    await space.engine();
    const jobs = ['a', 'b', 'c'];
    await space.put(...jobs.map((_id) => ({ _id, type: 'job', tasks: ['hold', 'noop'] })));
    for (const id of jobs) {
      await space.until(id, ({ steps }) => JSON.stringify(steps ?? '').includes('$$active'));
    }
    const isReady = async () => (await api.ask('GET', '/health/ready')).status;
    await expect.poll(isReady).toBe(200);

    await server.fill();
    // The steps end, and no end of them can be stored.
    await writeFile(file, '');
    await expect.poll(server.isUp).toBe(503);
    const url = new URL(connection.url);
    const authorization = `Basic ${btoa(`${url.username}:${url.password}`)}`;
    const body = JSON.stringify({ docs: [{ _id: 'refused', type: 'job', tasks: ['noop'] }] });
    const headers = { authorization, 'content-type': 'application/json' };
    const target = `${url.origin}/${connection.database}/_bulk_docs`;
    const refused = await fetch(target, { method: 'POST', headers, body });
    expect(refused.status).toBe(507);
    expect(await refused.json()).toMatchObject({ error: 'enospc' });
    await expect.poll(isReady).toBe(503);
    const { text } = await api.ask('GET', '/health/ready');
    expect(text).toContain('No space left');

    await server.free();
    await expect.poll(server.isUp).toBe(200);
    await expect.poll(isReady).toBe(200);
    for (const id of jobs) {
      const { exit, steps } = await space.ended(id);
      const told = steps.map(({ name, state, attempt }) => [name, state, attempt]);
      expect([exit, told]).toEqual([
        0,
        [
          ['hold', '$$complete', 1],
          ['noop', '$$complete', 1],
        ],
      ]);
    }
  },
);

// The writes of a compaction in SQLite are pragmas, which `failWrites` does not reach.
test('a compaction of LevelDB that finds no room is told by the database, until another one succeeds', async () => {
  const server = await serverOnFullDisk('leveldb');
  const { store, put } = await openWorkspace({}, server.url);
  await put({ _id: 'a' });
  const { origin, username, password } = new URL(server.url);
  const headers = {
    authorization: `Basic ${btoa(`${username}:${password}`)}`,
    'content-type': 'application/json',
  };
  const path = `${origin}/${store.connection.database}`;
  const compacted = async () => {
    await fetch(`${path}/_compact`, { method: 'POST', headers, body: '{}' });
    for (;;) {
      const about = (await (await fetch(path, { headers })).json()) as Record<string, unknown>;
      if (about['compact_running'] !== true) return about;
    }
  };
  await server.fill();
  expect(await compacted()).toHaveProperty('compact_error');
  await server.free();
  expect(await compacted()).not.toHaveProperty('compact_error');
});
