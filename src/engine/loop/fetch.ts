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
 * F1 Each change is read, or a later one of the same document is; what this engine knows already is not.
 * F2 A document that another engine is likely to deal with is read only when it has not moved again for
 *    the time that is left to that engine.
 * F3 What is read at the same time is handed out in the order in which the feed brought it.
 * F4 A copy that is behind the feed is asked again.
 */
export type Fetcher = {
  /** Takes a change; it replaces an earlier one of the same document. */
  readonly saw: (seen: SeenRevision) => void;
  /** The document is gone: nothing of it is left to read. */
  readonly forget: (id: string) => void;
  /** Whether changes are left that were not read yet. */
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

type Pending = SeenRevision & { readonly tries: number };

export function createFetcher(ports: FetcherPorts): Fetcher {
  const { read, isKnown, leftToOthersMs, take, room, now } = ports;
  /** What was not asked for yet, in the order of the feed. */
  const pending = new Map<string, Pending>();
  const due = new Set<string>();
  let reading = 0;
  let isFlushing = false;
  let isStopped = false;

  const later = createTimers((id) => {
    due.add(id);
    void flush();
  }, now);
  const put = (one: Pending, waitMs: number): void => {
    const { id } = one;
    pending.delete(id);
    pending.set(id, one);
    due.delete(id);
    later.clear(id);
    if (waitMs > 0) return later.set(id, now() + waitMs);
    due.add(id);
    void flush();
  };
  const handOut = (asked: readonly Pending[], found: ReadonlyMap<string, StoredDocument>): void => {
    for (const one of asked) {
      const { id, rev, at, tries } = one;
      const doc = found.get(id);
      // It was deleted since, which the feed brings.
      if (doc === undefined) continue;
      const isBehind = writesBetween(doc._rev, rev) > 0;
      if (isBehind && tries < mostTries && !pending.has(id)) {
        put({ ...one, tries: tries + 1 }, againMs);
      } else take(doc, at);
    }
  };
  const flush = async (): Promise<void> => {
    if (isFlushing) return;
    isFlushing = true;
    // What comes in the same piece of the feed is read together.
    await new Promise((resolve) => setImmediate(resolve));
    while (due.size > 0 && !isStopped) {
      await room();
      const asked = nextOf(pending, due).filter((one) => !isKnown(one));
      if (asked.length === 0) continue;
      reading = asked.length;
      const found = await read(asked.map(({ id }) => id));
      reading = 0;
      if (found === undefined) break;
      handOut(asked, found);
    }
    isFlushing = false;
  };
  return {
    saw: (seen) => {
      if (!isKnown(seen)) put({ ...seen, tries: 0 }, leftToOthersMs(seen.id));
    },
    forget: (id) => {
      pending.delete(id);
      due.delete(id);
      later.clear(id);
    },
    isBehind: () => reading > 0 || pending.size > 0,
    stop: () => {
      isStopped = true;
      later.stop();
    },
  };
}

/** Takes what is due out of both, in the order of the feed, as much as is asked for in one request. */
function nextOf(pending: Map<string, Pending>, due: Set<string>): readonly Pending[] {
  const next: Pending[] = [];
  for (const id of due) {
    if (next.length === mostAtOnce) break;
    const one = pending.get(id);
    due.delete(id);
    pending.delete(id);
    if (one !== undefined) next.push(one);
  }
  return next.sort((a, b) => a.at - b.at);
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
