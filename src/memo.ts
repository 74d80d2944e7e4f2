import { LRUCache } from 'lru-cache';

/** Returns the value of a key, or makes it; of all values the `most` used last are kept. */
export type Memo<T> = (key: string, make: () => T) => T;

/** A memo of its own. What `make` throws is thrown on, and nothing is kept of it. */
export function createMemo<T extends object>(most: number): Memo<T> {
  const kept = new LRUCache<string, T, () => T>({
    max: most,
    memoMethod: (_key, _stale, { context: make }) => make(),
  });
  return (key, make) => kept.memo(key, { context: make });
}
