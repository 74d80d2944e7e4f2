/** Remembers answers for a while, so that not every request asks the database. */
export type Cache<V> = {
  /** The answer that is remembered, or the one that `find` gives now. */
  readonly get: (key: string, find: () => Promise<V>) => Promise<V>;
  readonly has: (key: string) => boolean;
};

/** So many answers are remembered; the oldest goes first. */
const most = 10_000;

/** `keepMs`: how long an answer counts. `now`: of any clock that goes on steadily, ms. */
export function createCache<V>(keepMs: number, now: () => number): Cache<V> {
  const known = new Map<string, { readonly until: number; readonly value: Promise<V> }>();
  return {
    get: (key, find) => {
      const there = known.get(key);
      if (there !== undefined && there.until > now()) return there.value;
      const value = find();
      known.delete(key);
      known.set(key, { until: now() + keepMs, value });
      value.catch(() => known.delete(key));
      const oldest = known.keys().next().value;
      if (known.size > most && oldest !== undefined) known.delete(oldest);
      return value;
    },
    has: (key) => (known.get(key)?.until ?? -Infinity) > now(),
  };
}
