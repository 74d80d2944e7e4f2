import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../src/clock/virtual-clock.js';

const never = (): boolean => false;

describe('a virtual clock', () => {
  it('Y3: has everything happen in its time, and at the same moment in the order of planning', async () => {
    const clock = createVirtualClock({ from: 100 });
    const seen: string[] = [];
    const at = (name: string) => () => void seen.push(`${name} at ${clock.now()}`);
    clock.after(20, at('c'));
    clock.after(10, at('a'));
    clock.after(10, at('b'));
    clock.after(-5, at('now'));
    clock.after(15, at('never'))();
    clock.after(Infinity, at('never'));
    expect(await clock.run(never)).toBe(false);
    expect(seen).toEqual(['now at 100', 'a at 110', 'b at 110', 'c at 120']);
  });

  it('Y4: waits until what an event caused has settled', async () => {
    const settle = (): Promise<void> => new Promise((next) => setImmediate(next));
    const clock = createVirtualClock({ settle });
    const seen: number[] = [];
    const work = async (): Promise<void> => {
      await clock.sleep(10);
      await Promise.resolve();
      await clock.sleep(10);
      seen.push(clock.now());
    };
    void work();
    clock.after(15, () => void seen.push(clock.now()));
    await clock.run(() => seen.length === 2);
    expect(seen).toEqual([15, 20]);
  });

  it('Y5: leaves upkeep out of a long time in which nothing else happens', async () => {
    const clock = createVirtualClock({ quietMs: 60 });
    const upkeep: string[] = [];
    const again = (): void => {
      upkeep.push(`${clock.steady()}/${clock.now()}`);
      clock.upkeep.after(25, again);
    };
    clock.upkeep.after(25, again);
    clock.after(1_000, () => undefined);
    expect(await clock.run(never)).toBe(false);
    // It stands still from 60 to 1,000, and its third time comes 15 ms later.
    expect(upkeep).toEqual(['25/25', '50/50', '75/1015', '100/1040']);
    expect(clock.now() - clock.steady()).toBe(940);
    clock.stir();
    await clock.run(() => upkeep.length > 5);
    expect(upkeep.at(-1)).toBe('150/1090');
  });

  it('ends a sleep with its signal', async () => {
    const clock = createVirtualClock();
    const end = new AbortController();
    const sleeps = [clock.sleep(1_000, end.signal), clock.sleep(1, AbortSignal.abort())];
    end.abort();
    await Promise.all(sleeps);
    expect(await clock.run(never)).toBe(false);
    expect(clock.now()).toBe(0);
  });
});
