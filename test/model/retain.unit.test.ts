import { describe, expect, it } from 'vitest';
import { readRetain } from '../../src/model/retain.js';

describe('readRetain', () => {
  it.each([
    [undefined],
    [{}],
    [{ succeeded: { age: 'P30D' } }],
    [{ succeeded: { age: 0 }, failed: { count: 0 }, cancelled: { age: 'PT12H', count: 5 } }],
  ])('takes %j', (written) => {
    const { rule, problems } = readRetain(written);
    expect(problems).toEqual([]);
    expect(rule).toEqual(written);
  });

  const duration =
    'must be a duration in whole seconds: milliseconds (a multiple of 1000), or a text such as "15m", "1d" or "PT15M" (ISO 8601 without months and years)';

  it.each([
    [
      5,
      'retain must be {succeeded, failed, cancelled}, each {age, count}, and {archive}; it is 5.',
    ],
    [
      'P30D',
      'retain must be {succeeded, failed, cancelled}, each {age, count}, and {archive}; it is the string "P30D".',
    ],
    [
      [],
      'retain must be {succeeded, failed, cancelled}, each {age, count}, and {archive}; it is an empty list.',
    ],
    [
      null,
      'retain must be {succeeded, failed, cancelled}, each {age, count}, and {archive}; it is null.',
    ],
    [
      { days: 1 },
      'retain.days must be left out: there can be only succeeded, failed, cancelled, archive.',
    ],
    [{ failed: 1 }, 'retain.failed must be {age, count}, or one of them; it is 1.'],
    [
      { failed: {} },
      'retain.failed must have "age", "count" or both; it is an object without keys.',
    ],
    [{ failed: { ages: 1 } }, 'retain.failed.ages must be left out: there can be only age, count.'],
    [{ failed: { age: 1_500 } }, `retain.failed.age ${duration}; it is 1500.`],
    [{ failed: { age: 'P1M' } }, `retain.failed.age ${duration}; it is the string "P1M".`],
    [{ failed: { age: '30 d' } }, `retain.failed.age ${duration}; it is the string "30 d".`],
    [
      { failed: { age: -1 } },
      'retain.failed.age must be a duration in milliseconds (a whole number, 0 or more); it is -1.',
    ],
    [
      { failed: { count: 1.5 } },
      'retain.failed.count must be a number of jobs (a whole number, 0 or more); it is 1.5.',
    ],
    [
      { failed: { count: '3' } },
      'retain.failed.count must be a number of jobs (a whole number, 0 or more); it is the string "3".',
    ],
  ])('refuses %j', (written, message) => {
    const { rule, problems } = readRetain(written);
    expect(rule).toBeUndefined();
    expect(problems.map((one) => one.message)).toEqual([message]);
    expect(problems[0]?.path).toBe(message.split(' ')[0]);
  });
});
