import { expect, it } from 'vitest';
import { isWrittenLength, spanSchema, writtenLengthSchema } from '../../src/model/span.js';

it.each<[string, number]>([
  ['500ms', 500],
  ['5s', 5_000],
  ['1.5s', 1_500],
  ['2m', 120_000],
  ['1h30m', 5_400_000],
  ['1d', 86_400_000],
  ['2w', 1_209_600_000],
  ['1m5s250ms', 65_250],
  ['PT1M30S', 90_000],
  ['PT1.5S', 1_500],
])('%s is a duration of %d ms', (text, ms) => {
  expect(writtenLengthSchema.parse(text)).toBe(ms);
});

it.each(['', '5', '5 s', 's', '5S', '-5s', '5s2m', '1.5h', '9999999999999w', 'P', 'PT', '5msx'])(
  '"%s" is none',
  (text) => {
    expect(isWrittenLength(text)).toBe(false);
    expect(writtenLengthSchema.safeParse(text).success).toBe(false);
  },
);

it('a span has whole seconds', () => {
  expect(spanSchema.safeParse('1500ms').success).toBe(false);
  expect(spanSchema.safeParse('15m').success).toBe(true);
});
