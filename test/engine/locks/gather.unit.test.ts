import { describe, expect, it } from 'vitest';
import { gather } from '../../../src/engine/locks/gather.js';

/** Requests that the test answers by hand. */
function byHand() {
  const open: {
    readonly asked: readonly string[];
    resolve: (a: string) => void;
    reject: (e: Error) => void;
  }[] = [];
  const ask = gather<string, string>(
    (asked) => new Promise((resolve, reject) => open.push({ asked, resolve, reject })),
  );
  return { open, ask };
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('questions that are gathered', () => {
  it('go into one request when they are asked in the same turn', async () => {
    const { open, ask } = byHand();
    const answers = Promise.all([ask('a'), ask('b')]);
    await turn();
    expect(open.map(({ asked }) => asked)).toEqual([['a', 'b']]);
    open[0]?.resolve('1');
    expect(await answers).toEqual(['1', '1']);
  });

  it('wait for the next request when one is in flight: no answer is older than its question', async () => {
    const { open, ask } = byHand();
    const first = ask('a');
    await turn();
    const others = Promise.all([ask('b'), ask('c')]);
    await turn();
    expect(open).toHaveLength(1);
    open[0]?.resolve('1');
    await turn();
    expect(open[1]?.asked).toEqual(['b', 'c']);
    open[1]?.resolve('2');
    expect([await first, await others]).toEqual(['1', ['2', '2']]);
    void ask('d');
    await turn();
    expect(open[2]?.asked).toEqual(['d']);
  });

  it('fail together, and only together', async () => {
    const { open, ask } = byHand();
    const first = ask('a');
    await turn();
    const second = ask('b');
    open[0]?.reject(new Error('away'));
    await expect(first).rejects.toThrow('away');
    await turn();
    open[1]?.resolve('2');
    expect(await second).toBe('2');
  });
});
