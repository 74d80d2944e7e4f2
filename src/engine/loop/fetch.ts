import type { StoredDocument } from '../../model/document.js';
import type { Store } from '../../store/store.js';
import { createTimers } from '../waiting/timers.js';
import { writesBetween } from './serializer.js';

/** A revision of a document that somebody else may have written. */
export type SeenRevision = {
  readonly id: string;
  readonly rev: string;
  /** When the feed brought it, epoch ms. */
  readonly at: number;
  /** The document has several leaf revisions. */
  readonly isConflicting?: boolean;
};

/**
 * Reads what others have changed: the feed brings ids and revisions only.
 *
 * I1 Each change is read, or a later one of the same document is; what this engine knows already is not.
 * I2 A document that another engine is likely to deal with is read only when it has not moved again for
 *    the time that is left to that engine.
 * I3 What is read at the same time is handed out in the order in which the feed brought it.
 * I4 A copy that is behind the feed is asked again.
 */
export type Fetcher = {
  /** Takes a change; it replaces an earlier one of the same document. */
  readonly saw: (seen: SeenRevision) => void;
  /** The document is gone: nothing of it is left to read. */
  readonly forget: (id: string) => void;
  /** Whether changes were not read yet that came before one that was. */
  readonly isBehind: () => boolean;
  readonly stop: () => void;
};

export type FetcherPorts = {
  /** The documents that exist, by id; undefined when the engine ends. */
  readonly read: (
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, StoredDocument> | undefined>;
  /** Whether nothing is to be learnt from reading a revision. */
  readonly isKnown: (seen: SeenRevision) => boolean;
  /** How long a change is left to other engines, ms; 0: it is read at once. */
  readonly leftToOthersMs: (id: string) => number;
  readonly take: (doc: StoredDocument, at: number) => void;
  /** Resolves when there is room for what is read. */
  readonly room: () => Promise<void>;
  readonly now: () => number;
};

/** Documents that are asked for in one request. */
const mostAtOnce = 500;
/** After which time a copy that is behind is asked again, ms, and how often. */
const againMs = 100;
const mostTries = 50;

/** `place`: its place among all that the feed brought. */
type Unread = SeenRevision & { readonly place: number; readonly tries: number };

export function createFetcher(ports: FetcherPorts): Fetcher {
  const { read, isKnown, leftToOthersMs, take, room, now } = ports;
  let isFlushing = false;
  let isStopped = false;
  const unread = createUnread(() => void flush(), now);

  const handOut = (asked: readonly Unread[], found: ReadonlyMap<string, StoredDocument>): void => {
    for (const one of asked) {
      unread.handedOut(one);
      const { id, rev, at, tries } = one;
      const doc = found.get(id);
      // It was deleted since, which the feed brings.
      if (doc === undefined) continue;
      const isBehind = writesBetween(doc._rev, rev) > 0;
      if (isBehind && tries < mostTries && !unread.has(id)) {
        unread.put({ ...one, tries: tries + 1 }, againMs);
      } else take(doc, at);
    }
  };
  const flush = async (): Promise<void> => {
    if (isFlushing) return;
    isFlushing = true;
    // What comes in the same piece of the feed is read together.
    await new Promise((resolve) => setImmediate(resolve));
    while (unread.isDue() && !isStopped) {
      await room();
      const asked = unread.next().filter((one) => !isKnown(one));
      if (asked.length === 0) continue;
      unread.reads(asked[0]);
      const found = await read(asked.map(({ id }) => id));
      unread.reads(undefined);
      if (found === undefined) break;
      handOut(asked, found);
    }
    isFlushing = false;
  };
  let last = 0;
  return {
    saw: (seen) => {
      if (isKnown(seen)) return;
      unread.put({ ...seen, place: (last += 1), tries: 0 }, leftToOthersMs(seen.id));
    },
    forget: unread.forget,
    isBehind: unread.isBehind,
    stop: () => {
      isStopped = true;
      unread.stop();
    },
  };
}

/** The revisions that were not read yet, in the order of the feed. `onDue`: the time of one has come. */
function createUnread(onDue: () => void, now: () => number) {
  const all = new Map<string, Unread>();
  const due = new Set<string>();
  let reading = Infinity;
  let handedOut = 0;
  const later = createTimers((id) => {
    due.add(id);
    onDue();
  }, now);
  const forget = (id: string): void => {
    all.delete(id);
    due.delete(id);
    later.clear(id);
  };
  return {
    forget,
    has: (id: string): boolean => all.has(id),
    put: (one: Unread, waitMs: number): void => {
      const { id } = one;
      forget(id);
      all.set(id, one);
      if (waitMs > 0) return later.set(id, now() + waitMs);
      due.add(id);
      onDue();
    },
    isDue: (): boolean => due.size > 0,
    /** Takes what is due, as much as is asked for in one request. */
    next: (): readonly Unread[] => {
      const next: Unread[] = [];
      for (const id of due) {
        if (next.length === mostAtOnce) break;
        const one = all.get(id);
        forget(id);
        if (one !== undefined) next.push(one);
      }
      return next.sort((a, b) => a.place - b.place);
    },
    /** What is read now begins with this one; undefined: nothing is. */
    reads: (first: Unread | undefined): void => void (reading = first?.place ?? Infinity),
    handedOut: ({ place }: Unread): void => void (handedOut = Math.max(handedOut, place)),
    isBehind: (): boolean => {
      for (const { place } of all.values()) if (place < handedOut) return true;
      return reading < handedOut;
    },
    stop: (): void => later.stop(),
  };
}

/** Reads the current revision of a document; undefined when there is none. Rejects as the store does. */
export type ReadDocument = (id: string) => Promise<StoredDocument | undefined>;

/** Returns what reads documents together that are asked for in one turn of the event loop. */
export function createReadTogether({ get, getMany }: Pick<Store, 'get' | 'getMany'>): ReadDocument {
  let ids = new Set<string>();
  let all: Promise<Pick<ReadonlyMap<string, StoredDocument>, 'get'>> | undefined;
  const readAll = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    const wanted = [...ids];
    ids = new Set();
    all = undefined;
    const [only, ...others] = wanted;
    if (only === undefined || others.length > 0) return getMany(wanted);
    const doc = await get(only);
    return { get: () => doc };
  };
  return async (id) => {
    ids.add(id);
    return (await (all ??= readAll())).get(id);
  };
}
