import { expect, it } from 'vitest';
import { createReloads } from '../../../src/engine/loop/feed.js';

it('a reload that is wanted while one runs is done once after it', async () => {
  const ends: (() => void)[] = [];
  const reloads = createReloads(() => new Promise<void>((resolve) => void ends.push(resolve)));
  await reloads.ended();
  for (let i = 0; i < 30; i += 1) reloads.want();
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await expect.poll(() => ends.length).toBe(2);
  const ended = reloads.ended();
  ends[1]?.();
  await ended;
  expect(ends).toHaveLength(2);
  reloads.want();
  expect(ends).toHaveLength(3);
});
