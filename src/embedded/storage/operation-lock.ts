/**
 * Many may pass, or one alone: `alone` waits for the operations inside and holds up the rest. Those
 * held up pass before the next one alone, so that neither kind waits for ever. Neither may be called
 * inside the other.
 */
type OperationLock = {
  pass<T>(operation: () => Promise<T>): Promise<T>;
  alone<T>(operation: () => Promise<T>): Promise<T>;
};

export function createOperationLock(): OperationLock {
  let inside = 0;
  let held: Promise<unknown> | undefined;
  let wakeHolder: (() => void) | undefined;

  return {
    async pass(operation) {
      while (held !== undefined) await held;
      inside += 1;
      try {
        return await operation();
      } finally {
        inside -= 1;
        if (inside === 0) wakeHolder?.();
      }
    },
    async alone(operation) {
      while (held !== undefined) await held;
      const run = async (): ReturnType<typeof operation> => {
        if (inside > 0) await new Promise<void>((resolve) => (wakeHolder = resolve));
        wakeHolder = undefined;
        return operation();
      };
      const running = run();
      held = running.then(
        () => undefined,
        () => undefined,
      );
      try {
        return await running;
      } finally {
        held = undefined;
      }
    },
  };
}
