import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { isDiskFull, watchDisk } from '../../src/embedded/storage/disk.js';

test.each([
  [Object.assign(new Error('write'), { code: 'ENOSPC' }), true],
  [new Error('IO error: /x/000003.log: No space left on device'), true],
  [{ status: 500, reason: 'IO error: a.log: No space left on device' }, true],
  [new Error('database or disk is full'), true],
  [Object.assign(new Error('quota'), { code: 'EDQUOT' }), true],
  [new Error('Database is not open'), false],
  [undefined, false],
])('%s: is the disk full? %s', (error, full) => {
  expect(isDiskFull(error)).toBe(full);
});

test('a full disk is told once, and the stores are opened again when there is room', async () => {
  const told: string[] = [];
  let hasRoom = false;
  let looks = 0;
  const failures = [new Error('still no room for this one')];
  const disk = watchDisk({
    dir: '/data',
    everyMs: 1,
    tell: (message) => told.push(message),
    hasRoom: () => Promise.resolve((looks += 1) > 0 && hasRoom),
    reopen: () => {
      const failure = failures.shift();
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    },
  });
  onTestFinished(() => disk.close());
  expect(disk.isFull()).toBe(false);
  disk.noticed();
  disk.noticed();
  expect(disk.isFull()).toBe(true);
  await expect.poll(() => looks).toBeGreaterThan(2);
  expect(told).toHaveLength(1);
  hasRoom = true;
  await expect.poll(disk.isFull).toBe(false);
  expect(failures).toEqual([]);
  expect(told).toEqual([
    'No space left on the disk of /data: nothing is stored until there is some.',
    'There is room on the disk again: everything is stored as before.',
  ]);
});

test('room is found by writing, and what was written is removed', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'tws-disk-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const disk = watchDisk({
    dir,
    everyMs: 1,
    tell: () => undefined,
    reopen: () => Promise.resolve(),
  });
  disk.noticed();
  await expect.poll(disk.isFull).toBe(false);
  await disk.close();
  expect(await readdir(dir)).toEqual([]);
});
