/** Everything that was started and has to be ended, the last first. */
export type Cleanup = {
  readonly add: (end: () => Promise<unknown>) => void;
  /** Ends all of it; the first error is thrown after the rest has ended. */
  readonly run: () => Promise<void>;
};

/** Makes an empty list. */
export function createCleanup(): Cleanup {
  const ends: (() => Promise<unknown>)[] = [];
  return {
    add: (end) => {
      ends.push(end);
    },
    run: async () => {
      const errors: unknown[] = [];
      for (const end of ends.splice(0).reverse()) {
        await end().catch((error: unknown) => errors.push(error));
      }
      if (errors.length > 0) throw errors[0];
    },
  };
}
