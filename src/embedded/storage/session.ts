import type { LevelDown } from 'leveldown';

import { createOperationLock } from './operation-lock.js';
import { openPouch, type Pouch } from './pouch.js';
import { StoreClosed } from './storage.js';
import { tapWrites, type WriteListener } from './write-tap.js';

/** The open handles of one database; they change when it is reopened with another revision limit. */
export type Session = {
  readonly pouch: () => Pouch;
  readonly level: () => LevelDown;
  readonly revsLimit: () => number;
  /** Runs an operation on the open database. @throws StoreClosed */
  readonly use: <T>(operation: () => Promise<T>) => Promise<T>;
  /**
   * As `use`, and no batch is written meanwhile: PouchDB reads a change, a leaf or an attachment in
   * several steps, and what a batch replaces between two of them is in neither state. @throws StoreClosed
   */
  readonly read: <T>(operation: () => Promise<T>) => Promise<T>;
  /** Writes a batch within `use`, between two reads. */
  readonly batch: <T>(operation: () => Promise<T>) => Promise<T>;
  /**
   * Changes what PouchDB has written while nothing else is done. When `run` resolves with true, PouchDB
   * reads its counters again. @throws StoreClosed
   */
  readonly amend: (run: (level: LevelDown) => Promise<boolean>) => Promise<void>;
  /** Works on the files for long, beside all operations; it has ended before they are closed. */
  readonly beside: (run: (level: LevelDown) => Promise<void>) => Promise<void>;
  /** Waits for the operations under way, then opens it again with this limit. @throws StoreClosed */
  readonly reopen: (revsLimit: number) => Promise<void>;
  /** Waits for the operations under way and closes it; `then` runs before anybody else gets on. */
  readonly close: (then: () => Promise<void>) => Promise<void>;
  readonly closed: () => boolean;
};

/** Opens a database on disk; `onWrite` is called after every write. */
export async function openSession(
  location: string,
  revsLimit: number,
  onWrite: WriteListener,
): Promise<Session> {
  let limit = revsLimit;
  let { pouch, level } = await openPouch(location, limit);
  tapWrites(level, onWrite);
  let closed = false;
  const lock = createOperationLock();
  const batches = createOperationLock();
  const use: Session['use'] = (operation) =>
    lock.pass(async () => {
      if (closed) throw new StoreClosed();
      return operation();
    });

  let besides: Promise<unknown> = Promise.resolve();
  const openAgain = async (): Promise<void> => {
    await besides;
    // After a failure it may be closed already.
    await pouch.close().catch(() => undefined);
    ({ pouch, level } = await openPouch(location, limit));
    tapWrites(level, onWrite);
  };

  return {
    pouch: () => pouch,
    level: () => level,
    revsLimit: () => limit,
    closed: () => closed,
    use,
    read: (operation) => use(() => batches.pass(operation)),
    batch: (operation) => batches.alone(operation),
    async beside(run) {
      if (closed) throw new StoreClosed();
      const work = run(level);
      besides = Promise.allSettled([besides, work]);
      return work;
    },
    amend: (run) =>
      lock.alone(async () => {
        if (closed) throw new StoreClosed();
        if (await run(level)) await openAgain();
      }),
    reopen: (next) =>
      lock.alone(async () => {
        if (closed) throw new StoreClosed();
        limit = next;
        await openAgain();
      }),
    close: (then) =>
      lock.alone(async () => {
        if (closed) throw new StoreClosed();
        closed = true;
        await besides;
        await pouch.close();
        await then();
      }),
  };
}
