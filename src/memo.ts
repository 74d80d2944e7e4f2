/** Gives what was made for a key before, else makes it; of all keys the newest `most` are kept. */
export type Memo<T> = (key: string, make: () => T) => T;

/** A memo of its own. What `make` throws is thrown on, and nothing is kept of it. */
export function createMemo<T extends object>(most: number): Memo<T> {
  const kept = new Map<string, T>();
  return (key, make) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const made = make();
    const [oldest] = kept.keys();
    if (kept.size >= most && oldest !== undefined) kept.delete(oldest);
    kept.set(key, made);
    return made;
  };
}
