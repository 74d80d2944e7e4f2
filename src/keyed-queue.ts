/** Steps that concern one name go one after the other; those of different names do not wait. */
export type KeyedQueue = {
  take<T>(name: string, step: () => Promise<T>): Promise<T>;
  /** Resolves when no step of this name is under way. */
  idle(name: string): Promise<void>;
  allIdle(): Promise<void>;
};

export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  const settled = async (step: Promise<unknown> | undefined): Promise<void> => {
    await step?.catch(() => undefined);
  };
  return {
    take(name, step) {
      const before = last.get(name) ?? Promise.resolve();
      const next = before.then(step, step);
      last.set(name, next);
      void settled(next).then(() => {
        if (last.get(name) === next) last.delete(name);
      });
      return next;
    },
    idle: (name) => settled(last.get(name)),
    allIdle: async () => {
      await Promise.allSettled(last.values());
    },
  };
}
