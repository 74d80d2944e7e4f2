import { setTimeout as sleepFor } from 'node:timers/promises';
import { after, type Waiter } from '../turns.js';

/** Waits: by a callback that can be called off, or by a promise that ends with a signal and never rejects. */
export type Waits = {
  readonly after: Waiter;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/**
 * The time by which an engine goes. A clock of its own makes a week pass in milliseconds, see
 * `virtual-clock.ts`.
 */
export type Clock = Waits & {
  /** Epoch ms. */
  readonly now: () => number;
  /** Ms from some moment on: nobody sets it, and it says how long something took. */
  readonly steady: () => number;
  /** The same waits for what is repeated for as long as an engine lives: a virtual clock may leave it out. */
  readonly upkeep: Waits;
};

const waits: Waits = {
  after,
  sleep: async (ms, signal) => {
    await sleepFor(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  },
};

/** The clock of the machine. */
export const systemClock: Clock = {
  ...waits,
  now: () => Date.now(),
  steady: () => performance.now(),
  upkeep: waits,
};
