import { expect, test } from 'vitest';

import { createGuesses } from '../../src/embedded/auth/guesses.js';

function watched() {
  let now = 1;
  const guesses = createGuesses(() => now);
  const fail = (times: number, name = 'ann', address = 'here'): void => {
    for (let n = 0; n < times; n += 1) guesses.failed(name, address);
  };
  return { ...guesses, fail, pass: (ms: number) => void (now += ms) };
}

test.each([
  [4, 0],
  [5, 1_000],
  [6, 2_000],
  [8, 8_000],
  [11, 60_000],
  [1_000, 60_000],
])('O3: after %i failures a name is locked for %i ms', (failures, ms) => {
  const guesses = watched();
  guesses.fail(failures, 'ann', 'here');
  expect(guesses.lockedMs('ann', 'here')).toBe(ms);
});

test('a lock ends by itself, whatever was tried meanwhile, and is as long again by one failure', () => {
  const guesses = watched();
  guesses.fail(7);
  guesses.pass(3_999);
  expect(guesses.lockedMs('ann', 'here')).toBe(1);
  guesses.pass(1);
  expect(guesses.lockedMs('ann', 'here')).toBe(0);
  guesses.fail(1);
  expect(guesses.lockedMs('ann', 'here')).toBe(8_000);
});

test('others are not locked, elsewhere the same name is not, and a success forgets', () => {
  const guesses = watched();
  guesses.fail(6);
  expect(guesses.lockedMs('bob', 'here')).toBe(0);
  expect(guesses.lockedMs('ann', 'there')).toBe(0);
  guesses.passed('ann', 'here');
  expect(guesses.lockedMs('ann', 'here')).toBe(0);
});

test('O4: an address that tries many names is locked for all of them', () => {
  const guesses = watched();
  for (let n = 0; n < 30; n += 1) guesses.fail(1, `name-${n}`);
  expect(guesses.lockedMs('never-tried', 'here')).toBe(1_000);
  expect(guesses.lockedMs('never-tried', 'there')).toBe(0);
});

test('failures are forgotten after five minutes without another one', () => {
  const guesses = watched();
  guesses.fail(4);
  guesses.pass(300_001);
  guesses.fail(4);
  expect(guesses.lockedMs('ann', 'here')).toBe(0);
});
