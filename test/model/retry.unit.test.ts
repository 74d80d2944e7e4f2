import { usualRetry } from '../../src/model/usual-retry.js';
import { describe, expect, it } from 'vitest';
import { toRetryPolicy, type RetryInput } from '../../src/model/retry.js';

const none = { limit: 0, delay: 1_000, factor: 2, max: 60_000, jitter: 0 };
const own = { factor: 1, max: 86_400_000 };

describe('toRetryPolicy', () => {
  it.each<[title: string, written: RetryInput | undefined, policy: object]>([
    ['nothing', undefined, none],
    ['0', 0, none],
    ['a number of retries', 3, { ...none, limit: 3 }],
    ['an empty policy', {}, none],
    ['a delay', { limit: 2, delay: 50 }, { ...none, ...own, limit: 2, delay: 50 }],
    ['no delay', { limit: 2, delay: 0 }, { ...none, ...own, limit: 2, delay: 0 }],
    ['a growth of its own', { growth: 'linear' }, { ...none, factor: 1, growth: 'linear' }],
    ['a factor without a delay', { limit: 1, factor: 3 }, { ...none, limit: 1, factor: 3 }],
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
    const given = { delay: 700, factor: 3, max: 5_000 };
    expect(toRetryPolicy(2, given)).toMatchObject({ limit: 2, ...given });
    expect(toRetryPolicy({ limit: 2 }, given)).toMatchObject({ limit: 2, ...given });
    expect(toRetryPolicy({ delay: 10 }, given)).toMatchObject({ delay: 10, ...own });
    expect(toRetryPolicy({ delay: 0 }, given)).toMatchObject({ delay: 0, factor: 1 });
  });

  it('never cuts the first wait short', () => {
    const slow = { ...usualRetry, delay: 90_000 };
    expect(toRetryPolicy(2, slow)).toMatchObject({ delay: 90_000, max: 90_000 });
  });

  it('does not let a wait of 0 grow: 0 times infinity would be no time', () => {
    expect(toRetryPolicy({ limit: 9, delay: 0, factor: 1e308 })).toMatchObject({
      delay: 0,
      factor: 1,
    });
  });
});
