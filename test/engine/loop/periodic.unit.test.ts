import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/clock.js';
import type { Assembly } from '../../../src/engine/assembly.js';
import { sweep } from '../../../src/engine/loop/periodic.js';
import type { ViewQuery } from '../../../src/store/views.js';

/** What the parts of a sweep ask for first, in an engine whose database is empty. */
const parts = ['library', 'engines', 'requests', 'signals', 'awake', 'due', 'waiting', 'timers'];
const all = [...parts, 'remains', 'locks'];

/** Sweeps until each other part came round three times; `broken` does as it is told instead. */
async function sweepWith(broken: string, fate: () => Promise<never>) {
  const ending = new AbortController();
  const rounds = new Map<string, number>(all.map((part) => [part, 0]));
  const begin = async (part: string): Promise<void> => {
    rounds.set(part, (rounds.get(part) ?? 0) + 1);
    if (part === broken) await fate();
  };
  async function* rows(view: string, query: ViewQuery): AsyncGenerator<never> {
    await begin(view === 'due' && query.startKey !== undefined ? 'timers' : view);
    yield* [];
  }
  const engine = {
    options: { sweepMs: 1 },
    ending,
    store: { rows, get: () => begin('remains'), remove: () => undefined },
    library: { load: () => begin('library') },
    locks: {
      removeOrphans: async (orphans: AsyncIterable<unknown>) => {
        for await (const orphan of orphans) expect(orphan).toBe('none');
      },
    },
    peers: { remains: () => ['engine:gone'], lease: () => 'dead', alive: () => [] },
    isReporter: () => true,
    controls: { replace: () => undefined },
    queueControls: { mark: () => 0, replace: () => false },
    notifyLists: { mark: () => 0, replace: () => undefined },
    replicas: { many: false },
    now: () => 0,
    clock: systemClock,
    horizonMs: () => 60_000,
    log: { debug: () => undefined },
  } as unknown as Assembly;
  const ended = sweep(engine);
  void ended.catch(() => undefined);
  const slowest = (): number =>
    Math.min(...[...rounds].filter(([part]) => part !== broken).map(([, times]) => times));
  await expect.poll(slowest).toBeGreaterThanOrEqual(3);
  ending.abort();
  return { rounds: rounds.get(broken) ?? 0, ended };
}

describe('a part of the sweep', () => {
  it.each(all)('that hangs holds up no other: %s', async (part) => {
    const hangs = () => new Promise<never>(() => undefined);
    expect((await sweepWith(part, hangs)).rounds).toBe(1);
  });

  it.each(all)('that fails is begun again, and holds up no other: %s', async (part) => {
    const { rounds, ended } = await sweepWith(part, () => Promise.reject(new Error('away')));
    await ended;
    expect(rounds).toBeGreaterThan(1);
  });
});
