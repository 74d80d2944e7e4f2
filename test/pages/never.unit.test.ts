import { expect, it } from 'vitest';
import { neverDue } from '../../src/model/scalars.js';
import { isNeverDue } from '../../src/pages/parts/never.js';

it('knows the time that engines write for what only a signal wakes', () => {
  expect(isNeverDue(neverDue)).toBe(true);
  expect(isNeverDue(neverDue - 1)).toBe(false);
  expect(isNeverDue(Date.now())).toBe(false);
});
