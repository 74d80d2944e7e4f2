import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { openOrderedMap } from '../../src/embedded/storage/level.js';
import { createOffsets, type Moved } from '../../src/embedded/views/offsets.js';

async function openMap() {
  const folder = await mkdtemp(join(tmpdir(), 'tws-offsets-'));
  const map = await openOrderedMap(join(folder, 'map'));
  onTestFinished(async () => {
    await map.close();
    await rm(folder, { recursive: true, force: true });
  });
  return map;
}

/** Above U+FFFF code units and bytes order differently. */
const keys = ['r0a', 'r0b', 'r0c', 'r0d', 'r0\uffee', 'r0\u{1f600}', 'r1a', 'r1b', 'r1z'];
const keyOf = fc.constantFrom(...keys);

test('O2: what was counted stays right while rows come and go', async () => {
  const map = await openMap();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(keyOf, { maxLength: 4 }), { maxLength: 6 }),
      async (rounds) => {
        await map.apply(keys.map((key) => [key, null]));
        const offsets = createOffsets(map);
        const there = new Set<string>();
        for (const round of rounds) {
          const moved = [...new Set(round)].map((key): Moved => [key, there.has(key) ? -1 : 1]);
          await offsets.write(moved, () =>
            map.apply(moved.map(([key, step]) => [key, step === 1 ? 'x' : null])),
          );
          for (const [key, step] of moved)
            if (step === 1) there.add(key);
            else there.delete(key);
          const bytes = (key: string) => Buffer.from(key);
          for (const key of keys) {
            const prefix = key.slice(0, 2);
            const own = [...there].filter((one) => one.startsWith(prefix));
            const order = (one: string) => Buffer.compare(bytes(one), bytes(key));
            expect(await offsets.below(prefix, key)).toBe(
              own.filter((one) => order(one) < 0).length,
            );
            expect(await offsets.above(prefix, key)).toBe(
              own.filter((one) => order(one) > 0).length,
            );
          }
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('O1: nothing that was counted during a write, or before one that failed, is kept', async () => {
  const map = await openMap();
  const offsets = createOffsets(map);
  await map.apply([['r0a', 'x']]);
  expect(await offsets.below('r0', 'r0c')).toBe(1);
  await expect(
    offsets.write([['r0b', 1]], () => Promise.reject(new Error('disk full'))),
  ).rejects.toThrow('disk full');
  expect(await offsets.below('r0', 'r0c')).toBe(1);
  await offsets.write([['r0b', 1]], async () => {
    await offsets.below('r0', 'r0d');
    await map.apply([['r0b', 'x']]);
  });
  expect(await offsets.below('r0', 'r0d')).toBe(2);
});
