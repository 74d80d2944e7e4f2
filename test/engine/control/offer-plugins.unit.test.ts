import { expect, it } from 'vitest';
import type { Assembly } from '../../../src/engine/assembly.js';
import { followPlugins } from '../../../src/engine/control/offer-plugins.js';

/** An engine whose database answers a scan when `answer` is called. */
function engineThatScans() {
  const ending = new AbortController();
  const listeners = new Set<() => void>();
  const offered: unknown[] = [];
  const scans: (() => void)[] = [];
  const engine = {
    options: {
      plugins: {
        names: () => ['a'],
        list: () => [{ name: 'b', problem: 'Plugin b cannot be loaded: x.' }],
        onReload: (hear: () => void) => {
          listeners.add(hear);
          return () => void listeners.delete(hear);
        },
      },
    },
    ...{ id: 'engine:x', ending, self: { plugins: new Set(['old']) } },
    serializer: { queue: (_id: string, task: () => Promise<void>) => task() },
    presence: { offer: (now: unknown) => Promise.resolve(void offered.push(now)) },
    log: { debug: () => undefined },
    ...{ queueControls: { mark: () => 0 }, notifyLists: { mark: () => 0 } },
    store: {
      rows: async function* () {
        await new Promise<void>((resolve) => void scans.push(resolve));
        yield* [];
        throw new Error('the database is away');
      },
    },
  } as unknown as Assembly;
  const reload = (): void => listeners.forEach((hear) => hear());
  return { engine, ending, offered, scans, listeners, reload };
}

it('an engine that ends awaits the scan that a reload of plugins began', async () => {
  const { engine, ending, offered, scans, listeners, reload } = engineThatScans();
  let isOver = false;
  const following = followPlugins(engine).then(() => (isOver = true));
  reload();
  expect(offered).toEqual([{ plugins: ['a'], broken: { b: 'Plugin b cannot be loaded: x.' } }]);
  expect([...engine.self.plugins]).toEqual(['a']);
  expect(scans).toHaveLength(1);
  ending.abort();
  await new Promise(setImmediate);
  expect(listeners.size).toBe(0);
  expect(isOver).toBe(false);
  scans[0]?.();
  await following;
});

it('a failed scan after a reload does not keep the next reload from scanning', async () => {
  const { engine, ending, scans, reload } = engineThatScans();
  const following = followPlugins(engine);
  reload();
  scans[0]?.();
  await new Promise(setImmediate);
  reload();
  expect(scans).toHaveLength(2);
  scans[1]?.();
  ending.abort();
  await following;
});
