import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Report } from '../../../src/decide/finish/report.js';
import { createReporter } from '../../../src/engine/attempts/reporter.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A reporter that writes every 5 s at most, first after 1 s; each write takes `tookMs`. */
function reporting(tookMs = 0) {
  const written: Report[] = [];
  const reporter = createReporter({
    everyMs: 5_000,
    firstMs: 1_000,
    write: async (report) => {
      written.push(report);
      if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs));
    },
  });
  return { reporter, written };
}

describe('what a running attempt tells', () => {
  it('is not written while the attempt is young', async () => {
    const { reporter, written } = reporting();
    reporter.progress(0.5);
    await vi.advanceTimersByTimeAsync(999);
    expect(written).toEqual([]);
    expect(reporter.report()).toEqual({ progress: 0.5 });
    reporter.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(written).toEqual([]);
  });

  it('is written whole, now and then, however often it is told', async () => {
    const { reporter, written } = reporting();
    for (let i = 0; i < 120; i += 1) {
      reporter.progress(i);
      reporter.details({ i });
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(written.map(({ progress }) => progress)).toEqual([9, 59, 109]);
    expect(written.at(-1)).toEqual({ progress: 109, details: { i: 109 } });
  });

  it('is not written again when nothing new was told', async () => {
    const { reporter, written } = reporting();
    reporter.details(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(written).toEqual([{ details: 1 }]);
  });

  it('waits for a write that takes long', async () => {
    const { reporter, written } = reporting(30_000);
    reporter.progress(1);
    await vi.advanceTimersByTimeAsync(1_000);
    reporter.progress(2);
    await vi.advanceTimersByTimeAsync(34_999);
    expect(written).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(written).toEqual([{ progress: 1 }, { progress: 2 }]);
  });

  it('is written by the next report when a write was refused', async () => {
    const written: Report[] = [];
    const failures = [new Error('no')];
    const reporter = createReporter({
      everyMs: 5_000,
      firstMs: 1_000,
      write: (report) => {
        const failure = failures.shift();
        if (failure !== undefined) return Promise.reject(failure);
        written.push(report);
        return Promise.resolve();
      },
    });
    reporter.progress(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written).toEqual([{ progress: 1 }]);
    reporter.stop();
  });

  it('keeps the newest lines, of however many', () => {
    const { reporter } = reporting();
    for (let at = 0; at < 1_234; at += 1) reporter.log({ at, message: 'm' });
    const { log = [] } = reporter.report();
    expect(log).toHaveLength(50);
    expect(log.at(-1)).toEqual({ at: 1_233, message: 'm' });
    reporter.stop();
  });
});
