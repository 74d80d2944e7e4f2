import type { Io } from './io.js';

/** Tells on stderr what is going on, with the time each step took. */
export type Steps = {
  /** Runs one step: its title, and when it is done how long it took. */
  readonly run: <T>(title: string, work: () => Promise<T>) => Promise<T>;
};

/** @param now a clock in ms */
export function createSteps(io: Io, now: () => number = () => performance.now()): Steps {
  const began = now();
  return {
    run: async (title, work) => {
      const from = now();
      const result = await work();
      const took = io.style('dim', `(${seconds(now() - from)})`, 'stderr');
      io.say(`${io.style('dim', seconds(now() - began).padStart(7), 'stderr')}  ${title} ${took}`);
      return result;
    },
  };
}

/** `1.2 s`, or `35 ms` for what is shorter than a tenth of a second. */
export function seconds(ms: number): string {
  return ms < 100 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
