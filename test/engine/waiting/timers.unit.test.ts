import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTimers } from '../../../src/engine/waiting/timers.js';
import { after } from '../../../src/turns.js';

describe('timers', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const woken: string[] = [];
  const open = () => {
    woken.length = 0;
    return createTimers((id) => woken.push(id), Date.now);
  };

  it('wake in the order of their times', () => {
    const timers = open();
    const now = Date.now();
    timers.set('late', now + 300);
    timers.set('early', now + 100);
    vi.advanceTimersByTime(100);
    expect(woken).toEqual(['early']);
    vi.advanceTimersByTime(200);
    expect(woken).toEqual(['early', 'late']);
  });

  it('wake a job once, at the earlier of two times', () => {
    const timers = open();
    timers.set('job', Date.now() + 100);
    timers.set('job', Date.now() + 500);
    vi.advanceTimersByTime(1_000);
    expect(woken).toEqual(['job']);
  });

  it('forget a job that was cleared', () => {
    const timers = open();
    timers.set('job', Date.now() + 100);
    timers.clear('job');
    expect(timers.due.size).toBe(0);
    vi.advanceTimersByTime(1_000);
    expect(woken).toEqual([]);
  });

  it('wait longer than a node timer can', () => {
    const timers = open();
    const fortyDays = 40 * 86_400_000;
    timers.set('job', Date.now() + fortyDays);
    vi.advanceTimersByTime(fortyDays - 1);
    expect(woken).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(woken).toEqual(['job']);
  });

  it('wake jobs once, however often their times were set', () => {
    const timers = open();
    const ids = Array.from({ length: 700 }, (_, n) => `job-${n}`);
    const at = Date.now() + 100;
    for (let sweep = 0; sweep < 4; sweep += 1) {
      for (const [n, id] of ids.entries()) {
        timers.clear(id);
        timers.set(id, at + n);
      }
    }
    vi.advanceTimersByTime(1_000);
    expect(woken).toEqual(ids);
  });

  it('wake nobody after the stop', () => {
    const timers = open();
    timers.set('job', Date.now() + 100);
    timers.stop();
    vi.advanceTimersByTime(1_000);
    expect(woken).toEqual([]);
  });
});

describe('a timeout of any length', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([100, 0x7fff_ffff + 1, 5 * 0x7fff_ffff])('of %d ms is over then, not before', (ms) => {
    const over = vi.fn();
    after(ms, over);
    vi.advanceTimersByTime(ms - 1);
    expect(over).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(over).toHaveBeenCalledOnce();
  });

  it('is never over when it is endless or called off', () => {
    const over = vi.fn();
    after(Infinity, over);
    after(10, over)();
    vi.advanceTimersByTime(1_000_000);
    expect(over).not.toHaveBeenCalled();
  });
});
