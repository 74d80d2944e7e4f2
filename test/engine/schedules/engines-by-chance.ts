import type { FollowParts } from '../../../src/engine/loop/followed-parts.js';
import type { Followed } from '../../../src/engine/loop/followed.js';
import type { WriteResult } from '../../../src/store/batch.js';
import {
  createCluster,
  peerOf,
  startPart,
  type Pending,
  type SimulatedEngine,
} from './slot-world.js';

type Timer = { readonly at: number; readonly fire: () => void; readonly of: string };

export type Chances = {
  readonly nodes: 1 | 3;
  /** Numbers from 0 to 1, taken in turn: the same run again for the same ones. */
  readonly chances: readonly number[];
};

type Ports<F extends Followed> = {
  readonly create: (parts: FollowParts) => F;
  /** The time, epoch ms. */
  readonly time: () => number;
  /** By how much the clock of an engine is off, ms. */
  readonly skew?: (name: string) => number;
  readonly onWrite: (doc: { readonly _id: string }, result: WriteResult) => void;
};

/** Engines on a cluster that are begun and killed by chance, and whose reads and writes are put off. */
export function enginesByChance<F extends Followed>(
  { nodes, chances }: Chances,
  { create, time, skew = () => 0, onWrite }: Ports<F>,
) {
  let drawn = 0;
  const chance = (): number => chances[drawn++ % chances.length] ?? 0;
  const pick = (most: number): number => Math.floor(chance() * most) % most;
  const reach = (): readonly number[] => {
    if (nodes === 1) return [0];
    const all = [0, 1, 2].sort(() => chance() - 0.5);
    return chance() < 0.2 ? all.slice(0, 1 + pick(2)) : all;
  };
  const cluster = createCluster(nodes, reach);
  const engines = new Map<string, SimulatedEngine<F>>();
  const timers = new Set<Timer>();
  let pending: Pending[] = [];
  /** Undefined: it runs already. */
  const begin = (name: string): SimulatedEngine<F> | undefined => {
    if (engines.has(name)) return undefined;
    const ports = {
      ...{ cluster, pick, onWrite, alive: () => [...engines.keys()].map(peerOf) },
      now: () => time() + skew(name),
      later: (of: string, happen: () => void) => pending.push({ of, happen }),
      wait: (ms: number, fire: () => void) => {
        const timer = { at: time() + Math.max(0, ms), fire, of: name };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    };
    const engine = startPart(name, ports, create);
    engines.set(name, engine);
    return engine;
  };
  const kill = (name: string): void => {
    engines.get(name)?.kill();
    engines.delete(name);
    pending = pending.filter(({ of }) => of !== name);
    for (const timer of timers) if (timer.of === name) timers.delete(timer);
  };
  const takePending = (): Pending | undefined =>
    pending.length === 0 ? undefined : pending.splice(pick(pending.length), 1)[0];
  return { chance, pick, cluster, engines, timers, begin, kill, takePending };
}
