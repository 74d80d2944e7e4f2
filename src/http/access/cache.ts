import { createLru } from '../../memo.js';

/** Remembers answers for a while, so that not every request asks the database. */
export type Cache<V> = {
  /** The answer that is remembered, or the one that `find` gives now. */
  readonly get: (key: string, find: () => Promise<V>) => Promise<V>;
  readonly has: (key: string) => boolean;
};

/** So many answers are remembered; the one not asked for longest goes first. */
const most = 10_000;

/** `keepMs`: how long an answer counts. `now`: of any clock that goes on steadily, ms. */
export function createCache<V>(keepMs: number, now: () => number): Cache<V> {
  const known = createLru<Promise<V>>(most, {
    ttl: keepMs,
    ttlResolution: 0,
    perf: { now },
  });
  return {
    get: (key, find) => {
      const there = known.get(key);
      if (there !== undefined) return there;
      const value = find();
      known.set(key, value);
      value.catch(() => known.delete(key));
      return value;
    },
    has: (key) => known.has(key),
  };
}
