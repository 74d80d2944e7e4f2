import { expect, it } from 'vitest';
import { retryAfter } from '../../src/plugin/answers.js';

const now = Date.UTC(2026, 0, 1);

it.each<[string | null, number | undefined]>([
  [null, undefined],
  ['', undefined],
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7_000],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
  ['Thu Jan  1 00:00:30 2026', 30_000],
  ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
  ['99999999999999999999', 86_400_000],
  ['Thu, 01 Jan 2099 00:00:00 GMT', 86_400_000],
  ...['1.5', '-1', '+5', '1e3', '0x10', '5s', '2026-01-01', '2026-01-01T00:01:00Z'].map(
    (text): [string, undefined] => [text, undefined],
  ),
  ...['1, 2', 'soon', 'Thu, 99 Jan 2026 00:00:30 GMT', 'Thu, 01 Jan 2026 00:00:30'].map(
    (text): [string, undefined] => [text, undefined],
  ),
])('Retry-After %j asks to wait %j ms', (header, wanted) => {
  expect(retryAfter(header, now)).toBe(wanted);
});
