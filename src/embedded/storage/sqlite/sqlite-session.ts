import { randomUUID } from 'node:crypto';

import { createOperationLock } from '../operation-lock.js';
import { StoreClosed, type StoredChange } from '../storage.js';
import { createCommits, type Commits } from './commits.js';
import { prepareStatements, schema, type Statements } from './schema.js';
import { openSqliteFile, rollBack, type SqliteFile } from './sqlite-file.js';

/** What a database counts; changed within transactions only. */
export type Counts = { seq: number; live: number; deleted: number; purged: number };

/** The changes of one transaction. */
export type Transaction = {
  readonly sql: Statements;
  readonly counts: Counts;
  /** Takes note of a document that was written, for those who follow the changes. */
  readonly wrote: (change: StoredChange) => void;
  /** Takes note of other bytes that were written. */
  readonly spent: (bytes: number) => void;
};

/** The open file of one database. */
export type SqliteSession = {
  readonly instance: string;
  readonly closed: () => boolean;
  /** Runs an operation on the open database. @throws StoreClosed */
  readonly use: <T>(operation: () => Promise<T>) => Promise<T>;
  /** Reads in one go. What it has read is on disk when it is answered. @throws StoreClosed */
  readonly read: <T>(run: (sql: Statements, counts: Counts) => T) => Promise<T>;
  /**
   * Reads in one go what is on disk already and does not change, such as the pieces of an attachment that
   * is held: waits for no change that is being made. @throws StoreClosed
   */
  readonly readKept: <T>(run: (sql: Statements) => T) => Promise<T>;
  /** Reads in several steps while nothing is written. @throws StoreClosed */
  readonly still: <T>(run: (sql: Statements) => Promise<T>) => Promise<T>;
  /** Makes a change, together with others; it is on disk when it is answered. @throws StoreClosed */
  readonly change: <T>(weight: number, run: (transaction: Transaction) => T) => Promise<T>;
  /** Marks at most so many free pages, which the next checkpoint gives back; returns how many are left. */
  readonly freePages: (count: number) => Promise<number>;
  /** Cuts the file and its log to what they need. */
  readonly shrink: () => Promise<void>;
  readonly bytes: () => Promise<number>;
  readonly reopen: () => Promise<void>;
  /** Waits for the operations under way and closes it; `then` runs before anybody else gets on. */
  readonly close: (then: () => Promise<void>) => Promise<void>;
};

/** A file with what is known of it while it is open. */
type Opened = {
  readonly file: SqliteFile;
  readonly sql: Statements;
  counts: Counts;
  /** After a sync that failed nobody knows what is on disk: nothing is written any more. */
  broken: Error | undefined;
};

async function openFile(path: string): Promise<Opened> {
  const file = await openSqliteFile(path, { schema, exclusive: true });
  const sql = prepareStatements(file.db);
  return { file, sql, counts: storedCounts(sql), broken: undefined };
}

/** Opens or makes the file of a database. `onStored` is called with what each group of changes wrote. */
export async function openSqliteSession(
  path: string,
  onStored: (changes: readonly StoredChange[]) => void,
): Promise<SqliteSession> {
  let now = await openFile(path);
  const instance = instanceOf(now.sql);
  let closed = false;
  const lock = createOperationLock();
  const steps = createOperationLock();
  let changes: StoredChange[] = [];
  const commits = createCommits({
    transact: (run) =>
      steps.alone(() => {
        changes = [];
        return Promise.resolve().then(() => transact(now, run));
      }),
    sync: () => breaking(now, now.file.sync()),
    stored: () => {
      if (changes.length > 0) onStored(changes);
    },
    pause: async () => {
      if (now.file.isLogLong()) await steps.alone(() => breaking(now, now.file.checkpoint()));
    },
  });
  const transaction = transactionOf(
    () => now,
    (change) => changes.push(change),
  );
  const use: SqliteSession['use'] = (operation) => lock.pass(() => ifOpen(closed, operation));

  return {
    instance,
    closed: () => closed,
    use,
    read: (run) => use(() => settled(commits, () => run(now.sql, now.counts))),
    readKept: (run) => use(() => Promise.resolve().then(() => run(now.sql))),
    still: (run) => use(() => settled(commits, () => steps.pass(() => run(now.sql)))),
    change: (weight, run) => use(() => commits.add(weight, () => run(transaction))),
    freePages: (count) =>
      use(() => steps.alone(() => Promise.resolve().then(() => now.file.freePages(count)))),
    shrink: () => use(() => steps.alone(() => breaking(now, now.file.shrink()))),
    bytes: () => use(() => now.file.bytes()),
    reopen: () =>
      lock.alone(() =>
        ifOpen(closed, async () => {
          await now.file.close().catch(() => undefined);
          now = await openFile(path);
        }),
      ),
    close: (then) =>
      lock.alone(() =>
        ifOpen(closed, async () => {
          closed = true;
          await now.file.close();
          await then();
        }),
      ),
  };
}

/** What was read is on disk when it is answered. */
async function settled<T>(commits: Commits, read: () => T | Promise<T>): Promise<T> {
  const result = await read();
  await commits.writing();
  return result;
}

const ifOpen = <T>(closed: boolean, operation: () => Promise<T>): Promise<T> =>
  closed ? Promise.reject(new StoreClosed()) : operation();

/** What changes are given; the file may be another one after it was opened again. */
const transactionOf = (now: () => Opened, keep: (change: StoredChange) => void): Transaction => ({
  get sql() {
    return now().sql;
  },
  get counts() {
    return now().counts;
  },
  wrote(change) {
    keep(change);
    now().file.wrote(change.json.length, 2);
  },
  spent: (bytes) => now().file.wrote(bytes, 1),
});

async function breaking(opened: Opened, step: Promise<void>): Promise<void> {
  await step.catch((error: unknown) => {
    opened.broken = error as Error;
    throw error;
  });
}

/** Runs changes as one transaction; when one throws, none of them is made. */
function transact(opened: Opened, run: () => void): void {
  const { sql, counts: before, broken } = opened;
  if (broken !== undefined) throw broken;
  opened.counts = { ...before };
  sql.begin.run();
  try {
    run();
    const { seq, purged } = opened.counts;
    if (before.seq !== seq || before.purged !== purged)
      sql.putMeta.run('counts', JSON.stringify(opened.counts));
    sql.commit.run();
  } catch (error) {
    opened.counts = before;
    rollBack(sql.rollback);
    throw error;
  }
}

function instanceOf(sql: Statements): string {
  const stored = sql.meta.get('instance');
  if (stored !== undefined) return String(stored['value']);
  const instance = randomUUID();
  sql.putMeta.run('instance', instance);
  return instance;
}

function storedCounts(sql: Statements): Counts {
  const stored = sql.meta.get('counts');
  const none: Counts = { seq: 0, live: 0, deleted: 0, purged: 0 };
  if (stored === undefined) return none;
  // A file of an older version counts no purges.
  return { ...none, ...(JSON.parse(String(stored['value'])) as Partial<Counts>) };
}
