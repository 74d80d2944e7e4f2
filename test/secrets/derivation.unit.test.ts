import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { derived } from '../../src/secrets/derivation.js';

/** Derivations that go on until each is ended by hand. */
function underHand() {
  const ends: (() => void)[] = [];
  let begun = 0;
  let running = 0;
  const derive = async (fails = false): Promise<Buffer> => {
    begun += 1;
    running += 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
    if (fails) throw new Error('no key');
    return Buffer.from('key');
  };
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await setImmediate();
  };
  // The places are those of the process: none is kept when a test fails.
  onTestFinished(async () => {
    while (ends.length > 0) await endOne();
  });
  return { derive, endOne, begun: () => begun, running: () => running };
}

it('derives two keys at a time, the next as soon as one is done or has failed', async () => {
  const { derive, endOne, begun, running } = underHand();
  const keys = Array.from({ length: 6 }, (_, i) => derived(randomUUID(), () => derive(i === 1)));
  const settled = Promise.allSettled(keys);
  await setImmediate();
  for (let ended = 0; ended < keys.length; ended += 1) {
    expect([running(), begun()]).toEqual([Math.min(2, 6 - ended), Math.min(6, 2 + ended)]);
    await endOne();
  }
  const rejected = (await settled).map(({ status }) => status === 'rejected');
  expect(rejected).toEqual([false, true, false, false, false, false]);
  // No place is lost or won by what went before.
  const later = Array.from({ length: 3 }, () => derived(randomUUID(), () => derive()));
  await setImmediate();
  expect(running()).toBe(2);
  for (let ended = 0; ended < later.length; ended += 1) await endOne();
  await Promise.all(later);
});

it('derives the key of a name once for all who ask, and again when that has failed', async () => {
  const { derive, endOne, begun } = underHand();
  const name = randomUUID();
  const failing = [1, 2].map(() => derived(name, () => derive(true)));
  const settled = Promise.allSettled(failing);
  await setImmediate();
  await endOne();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(begun()).toBe(1);
  const again = derived(name, () => derive());
  await setImmediate();
  await endOne();
  expect((await again).toString()).toBe('key');
  expect(await derived(name, () => derive())).toBe(await again);
  expect(begun()).toBe(2);
});
