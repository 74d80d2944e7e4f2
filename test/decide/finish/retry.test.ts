import { describe, expect, it } from 'vitest';
import { isRetried, retryDue, share, waitMs } from '../../../src/decide/finish/retry.js';
import { toRetryPolicy, type RetryInput } from '../../../src/model/retry.js';
import type { Failure } from '../../../src/model/step.js';
import { t0 } from '../../support/builders.js';

const broken: Failure = { name: 'Broken', message: 'It is broken.' };
const failed = { failure: broken, failed: 1, firstAccepted: t0, seed: 'j:0:1' };

describe('retryDue', () => {
  const cases: readonly [string, RetryInput, object, number | undefined][] = [
    ['gives up without a policy', 0, {}, undefined],
    ['waits a second by number', 1, {}, 1_000],
    ['tries again at once without a delay', { limit: 1, delay: 0 }, {}, 0],
    ['makes three attempts of two retries', 2, { failed: 2 }, 2_000],
    ['gives up after the last retry', 2, { failed: 3 }, undefined],
    ['waits the delay', { limit: 1, delay: 500 }, {}, 500],
    ['waits as the plugin wishes', { limit: 1, delay: 500 }, { retryAfterMs: 70 }, 70],
    [
      'waits no longer than a day, whatever the plugin wishes',
      { limit: 1, delay: 5 },
      { retryAfterMs: Infinity },
      86_400_000,
    ],
    [
      'waits no longer than `max`, whatever the plugin wishes',
      { limit: 1, delay: 5, max: 90_000 },
      { retryAfterMs: 1e300 },
      90_000,
    ],
    ['gives up what is not retryable', 5, { failure: { ...broken, retryable: false } }, undefined],
    ['gives up what `never` names', { limit: 1, never: ['Broken'] }, {}, undefined],
    ['gives up what `on` does not name', { limit: 1, on: ['Other'] }, {}, undefined],
    ['keeps within the total of the policy', { limit: 9, delay: 500, total: 499 }, {}, undefined],
    ['uses all of the total of the policy', { limit: 9, delay: 500, total: 500 }, {}, 500],
    ['keeps within the total of the task', { limit: 9, delay: 500 }, { totalMs: 499 }, undefined],
    ['keeps to the shorter total', { limit: 9, delay: 9, total: 8 }, { totalMs: 99 }, undefined],
    [
      'counts the total from the first attempt',
      { limit: 9, total: 9 },
      { firstAccepted: t0 - 10 },
      undefined,
    ],
  ];
  it.each(cases)('%s', (_title, written, attempt, afterMs) => {
    const due = retryDue(toRetryPolicy(written), { ...failed, ...attempt }, t0);
    expect(due).toBe(afterMs === undefined ? undefined : t0 + afterMs);
  });
});

describe('isRetried', () => {
  const coded: Failure = { name: 'HttpError', message: '', code: 'net.dns.timeout' };
  const cases: readonly [string, object, Failure, boolean][] = [
    ['retries everything without patterns', {}, broken, true],
    ['finds the name in `on`', { on: ['Other', 'Broken'] }, broken, true],
    ['finds nothing in an empty `on`', { on: [] }, broken, false],
    ['lets `never` win over `on`', { on: ['*'], never: ['Broken'] }, broken, false],
    ['takes * for everything', { on: ['*'] }, broken, true],
    ['finds the code', { on: ['net.dns.timeout'] }, coded, true],
    ['finds the name beside a code', { never: ['HttpError'] }, coded, false],
    ['finds a number as code', { never: ['404'] }, { ...broken, code: 404 }, false],
    ['matches up to .*', { on: ['net.*'] }, coded, true],
    ['matches a longer stem', { on: ['net.dns.*'] }, coded, true],
    ['does not match a part of a word', { on: ['net.d.*'] }, coded, false],
    ['does not match the bare stem', { on: ['net.*'] }, { ...broken, code: 'net' }, false],
    ['does not match the beginning of a name', { on: ['Brok'] }, broken, false],
    ['tells capitals apart', { on: ['broken'] }, broken, false],
  ];
  // Shows X-03.
  it.each(cases)('%s', (_title, patterns, failure, retried) => {
    expect(isRetried(toRetryPolicy({ limit: 1, ...patterns }), failure)).toBe(retried);
  });
});

