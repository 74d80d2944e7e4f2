import type { Change, Store } from '../storage/storage.js';

/** How much of the newest changes is kept for feeds that are up to date. */
const MAX_CHANGES = 1_000;
const MAX_CHARS = 8 * 1024 * 1024;
const PAGE = 200;

/** A change with its document's JSON, which all feeds share. */
export type FeedChange = Change & { readonly json: string };

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
  /** How many feeds wait at this moment. */
  waiting(): number;
  readonly closed: boolean;
  close(): void;
};

export function createHub(store: Store): Hub {
  /** Newest changes in order, without gaps from `floor` (exclusive) to `read` (inclusive). */
  let recent: FeedChange[] = [];
  let chars = 0;
  let floor = 0;
  let read: number | undefined;
  let written = 0;
  /** The value of `written` that the last complete reading covers. */
  let covered = -1;
  let reading = false;
  let closed = false;
  const sleepers = new Set<{ readonly since: number; readonly wake: () => void }>();

  const forget = (count: number): void => {
    for (const change of recent.splice(0, count)) {
      chars -= change.json.length;
      floor = change.seq;
    }
  };
  const keep = (changes: readonly FeedChange[]): void => {
    const superseded = new Set(changes.map((change) => change.id));
    recent = recent.filter((change) => {
      if (superseded.has(change.id)) chars -= change.json.length;
      return !superseded.has(change.id);
    });
    for (const change of changes) {
      recent.push(change);
      chars += change.json.length;
    }
    while (recent.length > MAX_CHANGES || (chars > MAX_CHARS && recent.length > 1)) forget(1);
    read = changes.at(-1)?.seq ?? read;
  };
  const wakeAll = (): void => {
    for (const sleeper of sleepers) if (closed || sleeper.since < (read ?? 0)) sleeper.wake();
  };
  /** Where to read on: nobody needs what lies before the position of every listener. */
  const startReading = (): number => {
    let earliest = Infinity;
    for (const sleeper of sleepers) earliest = Math.min(earliest, sleeper.since);
    if (read === undefined || read < earliest) {
      recent = [];
      chars = 0;
      floor = read = earliest;
    }
    return read;
  };
  const readOn = async (): Promise<void> => {
    if (reading) return;
    reading = true;
    try {
      for (let done = -1; done !== written && sleepers.size > 0 && !closed;) {
        done = written;
        const since = startReading();
        const page = await store.changes({ since, limit: PAGE });
        if (page.length > 0) keep(page.map(withJson));
        if (page.length === PAGE) done = -1;
        else covered = done;
        wakeAll();
      }
    } catch {
      // The database was closed under us: its feeds learn that from `closed`.
    } finally {
      reading = false;
    }
  };

  return {
    get closed() {
      return closed;
    },
    waiting: () => sleepers.size,
    async after(since, limit) {
      if (since === read && covered === written) return [];
      if (read !== undefined && since >= floor && since < read) {
        const found = recent.filter((change) => change.seq > since);
        if (found.length > 0) return found.slice(0, limit);
      }
      return (await store.changes({ since, limit })).map(withJson);
    },
    wait: (since, signal) =>
      new Promise((resolve) => {
        if (closed || signal.aborted) return resolve();
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper = { since, wake };
        sleepers.add(sleeper);
        signal.addEventListener('abort', wake);
        void readOn();
      }),
    notify() {
      written += 1;
      if (sleepers.size > 0) void readOn();
    },
    close() {
      closed = true;
      wakeAll();
    },
  };
}

const withJson = (change: Change): FeedChange => ({ ...change, json: JSON.stringify(change.doc) });
