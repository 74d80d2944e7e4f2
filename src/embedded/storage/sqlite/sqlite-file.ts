import { open, stat, type FileHandle } from 'node:fs/promises';

import { openSqlite, type Sqlite, type Statement } from './node-sqlite.js';

const PAGE_BYTES = 4_096;
/**
 * About so many pages in the log, and they are copied into the file. More of them save copies of pages
 * that change again and again; fewer of them are synced faster.
 */
const CHECKPOINT_PAGES = 4_000;
/** After a burst the log is cut to this size, bytes. */
const LOG_BYTES = 64 * 1024 * 1024;

/**
 * A file of SQLite whose writes are synced by another thread: SQLite itself would hold up the event
 * loop while the disk works.
 *
 * What was committed before `sync` is on disk after it: pages go into the log, and a recovery leaves out
 * the torn end of a log. The log is written over only after the file that its pages were copied into was
 * synced: nothing may be written while `checkpoint` runs.
 */
export type SqliteFile = {
  readonly db: Sqlite;
  /** Makes what was committed outlive a loss of power. */
  sync(): Promise<void>;
  /** Takes note of about so many bytes that were written into so many places. */
  wrote(bytes: number, places: number): void;
  /** Whether the log should be copied into the file. */
  isLogLong(): boolean;
  /** Copies the log into the file. */
  checkpoint(): Promise<void>;
  /** The same, and empties the log: both are as small as they can be. */
  shrink(): Promise<void>;
  /** Marks at most so many free pages, which the next checkpoint gives back; returns how many are left. */
  freePages(count: number): number;
  /** The bytes of the file and its log. */
  bytes(): Promise<number>;
  close(): Promise<void>;
};

/**
 * Opens or makes a file; `schema` is run each time. No other connection may use it when `exclusive`,
 * which saves SQLite its locks. @throws Error of SQLite or of the file system
 */
export async function openSqliteFile(
  file: string,
  options: { readonly schema: string; readonly exclusive: boolean },
): Promise<SqliteFile> {
  const logFile = `${file}-wal`;
  // POSIX drops a process's locks on a file when it closes any handle of it: SQLite opens it later.
  const data = await open(file, 'a', 0o600);
  const db = await openWith(data, () => openPrepared(file, options));
  const log = await openWith(data, () => open(logFile, 'r+'), db);
  let pages = 0;
  const checkpoint = async (): Promise<void> => {
    await log.datasync();
    // It copies without syncing.
    db.exec('PRAGMA synchronous = OFF');
    try {
      db.prepare('PRAGMA wal_checkpoint(PASSIVE)').all();
    } finally {
      db.exec('PRAGMA synchronous = NORMAL');
    }
    await data.datasync();
    pages = 0;
  };
  return {
    db,
    sync: () => log.datasync(),
    wrote: (bytes, places) => void (pages += places + bytes / PAGE_BYTES),
    isLogLong: () => pages >= CHECKPOINT_PAGES,
    checkpoint,
    async shrink() {
      await checkpoint();
      // All of it is in the file and on disk; where somebody reads the log, it stays.
      db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    },
    freePages(count) {
      db.prepare(`PRAGMA incremental_vacuum(${count})`).all();
      pages += count;
      return Number(db.prepare('PRAGMA freelist_count').get()?.['freelist_count']);
    },
    bytes: async () => (await sizeOf(file)) + (await sizeOf(logFile)),
    async close() {
      await log.close();
      try {
        db.close();
      } finally {
        await data.close();
      }
    },
  };
}

function openPrepared(
  file: string,
  { schema, exclusive }: { readonly schema: string; readonly exclusive: boolean },
): Sqlite {
  const db = openSqlite(file);
  try {
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL;`);
    if (exclusive) db.exec('PRAGMA locking_mode = EXCLUSIVE');
    db.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = ${LOG_BYTES}; PRAGMA cache_size = -16000;
      PRAGMA temp_store = MEMORY; PRAGMA secure_delete = FAST; ${schema}`,
    );
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Goes on opening; closes what is open when that fails. */
async function openWith<T>(
  data: FileHandle,
  step: () => T | Promise<T>,
  db?: Sqlite,
): Promise<Awaited<T>> {
  try {
    return await step();
  } catch (error) {
    db?.close();
    await data.close();
    throw error;
  }
}

/** After some failures SQLite has rolled back by itself, or nothing is open any more. */
export function rollBack(rollback: Statement): void {
  try {
    rollback.run();
  } catch {
    // Then there is nothing to undo.
  }
}

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );
