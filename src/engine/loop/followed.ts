import { createLru } from '../../memo.js';
import { rankAmong, turnMs } from '../../decide/compete/ranks.js';
import type { StoredDocument } from '../../model/document.js';
import { createTimers } from '../waiting/timers.js';
import type { FollowParts } from './followed-parts.js';
import { writesBetween } from './serializer.js';
import { resolveLeaves, unclear, writeFollowed } from './write-followed.js';

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

/** What an engine does next about a document. `until`: epoch ms. */
export type NextStep =
  | { readonly kind: 'rest' }
  | { readonly kind: 'wait'; readonly until: number }
  /** Finds out or makes something; `isShared`: every engine does so, without waiting for its turn. */
  | { readonly kind: 'do'; readonly act: () => Promise<void>; readonly isShared: boolean }
  | { readonly kind: 'write'; readonly doc: StoredDocument; readonly because: string };

/** What is known beside a revision of a document, and what follows from both. */
export type Knowledge = {
  readonly next: (doc: StoredDocument, now: number) => NextStep;
  /** Takes why the store refuses the next revision for good; returns whether another one follows. */
  readonly refused?: (reason: string) => boolean;
};

/** What is particular about the documents of one type. */
export type FollowRules = {
  readonly type: string;
  /** Whether jobs are decided that may not be made yet. */
  readonly isDeciding: (doc: StoredDocument) => boolean;
  /** When there was something to do about it, epoch ms; without it, when the engine saw it. */
  readonly dueBefore?: (doc: StoredDocument, now: number) => number;
  /** Begins to find out about a revision. */
  readonly knowledgeOf: (doc: StoredDocument) => Knowledge;
  /** Logs and measures what a stored revision tells. */
  readonly tell: (before: StoredDocument, after: StoredDocument, because: string) => void;
};

/**
 * Follows documents of a type: of each the newest version, one thing at a time. The engines are ranked for
 * each document as they are for each job: the first acts at once, the others a little later, if nobody has.
 */
export function createFollowed(parts: FollowParts, rules: FollowRules): Followed {
  const { type } = rules;
  const { serializer, readDocument, retry, now, ending } = parts;
  const seen = createLru<SeenVersion>(remembered);
  const timers = createTimers((id) => wake(id), now, parts.clock.after);
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
    const later = await follow(parts, rules, {
      doc,
      seenAt: first.at,
      onWritten: (it) => void (it['_deleted'] === true ? seen.delete(it._id) : saw(it)),
    });
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
        // What cannot be made one is looked at again by the next change, and by the sweep.
        if (winner !== unclear && winner?.['type'] === type) await consider(winner, at);
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

/** How long to wait for the revision that won before the document is read anew, ms. */
const hearsayMs = 2_000;

type Version = {
  readonly doc: StoredDocument;
  /** When it was first seen, epoch ms. */
  readonly seenAt: number;
  readonly onWritten: (doc: StoredDocument) => void;
};

/**
 * Does what a document asks for until there is nothing more to do. Resolves with the time to look at it
 * again (epoch ms), or undefined: when it changes.
 */
async function follow(
  parts: FollowParts,
  rules: FollowRules,
  { doc: given, seenAt, onWritten }: Version,
): Promise<number | undefined> {
  const { now, life, ending } = parts;
  let doc = given;
  let knowledge = rules.knowledgeOf(doc);
  // An engine that ends makes what it has decided, and decides nothing more.
  while (!life.signal.aborted && !(ending.signal.aborted && !rules.isDeciding(doc))) {
    const next = knowledge.next(doc, now());
    if (next.kind === 'rest') return undefined;
    if (next.kind === 'wait') return next.until;
    // What was written here goes on at once.
    const from = doc === given ? turnOf(parts, rules, { doc, seenAt }) : 0;
    const isShared = next.kind === 'do' && next.isShared;
    if (!isShared && now() < from) return from;
    if (next.kind === 'do') {
      await next.act();
      continue;
    }
    const written = await writeFollowed(parts, next.doc);
    if (written.kind === 'lost') return now() + hearsayMs;
    if (written.kind === 'stored') {
      rules.tell(doc, written.doc, next.because);
      onWritten(written.doc);
      doc = written.doc;
      // What was found out may have changed since.
      knowledge = rules.knowledgeOf(doc);
    } else if (knowledge.refused?.(written.reason) !== true) return undefined;
  }
  return undefined;
}

/** When it is the turn of this engine, epoch ms. */
function turnOf(
  { now, peers, self }: FollowParts,
  { dueBefore }: FollowRules,
  { doc, seenAt }: Pick<Version, 'doc' | 'seenAt'>,
): number {
  const due = dueBefore?.(doc, now()) ?? 0;
  return Math.max(seenAt, due) + turnMs(rankAmong(doc._id, peers.alive, self.id));
}
