import { LRUCache } from 'lru-cache';
import type { StoredDocument } from '../../model/document.js';

/**
 * The documents on which something is under way, by id.
 *
 * E8 In this process one thing at a time happens to a document.
 * E9 A task always works on the newest version that was seen; older ones are dropped.
 */
export type Serializer = {
  /** Takes a version: `stale` when a newer one was seen, `echo` when this one was. */
  readonly put: (doc: StoredDocument) => 'news' | 'echo' | 'stale';
  /** What may be done about the document is new, though its version is not: counts as seen now. */
  readonly touch: (id: string) => void;
  /** Puts a version that was made here; a copy of it that the feed brought before gives way. */
  readonly putOwn: (doc: StoredDocument) => void;
  /** Whether this very version was seen. */
  readonly knows: (id: string, rev: string) => boolean;
  /** When the newest version was first seen (epoch ms); of a document never seen: now. */
  readonly seenAt: (id: string) => number;
  /** Whether no newer version was seen since, nor this one made here. */
  readonly isNewest: (doc: StoredDocument) => boolean;
  /** Whether any version of it was seen lately. */
  readonly isKnown: (id: string) => boolean;
  readonly newest: (id: string) => StoredDocument | undefined;
  /** Runs a task for the document after those that wait already. */
  readonly queue: (id: string, task: () => Promise<void>) => Promise<void>;
  /** Drops the document; its revision is remembered. */
  readonly drop: (id: string) => void;
  /** Forgets all revisions: the database may be another one. */
  readonly forget: () => void;
  readonly size: number;
  /** Resolves when fewer tasks than `limit` are open. */
  readonly room: (limit: number) => Promise<void>;
  readonly idle: () => Promise<void>;
};

/** So many revisions of dropped documents are remembered, to know echoes from news. */
const remembered = 20_000;

export function createSerializer(
  onError: (id: string, error: unknown) => void,
  now: () => number,
): Serializer {
  const versions = createVersions(now);
  return {
    ...versions,
    ...createQueues(onError),
    get size() {
      return versions.documents.size;
    },
  };
}

/** The newest versions that were seen, and which documents are held of them. */
function createVersions(now: () => number) {
  const documents = new Map<string, StoredDocument>();
  const revisions = new LRUCache<string, { readonly rev: string; readonly at: number }>({
    max: remembered,
  });
  const remember = (id: string, rev: string): void => void revisions.set(id, { rev, at: now() });
  const put: Serializer['put'] = (doc) => {
    const seen = revisions.get(doc._id)?.rev;
    if (seen !== undefined && generationOf(seen) > generationOf(doc._rev)) return 'stale';
    if (seen !== doc._rev) remember(doc._id, doc._rev);
    // Of two copies of one version the first stays: it may have been read already.
    if (documents.get(doc._id)?._rev !== doc._rev) documents.set(doc._id, doc);
    return seen === doc._rev ? 'echo' : 'news';
  };
  return {
    documents,
    put,
    putOwn: (doc: StoredDocument): void => {
      if (documents.get(doc._id)?._rev === doc._rev) documents.delete(doc._id);
      put(doc);
    },
    isNewest: (doc: StoredDocument): boolean => {
      const held = documents.get(doc._id);
      const newest = revisions.get(doc._id)?.rev ?? doc._rev;
      return newest === doc._rev && (held === undefined || held === doc);
    },
    touch: (id: string): void => {
      const seen = revisions.get(id);
      if (seen !== undefined) remember(id, seen.rev);
    },
    knows: (id: string, rev: string): boolean => revisions.get(id)?.rev === rev,
    isKnown: (id: string): boolean => revisions.has(id),
    seenAt: (id: string): number => revisions.get(id)?.at ?? now(),
    forget: (): void => revisions.clear(),
    newest: (id: string): StoredDocument | undefined => documents.get(id),
    drop: (id: string): void => void documents.delete(id),
  };
}

/** The tasks of each document, one after the other. */
function createQueues(onError: (id: string, error: unknown) => void) {
  const tails = new Map<string, Promise<void>>();
  const waiting: { readonly limit: number; readonly resolve: () => void }[] = [];
  let open = 0;
  const closeOne = (): void => {
    open -= 1;
    for (const waiter of waiting.splice(0)) {
      if (open < waiter.limit) waiter.resolve();
      else waiting.push(waiter);
    }
  };
  const room = (limit: number): Promise<void> =>
    open < limit ? Promise.resolve() : new Promise((resolve) => waiting.push({ limit, resolve }));
  const queue: Serializer['queue'] = (id, task) => {
    open += 1;
    const before = tails.get(id) ?? Promise.resolve();
    const tail = before
      .then(task)
      .catch((error: unknown) => onError(id, error))
      .then(() => {
        closeOne();
        if (tails.get(id) === tail) tails.delete(id);
      });
    tails.set(id, tail);
    return tail;
  };
  return { queue, room, idle: () => room(1) };
}

/** The number before the dash: each write of a document counts it up. */
export function generationOf(rev: string): number {
  return Number.parseInt(rev, 10);
}
