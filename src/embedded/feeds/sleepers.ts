type Sleeper = { readonly since: number; readonly wake: () => void };

/** Those who wait for something to happen after a position. */
export type Sleepers = {
  /** Resolves when woken or aborted. */
  sleep(since: number, signal: AbortSignal): Promise<void>;
  /** Wakes all whose position lies before another. */
  wakeBefore(position: number): void;
  /** The lowest position; Infinity when nobody sleeps. */
  earliest(): number;
  count(): number;
};

export function createSleepers(): Sleepers {
  const sleepers = new Set<Sleeper>();
  return {
    sleep: (since, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper: Sleeper = { since, wake };
        sleepers.add(sleeper);
        signal.addEventListener('abort', wake);
      }),
    wakeBefore(position) {
      for (const sleeper of sleepers) if (sleeper.since < position) sleeper.wake();
    },
    earliest() {
      let lowest = Infinity;
      for (const { since } of sleepers) lowest = Math.min(lowest, since);
      return lowest;
    },
    count: () => sleepers.size,
  };
}