describe('waitMs', () => {
  const cases: readonly [string, Exclude<RetryInput, number>, number, number][] = [
    ['is the delay before the first retry', { delay: 100, factor: 3 }, 1, 100],
    ['grows by the factor', { delay: 100, factor: 3 }, 3, 900],
    ['stays under the maximum', { delay: 100, factor: 3, max: 250 }, 3, 250],
    ['stays under a day when nothing is said', { delay: 1000, factor: 10 }, 9, 86_400_000],
    ['stays 0 however often it grows', { delay: 0, factor: 10 }, 5000, 0],
    ['stays at the maximum however often it grows', { delay: 1, factor: 10, max: 7 }, 5000, 7],
  ];
  // Shows E-11, X-01.
  it.each(cases)('%s', (_title, policy, failures, ms) => {
    expect(waitMs(toRetryPolicy(policy), { failed: failures, seed: 's' })).toBe(ms);
  });

  // Shows X-01.
  it('spreads the waits by the jitter, the same for the same text', () => {
    const policy = toRetryPolicy({ delay: 1000, jitter: 0.2 });
    const seeds = Array.from({ length: 200 }, (_, i) => `job-${i}:0:1`);
    const waits = seeds.map((seed) => waitMs(policy, { failed: 1, seed }));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(800);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1000);
    expect(new Set(waits).size).toBeGreaterThan(100);
    expect(seeds.map((seed) => waitMs(policy, { failed: 1, seed }))).toEqual(waits);
  });
});

describe('B4, B5: the wait of a policy', () => {
  const spread = { limit: 9, delay: 1000, factor: 2, max: 5000, spread: 0.5 };
  it.each<[string, RetryInput, readonly number[]]>([
    ['grows by the number of the attempt', { delay: 10, growth: 'linear' }, [10, 20, 30]],
    ['grows by its power', { delay: 10, growth: 'power', factor: 2 }, [10, 40, 90]],
    ['is never longer than max', { delay: 10, growth: 'power', factor: 3, max: 50 }, [10, 50, 50]],
  ])('%s', (_title, policy, waits) => {
    const of = (failures: number) => waitMs(toRetryPolicy(policy), { failed: failures, seed: 's' });
    expect([1, 2, 3].map(of)).toEqual(waits);
  });

  it('is spread to both sides within max, the same for the same text', () => {
    const seeds = Array.from({ length: 200 }, (_, n) => `j:${n}`);
    const waits = seeds.map((seed) => waitMs(toRetryPolicy(spread), { failed: 1, seed }));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...waits)).toBeLessThan(1500);
    expect(waits.some((ms) => ms < 800) && waits.some((ms) => ms > 1200)).toBe(true);
    const late = seeds.map((seed) => waitMs(toRetryPolicy(spread), { failed: 4, seed }));
    expect(Math.max(...late)).toBe(5000);
    expect(seeds.map((seed) => waitMs(toRetryPolicy(spread), { failed: 1, seed }))).toEqual(waits);
  });
});

describe('share', () => {
  it('lies evenly from 0 to 1', () => {
    const shares = Array.from({ length: 2000 }, (_, i) => share(`j${i}:0:1`));
    expect(shares.every((one) => one >= 0 && one < 1)).toBe(true);
    const mean = shares.reduce((sum, one) => sum + one, 0) / shares.length;
    expect(mean).toBeGreaterThan(0.4);
    expect(mean).toBeLessThan(0.6);
  });
});
