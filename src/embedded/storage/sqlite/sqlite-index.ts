import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { OrderedMap, ScanOptions } from '../storage.js';
import { openSqlite, type Sqlite, type Statement } from './node-sqlite.js';
import { openSqliteFile, rollBack } from './sqlite-file.js';

/** Entries that are read in one go. */
const PAGE = 256;
const schema =
  'CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID';

/**
 * Opens an ordered map in a directory of its own. It is not synced: a loss of power may cost its newest
 * entries. Keys may hold U+0000, which Node 22 does not read back: no statement reads keys.
 */
export async function openSqliteMap(location: string): Promise<OrderedMap> {
  await mkdir(location, { recursive: true });
  const path = join(location, 'entries.sqlite');
  const open = () => openSqliteFile(path, { schema, exclusive: false });
  let file = await open();
  let sql = prepare(file.db);
  let closed: Promise<void> | undefined;
  /** One connection that scans have used is kept for the next. */
  let idle: Sqlite | undefined;
  let writing: Promise<void> = Promise.resolve();

  const take = (): Sqlite => {
    const reader = idle ?? openSqlite(path, { readOnly: true });
    idle = undefined;
    return reader;
  };
  const giveBack = (reader: Sqlite): void => {
    if (idle === undefined && closed === undefined) idle = reader;
    else reader.close();
  };
  const closeAll = async (): Promise<void> => {
    await writing.catch(() => undefined);
    idle?.close();
    idle = undefined;
    await file.close();
  };

  /** Steps that write go one after the other. */
  const next = (step: () => Promise<void>): Promise<void> =>
    (writing = writing.catch(() => undefined).then(step));

  return {
    getMany: (keys) =>
      Promise.resolve(keys.map((key) => sql.get.get(key)?.['value'] as string | undefined)),
    apply: (changes) =>
      next(async () => {
        file.wrote(write(sql, changes), changes.length);
        if (file.isLogLong()) await file.checkpoint();
      }),
    scan: (options) => scan({ sql, take, giveBack }, options),
    count: (from, to) => Promise.resolve(Number(sql.count.get(from, to)?.['n'])),
    bytes: () => file.bytes(),
    compact: () =>
      next(async () => {
        while (file.freePages(PAGE) > 0) await new Promise(setImmediate);
        await file.shrink();
      }),
    async reopen() {
      if (closed !== undefined) return;
      // What reads or writes meanwhile fails; it has failed before.
      await closeAll().catch(() => undefined);
      file = await open();
      sql = prepare(file.db);
    },
    close: () => (closed ??= closeAll()),
  };
}

const RANGE = 'SELECT value FROM entries WHERE key >= ? AND key <= ? ORDER BY key';

const texts = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  get: 'SELECT value FROM entries WHERE key = ?',
  put: 'INSERT OR REPLACE INTO entries (key, value) VALUES (?, ?)',
  drop: 'DELETE FROM entries WHERE key = ?',
  count: 'SELECT count(*) AS n FROM entries WHERE key >= ? AND key <= ?',
  ascending: `${RANGE} LIMIT ${PAGE}`,
  descending: `${RANGE} DESC LIMIT ${PAGE}`,
} as const;

type MapStatements = Readonly<Record<keyof typeof texts, Statement>>;

const prepare = (db: Sqlite): MapStatements =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, db.prepare(text)]),
  ) as MapStatements;

/** Makes all changes or none; returns about how many bytes they are. */
function write(
  sql: MapStatements,
  changes: readonly (readonly [key: string, value: string | null])[],
): number {
  let bytes = 0;
  sql.begin.run();
  try {
    for (const [key, value] of changes) {
      if (value === null) sql.drop.run(key);
      else sql.put.run(key, value);
      bytes += key.length + (value?.length ?? 0);
    }
    sql.commit.run();
  } catch (error) {
    rollBack(sql.rollback);
    throw error;
  }
  return bytes;
}

type Source = {
  readonly sql: MapStatements;
  readonly take: () => Sqlite;
  readonly giveBack: (reader: Sqlite) => void;
};

/** Values in the order of their keys, as they were at the start: a transaction reads one state. */
async function* scan(
  { sql, take, giveBack }: Source,
  { from, to, reverse = false }: ScanOptions,
): AsyncGenerator<string> {
  const first = (reverse ? sql.descending : sql.ascending).all(from, to);
  if (first.length < PAGE) {
    for (const row of first) yield row['value'] as string;
    return;
  }
  const reader = take();
  try {
    reader.exec('BEGIN');
    const all = reader.prepare(`${RANGE}${reverse ? ' DESC' : ''}`).iterate(from, to);
    let n = 0;
    for (const row of all) {
      yield row['value'] as string;
      n += 1;
      if (n % PAGE === 0) await new Promise(setImmediate);
    }
  } finally {
    reader.exec('ROLLBACK');
    giveBack(reader);
  }
}
