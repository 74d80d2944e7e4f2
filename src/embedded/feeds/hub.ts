import type { DocumentStore, StoredChange } from '../storage/storage.js';
import { createRecentChanges, withJson } from './recent-changes.js';
import { createSleepers } from './sleepers.js';

const PAGE = 200;
/**
 * A wake-up costs a message to every client: the more changes come at a time, the longer the next
 * ones are gathered. Who follows a lone document waits for next to nothing. Both ms.
 */
const GATHER_EACH_MS = 0.5;
const GATHER_MOST_MS = 10;
/** So many changes that nobody asked for in between, and the newest are kept for nobody. */
const UNHEARD = 2_000;

/**
 * Hands the changes of a database to all its feeds. It overhears what is written; only what lies
 * further back is read from the store, once for all who listen. A feed keeps its own position, so
 * nothing is lost when it is slow.
 */
export type DatabaseHub = {
  /** Changes after a position, oldest first; empty when there are none yet. */
  after(since: number, limit: number): Promise<readonly StoredChange[]>;
  /** Resolves when something was written after `since`, the wait was aborted, or the database is gone. */
  wait(since: number, signal: AbortSignal): Promise<void>;
  readonly closed: boolean;
  close(): void;
};

export function createDatabaseHub(store: Pick<DocumentStore, 'changes' | 'watch'>): DatabaseHub {
  const recent = createRecentChanges();
  const sleepers = createSleepers();
  /** Counts writes; `covered` is the count of those that `recent` takes in. */
  let written = 0;
  let covered = -1;
  let unheard = 0;
  let reading = false;
  let waking = false;
  let gatherUntil = 0;
  let gathered = 0;
  let closed = false;

  const take = (changes: readonly StoredChange[] | undefined): void => {
    written += 1;
    gathered += changes?.length ?? 1;
    const goesOn = changes !== undefined && changes[0]?.seq === (recent.reached() ?? NaN) + 1;
    if (goesOn) {
      recent.add(changes);
      covered = written;
      unheard += changes.length;
      if (unheard > UNHEARD) {
        recent.clear();
        covered = -1;
      }
    }
    if (waking || sleepers.count() === 0) return;
    waking = true;
    const waitMs = gatherUntil - performance.now();
    // Whoever wrote is answered first.
    if (waitMs <= 0) setImmediate(wake);
    else setTimeout(wake, waitMs);
  };
  const wake = (): void => {
    waking = false;
    gatherUntil = performance.now() + Math.min(GATHER_MOST_MS, gathered * GATHER_EACH_MS);
    gathered = 0;
    if (covered === written) sleepers.wakeBefore(recent.reached() ?? 0);
    else void readOn();
  };
  store.watch(take);

  const readOn = async (): Promise<void> => {
    if (reading) return;
    reading = true;
    try {
      while (covered !== written && sleepers.count() > 0 && !closed) {
        const seen = written;
        const page = await store.changes({ since: startReading(), limit: PAGE });
        recent.add(page.map(withJson));
        if (page.length < PAGE) covered = Math.max(covered, seen);
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
      unheard = 0;
      // What was written and not overheard may be a newer state of what is at hand.
      if (covered === written) {
        if (since === recent.reached()) return [];
        const known = recent.after(since, limit);
        if (known.length > 0) return known;
      }
      return (await store.changes({ since, limit })).map(withJson);
    },
    wait(since, signal) {
      if (closed) return Promise.resolve();
      unheard = 0;
      const woken = sleepers.sleep(since, signal);
      if (covered !== written) void readOn();
      else sleepers.wakeBefore(recent.reached() ?? 0);
      return woken;
    },
    close() {
      closed = true;
      sleepers.wakeBefore(Infinity);
    },
  };
}
