import type { LevelDown } from 'leveldown';

import { createGate } from './gate.js';
import { openPouch, type Pouch } from './pouch.js';
import { tapWrites, type WriteListener } from './write-tap.js';

/** Thrown by every method of a store that was closed or removed. */
export class StoreClosed extends Error {
  override readonly name = 'StoreClosed';
}

/** The open handles of one database; they change when it is reopened with another revision limit. */
export type Session = {
  readonly pouch: () => Pouch;
  readonly level: () => LevelDown;
  readonly revsLimit: () => number;
  /** Runs an operation on the open database. @throws StoreClosed */
  readonly use: <T>(operation: () => Promise<T>) => Promise<T>;
  /** Waits for the operations under way, then opens it again with this limit. @throws StoreClosed */
  readonly reopen: (revsLimit: number) => Promise<void>;
  /** Waits for the operations under way and closes it; `then` runs before anybody else gets on. */
  readonly close: (then: () => Promise<void>) => Promise<void>;
  readonly closed: () => boolean;
};

/** Opens a database on disk; `told` hears of every write. */
export async function openSession(
  location: string,
  revsLimit: number,
  told: WriteListener,
): Promise<Session> {
  let limit = revsLimit;
  let { pouch, level } = await openPouch(location, limit);
  tapWrites(level, told);
  let closed = false;
  const gate = createGate();

  return {
    pouch: () => pouch,
    level: () => level,
    revsLimit: () => limit,
    closed: () => closed,
    use: (operation) =>
      gate.pass(async () => {
        if (closed) throw new StoreClosed();
        return operation();
      }),
    reopen: (next) =>
      gate.alone(async () => {
        if (closed) throw new StoreClosed();
        // After a failure it may be closed already.
        await pouch.close().catch(() => undefined);
        limit = next;
        ({ pouch, level } = await openPouch(location, limit));
        tapWrites(level, told);
      }),
    close: (then) =>
      gate.alone(async () => {
        if (closed) throw new StoreClosed();
        closed = true;
        await pouch.close();
        await then();
      }),
  };
}
