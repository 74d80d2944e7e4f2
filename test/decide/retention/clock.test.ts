import { expect, it } from 'vitest';
import { clockAhead, mostAheadMs } from '../../../src/decide/retention/clock.js';

it.each<[string, number, number | undefined, number]>([
  ['is as that of the server', 1_000_000, 1_000_000, 0],
  ['is a little ahead', 1_000_000 + mostAheadMs, 1_000_000, 0],
  ['is too far ahead', 1_000_001 + mostAheadMs, 1_000_000, mostAheadMs + 1],
  ['is behind, so that things stay longer', 0, 1_000_000_000, 0],
  ['has nothing to be compared with', 1_000_000, undefined, 0],
])('SR2: a clock %s', (_title, now, serverAt, ahead) => {
  expect(clockAhead(now, serverAt)).toBe(ahead);
});
