import type { Store } from '../storage/storage.js';
import { createRecentChanges, withJson, type FeedChange } from './recent-changes.js';
import { createSleepers } from './sleepers.js';

const PAGE = 200;

/**
 * The one reader of a database's changes: it reads what was written once, while anybody listens,
 * and hands it to all feeds. A feed keeps its own position, so nothing is lost when it is slow.
 */
export type Hub = {
  /** Changes after a position, oldest first; empty when there are none yet. */
  after(since: number, limit: number): Promise<readonly FeedChange[]>;
  /** Resolves when something was written after `since`, the wait was aborted, or the database is gone. */
  wait(since: number, signal: AbortSignal): Promise<void>;
  /** Something was written. */
  notify(): void;
  readonly closed: boolean;
  close(): void;
};

export function createHub(store: Pick<Store, 'changes'>): Hub {
  const recent = createRecentChanges();
  const sleepers = createSleepers();
  /** Counts writes; `covered` is the count that the last complete reading takes in. */
  let written = 0;
  let covered = -1;
  let reading = false;
  let closed = false;

  const readOn = async (): Promise<void> => {
    if (reading) return;
    reading = true;
    try {
      for (let seen = -1; seen !== written && sleepers.count() > 0 && !closed;) {
        seen = written;
        const page = await store.changes({ since: startReading(), limit: PAGE });
        if (page.length > 0) recent.add(page.map(withJson));
        if (page.length === PAGE) seen = -1;
        else covered = seen;
        sleepers.wakeBefore(recent.reached() ?? 0);
      }
    } catch {
      // The database was closed under us: its feeds learn that from `closed`.
    } finally {
      reading = false;
    }
  };
  /** Where to read on: nobody needs what lies before the position of every listener. */
  const startReading = (): number => {
    const reached = recent.reached();
    const earliest = sleepers.earliest();
    if (reached !== undefined && reached >= earliest) return reached;
    recent.restart(earliest);
    return earliest;
  };

  return {
    get closed() {
      return closed;
    },
    async after(since, limit) {
      if (since === recent.reached() && covered === written) return [];
      const known = recent.after(since);
      if (known.length > 0) return known.slice(0, limit);
      return (await store.changes({ since, limit })).map(withJson);
    },
    wait(since, signal) {
      if (closed) return Promise.resolve();
      const woken = sleepers.sleep(since, signal);
      void readOn();
      return woken;
    },
    notify() {
      written += 1;
      if (sleepers.count() > 0) void readOn();
    },
    close() {
      closed = true;
      sleepers.wakeBefore(Infinity);
    },
  };
}
