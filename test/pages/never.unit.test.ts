import { expect, it } from 'vitest';
import { neverDue } from '../../src/model/scalars.js';
import { isNever } from '../../src/pages/parts/never.js';

it('knows the time that engines write for what only a signal wakes', () => {
  expect(isNever(neverDue)).toBe(true);
  expect(isNever(neverDue - 1)).toBe(false);
  expect(isNever(Date.now())).toBe(false);
});
