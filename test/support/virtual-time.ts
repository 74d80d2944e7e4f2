import { createVirtualClock, type VirtualClock } from '../../src/clock/virtual-clock.js';

/** The virtual clock of a simulation whose parts wait by promises. Times in ms. */
export type VirtualTime = Pick<VirtualClock, 'now'> & {
  readonly after: (ms: number, happen: () => void) => void;
  /** Has everything happen in its order until it is over. */
  readonly run: (isOver: () => boolean) => Promise<void>;
};

export function createVirtualTime(): VirtualTime {
  const clock = createVirtualClock({ settle: () => new Promise((next) => setImmediate(next)) });
  return {
    now: clock.now,
    after: (ms, happen) => void clock.after(ms, happen),
    run: async (isOver) => {
      if (!(await clock.run(isOver))) throw new Error('Nothing happens any more.');
    },
  };
}

/** Numbers that follow from a seed, from 0 to below `most`. */
export function dice(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}
