import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBlockWatch } from '../../../src/engine/watch/blocking.js';
import type { Log } from '../../../src/engine/log.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A watch whose event loop stands still when the test says so. */
function watching() {
  const lines: string[] = [];
  const log = { warn: (_about: object, message: string) => void lines.push(message) };
  let stoodMs = 0;
  let computedMs = 0;
  const processorMs = (): number => computedMs;
  const watch = createBlockWatch({ log: log as unknown as Log, processorMs });
  const clock = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => clock() + stoodMs);
  const begin = (plugin: string) => {
    const told: number[] = [];
    const about = { job: `job-${plugin}`, step: 's', attempt: 1 };
    const watched = watch.begin({
      plugin,
      file: `/p/${plugin}.mjs`,
      about,
      blocked: (ms) => void told.push(ms),
    });
    return { ...watched, told };
  };
  return {
    lines,
    begin,
    stand: (ms: number) => {
      stoodMs += ms;
      computedMs += ms;
    },
    /** The whole process stood still. */
    pause: (ms: number) => void (stoodMs += ms),
    goOn: (ms = 1_000) => vi.advanceTimersByTimeAsync(ms),
  };
}

describe('a plugin that holds up everything else', () => {
  it('is told when it was the only one', async () => {
    const { begin, stand, goOn, lines } = watching();
    const a = begin('a');
    await goOn();
    stand(3_000);
    await goOn();
    expect(a.told).toHaveLength(1);
    expect(a.told[0]).toBeGreaterThan(2_500);
    expect(lines).toEqual([
      expect.stringMatching(
        /^Plugin a blocked the engine for \d{4} ms \(step s of job job-a\); with export const isolate = 'thread' it holds up nobody else\.$/,
      ),
    ]);
  });

  it('is told before its end, so that its step can say so', async () => {
    const { begin, stand, goOn, lines } = watching();
    const a = begin('a');
    await goOn();
    stand(3_000);
    a.end();
    expect(a.told).toHaveLength(1);
    await goOn();
    expect(lines).toHaveLength(1);
  });

  it('is told, whoever else is there, when it ran so long without a pause', async () => {
    const { begin, stand, goOn, lines } = watching();
    const [a, b] = [begin('a'), begin('b')];
    await goOn();
    stand(3_000);
    a.ran(3_000);
    await goOn();
    expect([a.told, b.told]).toEqual([[3_000], []]);
    expect(lines).toHaveLength(1);
  });

  it('is one of several, all of which are named, when nothing tells which', async () => {
    const { begin, stand, goOn, lines } = watching();
    const [a, b, c] = [begin('a'), begin('b'), begin('c')];
    c.end();
    await goOn();
    stand(3_000);
    const late = begin('late');
    await goOn();
    expect([a.told, b.told, c.told, late.told]).toEqual([[], [], [], []]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('a (step s of job job-a), b (step s of job job-b);');
  });

  it('is not told for less than a second, nor when no plugin was there', async () => {
    const { begin, stand, goOn, lines } = watching();
    const a = begin('a');
    a.ran(999);
    await goOn();
    stand(900);
    await goOn();
    a.end();
    await goOn();
    stand(60_000);
    await goOn();
    expect(a.told).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('is not told when the process stood still, or had no processor', async () => {
    const { begin, pause, goOn, lines } = watching();
    const [a, b] = [begin('a'), begin('b')];
    await goOn();
    pause(5_000);
    a.ran(5_000);
    await goOn();
    pause(5_000);
    b.end();
    await goOn();
    expect([a.told, b.told]).toEqual([[], []]);
    expect(lines).toEqual([]);
  });

  it('costs no timer while there is none', async () => {
    const { begin, goOn } = watching();
    expect(vi.getTimerCount()).toBe(0);
    const a = begin('a');
    expect(vi.getTimerCount()).toBe(1);
    a.end();
    await goOn();
    expect(vi.getTimerCount()).toBe(0);
  });
});
