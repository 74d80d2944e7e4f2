import { createVirtualClock, type VirtualClock } from '../../src/clock/virtual-clock.js';
import type { Waiter } from '../../src/turns.js';
import { t0 } from '../support/builders.js';

/** The virtual clock of an installation; promises are waited for only where something hangs on them. */
export type Clock = Pick<VirtualClock, 'now' | 'turn' | 'run'> & {
  /** Plans something; the answer calls it off. */
  readonly wait: Waiter;
  /** What follows hangs on promises: they go on before the next event. */
  readonly settle: () => void;
};

/** So many turns of promises follow one event at most. */
const mostTurns = 12;

export function createClock(): Clock {
  let isOpen = false;
  const clock = createVirtualClock({
    from: t0,
    settle: () => {
      if (!isOpen) return undefined;
      isOpen = false;
      return promisesGoOn();
    },
  });
  const { now, run, after: wait } = clock;
  return {
    ...{ now, run, wait },
    settle: () => void (isOpen = true),
    turn: () =>
      new Promise((resolve) => {
        wait(0, () => {
          isOpen = true;
          resolve();
        });
      }),
  };
}

async function promisesGoOn(): Promise<void> {
  for (let turns = 0; turns < mostTurns; turns += 1) await Promise.resolve();
}
