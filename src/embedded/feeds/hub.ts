import type { DocumentStore, StoredChange } from '../storage/storage.js';
import { createRecentChanges, withJson, type RecentChanges } from './recent-changes.js';
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
  /** Documents are gone: what is kept of the newest changes may be of them. */
  forget(): void;
  readonly closed: boolean;
  close(): void;
};

export function createDatabaseHub(store: Pick<DocumentStore, 'changes' | 'watch'>): DatabaseHub {
  const heard = createOverheard();
  const sleepers = createSleepers();
  const { recent } = heard;
  let reading = false;
  let closed = false;
  const wakeReached = (): void => sleepers.wakeBefore(recent.reached() ?? 0);
  const readOn = async (): Promise<void> => {
    if (reading) return;
    reading = true;
    try {
      while (!heard.isWhole() && sleepers.count() > 0 && !closed) {
        await heard.readOn(sleepers.earliest(), store);
        wakeReached();
      }
    } catch {
      // The database was closed under us: its feeds learn that from `closed`.
    } finally {
      reading = false;
    }
  };
  const wake = (): void => {
    if (heard.isWhole()) wakeReached();
    else void readOn();
  };
  const planWakeUp = createWakeUps(() => sleepers.count() > 0, wake);
  store.watch((changes) => {
    heard.take(changes);
    planWakeUp(changes?.length ?? 1);
  });

  return {
    get closed() {
      return closed;
    },
    async after(since, limit) {
      heard.asked();
      // What was written and not overheard may be a newer state of what is at hand.
      if (heard.isWhole()) {
        if (since === recent.reached()) return [];
        const known = recent.after(since, limit);
        if (known.length > 0) return known;
      }
      return (await store.changes({ since, limit })).map(withJson);
    },
    wait(since, signal) {
      if (closed) return Promise.resolve();
      heard.asked();
      const woken = sleepers.sleep(since, signal);
      wake();
      return woken;
    },
    forget: () => heard.forget(),
    close() {
      closed = true;
      sleepers.wakeBefore(Infinity);
    },
  };
}

/** The newest changes, and whether they take in every write there was. */
type Overheard = {
  readonly recent: RecentChanges;
  /** Whether `recent` takes in every write. */
  readonly isWhole: () => boolean;
  /** Counts a write and adds its changes when they follow the newest; undefined: they are not known. */
  readonly take: (changes: readonly StoredChange[] | undefined) => void;
  /** Reads a page on from what `recent` has; nobody needs what lies before the position of every listener. */
  readonly readOn: (earliest: number, store: Pick<DocumentStore, 'changes'>) => Promise<void>;
  /** Changes were asked for: they are kept for longer. */
  readonly asked: () => void;
  /** Forgets all changes: they have to be read again. */
  readonly forget: () => void;
};

function createOverheard(): Overheard {
  const recent = createRecentChanges();
  /** Counts writes; `covered` is the count of those that `recent` takes in. */
  let written = 0;
  let covered = -1;
  let unheard = 0;
  let forgotten = 0;
  const forget = (): void => {
    recent.clear();
    covered = -1;
    forgotten += 1;
  };
  const startReading = (earliest: number): number => {
    const reached = recent.reached();
    if (reached !== undefined && reached >= earliest) return reached;
    recent.restart(earliest);
    return earliest;
  };
  return {
    forget,
    recent,
    isWhole: () => covered === written,
    take(changes) {
      written += 1;
      if (changes === undefined || changes[0]?.seq !== (recent.reached() ?? NaN) + 1) return;
      recent.add(changes);
      covered = written;
      unheard += changes.length;
      if (unheard > UNHEARD) forget();
    },
    async readOn(earliest, store) {
      const before = { written, forgotten };
      const since = startReading(earliest);
      const page = await store.changes({ since, limit: PAGE });
      // What was known up to the page is not known any more: there would be a gap before it.
      if (forgotten !== before.forgotten) return;
      recent.add(page.map(withJson));
      if (page.length < PAGE) covered = Math.max(covered, before.written);
    },
    asked() {
      unheard = 0;
    },
  };
}

/** Calls `wake` soon after changes when it is awaited, once for those that come close together. */
function createWakeUps(isAwaited: () => boolean, wake: () => void): (changes: number) => void {
  let isPlanned = false;
  let gatherUntil = 0;
  let gathered = 0;
  const wakeUp = (): void => {
    isPlanned = false;
    gatherUntil = performance.now() + Math.min(GATHER_MOST_MS, gathered * GATHER_EACH_MS);
    gathered = 0;
    wake();
  };
  return (changes) => {
    gathered += changes;
    if (isPlanned || !isAwaited()) return;
    isPlanned = true;
    const waitMs = gatherUntil - performance.now();
    // Whoever wrote is answered first.
    if (waitMs <= 0) setImmediate(wakeUp);
    else setTimeout(wakeUp, waitMs);
  };
}
