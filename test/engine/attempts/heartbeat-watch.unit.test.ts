import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchHeartbeat } from '../../../src/engine/attempts/heartbeat-watch.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Watches with a clock that the test moves; counts how often the silence was over. */
function watched(ms: number) {
  let times = 0;
  const silence = watchHeartbeat(ms, () => (times += 1));
  return { silence, times: () => times };
}

describe('the silence of an attempt', () => {
  it('is told once, when there was no sign of life for so long', async () => {
    const { times } = watched(1_000);
    await vi.advanceTimersByTimeAsync(999);
    expect(times()).toBe(0);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(times()).toBe(1);
  });

  it('begins anew with each sign of life', async () => {
    const { silence, times } = watched(1_000);
    for (let i = 0; i < 10; i += 1) {
      await vi.advanceTimersByTimeAsync(900);
      silence.beat();
    }
    expect(times()).toBe(0);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(times()).toBe(1);
  });

  it('does not count the time in which the process stood still', async () => {
    const { times } = watched(1_000);
    await vi.advanceTimersByTimeAsync(900);
    const clock = performance.now();
    const still = vi.spyOn(performance, 'now').mockImplementation(() => clock + 30_000);
    await vi.advanceTimersByTimeAsync(101);
    expect(times()).toBe(0);
    still.mockRestore();
  });

  it('is never told when it was stopped', async () => {
    const { silence, times } = watched(1_000);
    silence.stop();
    await vi.advanceTimersByTimeAsync(1e9);
    expect(times()).toBe(0);
  });
});
