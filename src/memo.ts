import { LRUCache } from 'lru-cache';

/** Returns the value of a key, or makes it; of all values the `most` used last are kept. */
export type Memo<T> = (key: string, make: () => T) => T;

/** A memo of its own. What `make` throws is thrown on, and nothing is kept of it. */
export function createMemo<T extends object>(most: number): Memo<T> {
  const kept = createLru<T, () => T>(most, {
    memoMethod: (_key, _stale, { context: make }) => make(),
  });
  return (key, make) => kept.memo(key, { context: make });
}

type LruOptions<V, C> = Omit<
  LRUCache.OptionsBase<string, V, C>,
  'max' | 'maxSize' | 'maxEntrySize' | 'sizeCalculation'
>;

/**
 * Returns a map of the `most` entries that were used last. Its space grows with what it holds: with the
 * option `max` the library takes the space of all entries at once, though most processes never have them.
 */
export function createLru<V extends NonNullable<unknown>, C = unknown>(
  most: number,
  options: LruOptions<V, C> = {},
): LRUCache<string, V, C> {
  return new LRUCache<string, V, C>({ ...options, maxSize: most, sizeCalculation: () => 1 });
}
