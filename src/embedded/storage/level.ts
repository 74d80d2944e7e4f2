import leveldown, {
  type Iterator,
  type LevelDown,
  type LevelDownFactory,
  type Operation,
} from 'leveldown';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { cacheReads } from './read-cache.js';
import type { OrderedMap, ScanOptions } from './storage.js';

/** Above every key we use: the last code point, which sorts last in UTF-8 too. */
export const LAST = '\u{10FFFF}';

const PAGE = 256;

export type LevelEntry = { readonly key: string; readonly value: string };

type Callback<T> = (error: Error | null | undefined, value?: T) => void;

const call = <T>(run: (done: Callback<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => {
    run((error, value) => {
      if (error) reject(error);
      else resolve(value as T);
    });
  });

/**
 * A leveldown factory that syncs every write to disk before it reports it: PouchDB never asks
 * for that. `opened` receives each instance, since PouchDB keeps it to itself.
 */
export function syncedLevel(
  opened: (location: string, level: LevelDown) => void,
): LevelDownFactory {
  const synced = (location: string): LevelDown => {
    const level = leveldown(location);
    const batch = level._batch.bind(level);
    const put = level._put.bind(level);
    level._batch = (operations, options, done) =>
      batch(operations, { ...options, sync: true }, done);
    level._put = (key, value, options, done) => put(key, value, { ...options, sync: true }, done);
    cacheReads(level);
    opened(location, level);
    return level;
  };
  synced.destroy = leveldown.destroy.bind(leveldown);
  return synced;
}

/** Opens an ordered map in a directory of its own. A crash loses at most its newest entries. */
export async function openOrderedMap(location: string): Promise<OrderedMap> {
  await mkdir(location, { recursive: true });
  let level = await openLevel(location);
  let closed: Promise<void> | undefined;
  return {
    getMany: (keys) =>
      keys.length === 0
        ? Promise.resolve([])
        : call((done) => level.getMany(keys, { asBuffer: false }, done)),
    apply: (changes) =>
      call((done) =>
        level.batch(
          changes.map(([key, value]) =>
            value === null ? { type: 'del', key } : { type: 'put', key, value },
          ),
          {},
          done,
        ),
      ),
    scan: (options) => scanValues(level, options),
    count: (from, to) => countKeys(level, from, to),
    bytes: () => directoryBytes(location),
    compact: () => call((done) => level.compactRange('', LAST, done)),
    reopen: async () => {
      if (closed !== undefined) return;
      // What reads or writes meanwhile fails; it has failed before.
      await call((done) => level.close(done)).catch(() => undefined);
      level = await openLevel(location);
    },
    close: () => (closed ??= call((done) => level.close(done))),
  };
}

async function openLevel(location: string): Promise<LevelDown> {
  const level = leveldown(location);
  await call((done) => level.open({ createIfMissing: true }, done));
  return level;
}

async function* scanValues(level: LevelDown, options: ScanOptions): AsyncGenerator<string> {
  for await (const { value } of scanLevel(level, options)) yield value;
}

/** Reads a range of a LevelDB in key order, from a snapshot taken at the start. */
export async function* scanLevel(
  level: LevelDown,
  options: ScanOptions & { readonly keysOnly?: boolean },
): AsyncGenerator<LevelEntry> {
  const iterator = level.iterator({
    gte: options.from,
    lte: options.to,
    reverse: options.reverse ?? false,
    values: options.keysOnly !== true,
    keyAsBuffer: false,
    valueAsBuffer: false,
  });
  try {
    for (;;) {
      const page = await nextPage(iterator);
      yield* page;
      if (page.length < PAGE) return;
    }
  } finally {
    await call((done) => iterator.end(done));
  }
}

/** leveldown answers from its own read-ahead most of the time: one promise per page, not per row. */
function nextPage(iterator: Iterator): Promise<LevelEntry[]> {
  return new Promise((resolve, reject) => {
    const page: LevelEntry[] = [];
    const step = (): void => {
      iterator.next((error, key, value) => {
        if (error) return reject(error);
        if (key === undefined) return resolve(page);
        page.push({ key: key as unknown as string, value: value as unknown as string });
        if (page.length === PAGE) resolve(page);
        else step();
      });
    };
    step();
  });
}

/** The values of keys; undefined where there is none. */
export const valuesAt = (
  level: LevelDown,
  keys: readonly string[],
): Promise<(string | undefined)[]> =>
  call((done) => level.getMany(keys, { asBuffer: false }, done));

/** Applies operations as one. */
export const applyAll = (level: LevelDown, operations: readonly Operation[]): Promise<void> =>
  call((done) => level.batch(operations, {}, done));

/** How many keys lie between two, both included. */
export async function countKeys(level: LevelDown, from: string, to: string): Promise<number> {
  let n = 0;
  const entries = scanLevel(level, { from, to, keysOnly: true });
  while ((await entries.next()).done !== true) n += 1;
  return n;
}

/** Keys before and behind all others. */
const EDGES = ['\u0000', `${LAST}\u0000`];

/**
 * Compacts a whole LevelDB: what was deleted or replaced is in no file any more. LevelDB may put what it has in memory,
 * old values included, into a file of a level that it does not rewrite then. So it is given entries at both
 * edges, which overlap with all others: the file that holds them is merged with those below. The first round
 * empties the memory, the second one rewrites what came of it.
 */
export async function compactLevel(level: LevelDown): Promise<void> {
  for (let round = 1; round <= 2; round += 1) {
    await applyAll(
      level,
      EDGES.map((key): Operation => ({ type: 'put', key, value: '' })),
    );
    await call((done) => level.compactRange('', `${LAST}\uffff`, done));
  }
  await applyAll(
    level,
    EDGES.map((key): Operation => ({ type: 'del', key })),
  );
}

/** The bytes of the files directly in a directory; 0 when it is not there. */
export async function directoryBytes(directory: string): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(directory, name)).then(
        (found) => (found.isFile() ? found.size : 0),
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
