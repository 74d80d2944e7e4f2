import type { LevelDown } from 'leveldown';

/** Shared by all databases, characters. */
const MAX_CHARS = 24 * 1024 * 1024;

/** By key; null: there is none. */
const entries = new Map<string, string | null>();
let chars = 0;
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
    const known = options.asBuffer === true ? undefined : recall(prefix + key);
    if (known === null) return void process.nextTick(done, new Error('NotFound'));
    if (known !== undefined) return void process.nextTick(done, null, known);
    const before = writes;
    get(key, options, (error, value) => {
      if (before === writes) {
        if (!error && typeof value === 'string') keep(prefix + key, value);
        else if (error && /notfound/i.test(error.message)) keep(prefix + key, null);
      }
      done(error, value);
    });
  };
  level._batch = (operations, options, done) =>
    batch(operations, options, (error) => {
      writes += 1;
      for (const operation of operations) {
        const value = operation.type === 'put' && !error ? operation.value : undefined;
        if (typeof value === 'string') keep(prefix + operation.key, value);
        else forget(prefix + operation.key);
      }
      done(error);
    });
  level._put = (key, value, options, done) =>
    put(key, value, options, (error) => {
      writes += 1;
      forget(prefix + key);
      done(error);
    });
}

function recall(key: string): string | null | undefined {
  const value = entries.get(key);
  if (value === undefined) return undefined;
  entries.delete(key);
  entries.set(key, value);
  return value;
}

function keep(key: string, value: string | null): void {
  forget(key);
  const size = sizeOf(key, value);
  if (size > MAX_CHARS / 8) return;
  entries.set(key, value);
  chars += size;
  for (const oldest of entries.keys()) {
    if (chars <= MAX_CHARS) break;
    forget(oldest);
  }
}

function forget(key: string): void {
  const value = entries.get(key);
  if (value === undefined) return;
  chars -= sizeOf(key, value);
  entries.delete(key);
}

function sizeOf(key: string, value: string | null): number {
  return key.length + (value?.length ?? 0);
}
