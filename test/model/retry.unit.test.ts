import { describe, expect, it } from 'vitest';
import { toRetryPolicy, type RetryInput } from '../../src/model/retry.js';

const none = { limit: 0, delay: 0, factor: 1, max: 86_400_000, jitter: 0 };

describe('toRetryPolicy', () => {
  it.each<[title: string, written: RetryInput | undefined, policy: object]>([
    ['nothing', undefined, none],
    ['0', 0, none],
    ['a number of retries', 3, { ...none, limit: 3 }],
    ['an empty policy', {}, none],
    ['a delay', { limit: 2, delay: 50 }, { ...none, limit: 2, delay: 50 }],
    [
      'a growing delay',
      { limit: 2, delay: 50, factor: 2, max: 400 },
      { ...none, limit: 2, delay: 50, factor: 2, max: 400 },
    ],
    ['full jitter', { jitter: true }, { ...none, jitter: 1 }],
    ['no jitter', { jitter: false }, none],
    ['some jitter', { jitter: 0.25 }, { ...none, jitter: 0.25 }],
    ['a total', { total: 5000 }, { ...none, total: 5000 }],
    [
      'names of failures',
      { on: ['Timeout'], never: ['Fatal'] },
      { ...none, on: ['Timeout'], never: ['Fatal'] },
    ],
  ])('fills in %s', (_title, written, policy) => {
    expect(toRetryPolicy(written)).toEqual(policy);
  });

  it('uses the given delay where the policy has none', () => {
    expect(toRetryPolicy(2, 700)).toMatchObject({ limit: 2, delay: 700 });
    expect(toRetryPolicy({ delay: 10 }, 700)).toMatchObject({ delay: 10 });
    expect(toRetryPolicy({ delay: 0 }, 700)).toMatchObject({ delay: 0 });
  });

  it('does not let a wait of 0 grow: 0 times infinity would be no time', () => {
    expect(toRetryPolicy({ limit: 9, factor: 1e308 })).toMatchObject({ delay: 0, factor: 1 });
  });
});
