/** Work that is asked for more often than it can be done: one run at a time, and one more after it. */
export type Reloads = {
  /** Has it run, once more if it runs already. */
  readonly want: () => void;
  /** Resolves when none is under way and none is wanted. */
  readonly ended: () => Promise<void>;
};

/** `reload` must not reject. */
export function createReloads(reload: () => Promise<unknown>): Reloads {
  let isWanted = false;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false;
      await reload();
    }
    running = undefined;
  };
  return {
    want: () => {
      isWanted = true;
      running ??= run();
    },
    ended: async () => {
      await running;
    },
  };
}
