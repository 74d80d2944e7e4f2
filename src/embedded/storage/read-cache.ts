import type { LevelDown } from 'leveldown';
import { LRUCache } from 'lru-cache';

/** Shared by all databases, characters. */
const MAX_CHARS = 24 * 1024 * 1024;

/** Stands for what was asked for and is not there. */
const absent = Symbol('absent');

const entries = new LRUCache<string, string | typeof absent>({
  maxSize: MAX_CHARS,
  maxEntrySize: MAX_CHARS / 8,
  sizeCalculation: (value, key) => key.length + (value === absent ? 0 : value.length),
});
let caches = 0;

/**
 * Answers reads of what was written or read lately from memory, and of what was found to be absent. An update of a document reads
 * its tree and its last body, one after the other: through LevelDB's threads each takes longer
 * than all the rest. What is in flight is not seen before it is on disk.
 */
export function cacheReads(level: LevelDown): void {
  caches += 1;
  const prefix = `${caches}:`;
  const get = level._get.bind(level);
  const batch = level._batch.bind(level);
  const put = level._put.bind(level);
  /** Counts completed writes: a read that one of them overtook may hold the older value. */
  let writes = 0;

  level._get = (key, options, done) => {
    const known = options.asBuffer === true ? undefined : entries.get(prefix + key);
    if (known === absent) return void process.nextTick(done, new Error('NotFound'));
    if (known !== undefined) return void process.nextTick(done, null, known);
    const before = writes;
    get(key, options, (error, value) => {
      if (before === writes) {
        if (!error && typeof value === 'string') entries.set(prefix + key, value);
        else if (error && /notfound/i.test(error.message)) entries.set(prefix + key, absent);
      }
      done(error, value);
    });
  };
  level._batch = (operations, options, done) =>
    batch(operations, options, (error) => {
      writes += 1;
      for (const operation of operations) {
        const value = operation.type === 'put' && !error ? operation.value : undefined;
        if (typeof value === 'string') entries.set(prefix + operation.key, value);
        else entries.delete(prefix + operation.key);
      }
      done(error);
    });
  level._put = (key, value, options, done) =>
    put(key, value, options, (error) => {
      writes += 1;
      entries.delete(prefix + key);
      done(error);
    });
}
