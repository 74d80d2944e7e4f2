import { LRUCache } from 'lru-cache';
import type { StoredDocument } from '../../model/document.js';
import { createTimers } from '../waiting/timers.js';
import type { FollowParts } from './followed-parts.js';
import { writesBetween } from './serializer.js';
import { resolveLeaves } from './write-followed.js';

/** Documents of one type that an engine follows beside jobs. */
export type Followed = {
  /** Takes a version; `at`: when it was first seen, epoch ms. One in conflict is resolved. */
  readonly take: (doc: StoredDocument, how?: Taking) => void;
  /** Reads the document anew and considers it: its time has come, or something that it waits for. */
  readonly wake: (id: string) => void;
  /** Wakes it at that time (epoch ms). */
  readonly wakeAt: (id: string, at: number) => void;
  /** The revisions that were seen last, by id. */
  readonly seen: Pick<ReadonlyMap<string, SeenVersion>, 'get'>;
  readonly gone: (id: string) => void;
  /** Forgets all revisions: the database may be another one. */
  readonly forget: () => void;
  readonly stop: () => void;
};

type Taking = { readonly at?: number; readonly conflicted?: true | undefined };

type SeenVersion = { readonly rev: string; readonly at: number };

/** Number of documents whose last revision is remembered. */
const remembered = 20_000;

/**
 * Does what a document asks for until there is nothing more to do, given when it was first seen (epoch ms)
 * and what to tell of each revision that is stored. Resolves with the time to look at it again (epoch ms),
 * or undefined: when it changes.
 */
type Follow = (
  doc: StoredDocument,
  seenAt: number,
  onWritten: (doc: StoredDocument) => void,
) => Promise<number | undefined>;

/** Follows documents of a type: of each the newest version, one thing at a time. */
export function createFollowed(parts: FollowParts, type: string, follow: Follow): Followed {
  const { serializer, readDocument, retry, now, ending } = parts;
  const seen = new LRUCache<string, SeenVersion>({ max: remembered });
  const timers = createTimers((id) => wake(id), now, parts.wait);
  const saw = (doc: StoredDocument, at = now()): SeenVersion | 'stale' => {
    const before = seen.get(doc._id);
    if (before?.rev === doc._rev) return before;
    if (before !== undefined && writesBetween(doc._rev, before.rev) > 0) return 'stale';
    const first = { rev: doc._rev, at };
    seen.set(doc._id, first);
    return first;
  };
  const consider = async (doc: StoredDocument, at?: number): Promise<void> => {
    const first = saw(doc, at);
    if (first === 'stale' || ending.signal.aborted) return;
    const later = await follow(doc, first.at, (it) => void saw(it));
    if (later === undefined) return timers.clear(doc._id);
    if (later <= now() + parts.horizonMs()) timers.set(doc._id, later);
  };
  const wake = (id: string): void => {
    void serializer.queue(id, async () => {
      if (ending.signal.aborted) return;
      const doc = await retry(() => readDocument(id));
      if (doc?.['type'] === type) await consider(doc);
    });
  };
  return {
    take: (doc, { at, conflicted } = {}) =>
      void serializer.queue(doc._id, async () => {
        const winner = conflicted === true ? await resolveLeaves(parts, doc._id) : doc;
        if (winner?.['type'] === type) await consider(winner, at);
      }),
    wake,
    wakeAt: timers.set,
    seen,
    gone: (id) => {
      seen.delete(id);
      timers.clear(id);
    },
    forget: () => seen.clear(),
    stop: timers.stop,
  };
}
