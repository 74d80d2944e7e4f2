import type { Peer } from '../../decide/world.js';
import { defaultQueue } from '../../model/job.js';
import type { EngineDocument } from '../../model/engine.js';
import { createMemo } from '../../memo.js';

/**
 * What this engine knows of the others. A lease is judged by the reader's own clock: an engine is
 * alive as long as its document is seen to move.
 *
 * P1 Clocks of other machines are never read.
 * P2 Time in which this process saw nothing itself (no connection, a feed that lags, process
 *    stopped) does not count against anybody: only what the feed brings of its own document moves
 *    the time at which the others are judged, by the time between two renewals at the most. After a
 *    long blindness everybody is given a whole lease; several times in a row only to those that were
 *    seen to move in between, for an engine that always sees itself late must find the dead, too.
 * P3 An engine nobody has heard of is given a whole lease before it counts as dead. So is another
 *    process of an engine that is dead: one that came back under its name is seen by its claims before
 *    its document, where the feed brings them so.
 * P4 A renewal that comes when one was due says nothing but that its engine lives, and is not read: N
 *    engines read N² leases else. What an engine says anew it writes between two renewals, so that at
 *    least one of the two times beside it is short; and now and then a renewal is read all the same.
 */
export type Peers = {
  /** Takes a changed engine document, our own as well; undefined: it was deleted. */
  readonly update: (id: string, doc: EngineDocument | undefined) => void;
  /**
   * The document of an engine has a new revision, which was not read yet: a sign of life. Answers
   * whether there may be more in it than that (P4).
   */
  readonly moved: (id: string, rev: string) => boolean;
  /** `pid`: of the process that a claim names. */
  readonly lease: (id: string, pid?: number) => 'alive' | 'dead';
  /** The others that are alive and take work: the same list until that changes. */
  readonly alive: readonly Peer[];
  /** Engines that have died since the last call. */
  readonly died: () => readonly string[];
  /** Those of the dead that did not end in order: their documents are still there. */
  readonly lost: () => readonly string[];
  /** Documents of engines whose lease is over for as long again: everybody has seen it by then. */
  readonly remains: () => readonly string[];
};

type Seen = {
  beat: number;
  movedAt: number;
  /** Number of writes of its newest known revision, and of those since one was read. */
  writes: number;
  unread: number;
  doc?: EngineDocument;
  /** Of the process that wrote its last document. */
  pid?: number | undefined;
  /** What the others take it for. */
  peer?: Peer;
  gone: boolean;
  reported: boolean;
  /** Number of whole leases it was given since it was last seen to move. */
  forgiven: number;
};

/** Maximum number of whole leases in a row for an engine that is not seen to move. */
const mostForgiven = 3;

/** So many renewals are not read, one after the other. */
const mostUnread = 12;

/** Parts of the time between two renewals within which the next one is due. */
const due = { from: 0.7, to: 1.5 };

/** So many leases after its last sign a dead engine is forgotten. */
const keptLeases = 20;

/** `now` (ms) may start anywhere but must not jump: a monotonic clock. */
export function createPeers(me: string, leaseMs: number, now: () => number): Peers {
  const seen = new Map<string, Seen>();
  let sawMyselfAt = now();
  const isDead = (entry: Seen): boolean => entry.gone || sawMyselfAt - entry.movedAt > leaseMs;
  const workerIn = (entry: Seen | undefined): Peer | undefined =>
    entry?.doc?.state === 'running' && !isDead(entry) ? entry.peer : undefined;
  const others: { alive: readonly Peer[] } = { alive: [] };
  const look = (): void => {
    others.alive = [...seen.values()].map(workerIn).filter((it) => it !== undefined);
  };
  /** A lease is renewed three times in its length: of one that is seen later the rest was not seen. */
  const seeMyself = (): void => {
    const sinceMs = now() - sawMyselfAt;
    const blindMs = sinceMs - leaseMs / 3;
    if (sinceMs > (2 * leaseMs) / 3) forgive(seen.values(), now());
    else if (blindMs > 0) addTime(seen.values(), blindMs, now());
    sawMyselfAt = now();
    look();
  };
  const leaseOf = (key: string): 'alive' | 'dead' => {
    const entry = seen.get(key);
    if (entry !== undefined) return isDead(entry) ? 'dead' : 'alive';
    seen.set(key, { ...unknown, movedAt: now() });
    return 'alive';
  };
  /** Ids of the dead whose documents are there, whose last sign is more than so many leases ago. */
  const deadSince = (leases: number): readonly string[] =>
    [...seen].flatMap(([id, entry]) => {
      const isLong = sawMyselfAt - entry.movedAt > leases * leaseMs;
      return entry.doc !== undefined && isDead(entry) && isLong ? [id] : [];
    });
  return Object.assign(others, {
    update: (id, doc) => {
      if (id === me) return seeMyself();
      const before = seen.get(id);
      const entry = readSeen(doc, before, now());
      seen.set(id, entry);
      if (workerIn(entry) !== workerIn(before)) look();
    },
    moved: (id, rev) => {
      const entry = seen.get(id);
      if (entry === undefined || entry.gone) return true;
      const wasDead = isDead(entry);
      const mayHoldMore = takeLine(entry, rev, { now: now(), renewMs: leaseMs / 3 });
      if (wasDead) look();
      return mayHoldMore;
    },
    lease: (id, pid) => {
      const entry = seen.get(id);
      const isOther = pid !== undefined && entry?.pid !== undefined && entry.pid !== pid;
      const isOtherOfDead = entry !== undefined && isDead(entry) && isOther;
      return leaseOf(isOtherOfDead ? keyOf(id, pid) : id);
    },
    ...{ lost: () => deadSince(-Infinity), remains: () => deadSince(2) },
    died: () => {
      const dead = [...seen].filter(([, entry]) => isDead(entry) && !entry.reported);
      for (const [, entry] of dead) entry.reported = true;
      forgetBefore(seen, sawMyselfAt - keptLeases * leaseMs);
      return dead.map(([key]) => engineIn(key));
    },
  } satisfies Omit<Peers, 'alive'>);
}

/** Takes a new revision for a sign of life; answers whether there may be more in it (P4). */
function takeLine(
  entry: Seen,
  rev: string,
  { now, renewMs }: { readonly now: number; readonly renewMs: number },
): boolean {
  const renewals = (now - entry.movedAt) / (entry.doc?.renew_ms ?? renewMs);
  const isDue = due.from <= renewals && renewals <= due.to;
  entry.movedAt = now;
  entry.writes = Math.max(entry.writes, Number.parseInt(rev, 10));
  entry.unread += 1;
  return entry.doc === undefined || !isDue || entry.unread > mostUnread;
}

/** An engine of which a step is still found is judged anew, as one nobody has heard of (P3). */
function forgetBefore(entries: Map<string, Seen>, time: number): void {
  for (const [id, { reported, doc, movedAt }] of entries) {
    if (reported && doc === undefined && movedAt < time) entries.delete(id);
  }
}

/** Moves the last signs of all engines by a time in which none could be seen (P2). */
function addTime(entries: Iterable<Seen>, ms: number, now: number): void {
  for (const entry of entries) entry.movedAt = Math.min(now, entry.movedAt + ms);
}

/** Gives everybody a whole lease. */
function forgive(entries: Iterable<Seen>, now: number): void {
  for (const entry of entries) {
    if (entry.forgiven === mostForgiven) continue;
    entry.forgiven += 1;
    entry.movedAt = now;
    // Whoever removed its document may have misjudged it, and it may have come back unseen.
    entry.gone = false;
    entry.reported = false;
  }
}

/** An engine of which no document was read. */
const unknown = {
  ...{ beat: -1, writes: 0, unread: 0, gone: false, reported: false, forgiven: 0 },
} as const;

/** An engine whose document was removed, or says that it has stopped. */
function asGone(before: Seen | undefined, now: number): Seen {
  const reported = before?.reported ?? false;
  return { ...unknown, movedAt: now, pid: before?.pid, gone: true, reported };
}

/** An engine by its document, which may be gone. */
function readSeen(doc: EngineDocument | undefined, before: Seen | undefined, now: number): Seen {
  const isGone = doc === undefined || doc.state === 'stopped';
  return isGone ? asGone(before, now) : asSeen(doc, before, now);
}

/** An engine by its document; one whose beat is another one has moved, unless its line was seen. */
function asSeen(doc: EngineDocument, before: Seen | undefined, now: number): Seen {
  const { _id: id, beat, pid, plugins, labels, queues = [defaultQueue] } = doc;
  const writes = Number.parseInt(String(doc['_rev']), 10) || 0;
  const isSeen = writes > 0 && writes <= (before?.writes ?? 0);
  const isStill = before !== undefined && !before.gone && (isSeen || before.beat === beat);
  const { movedAt, reported, forgiven } = isStill
    ? before
    : { movedAt: now, reported: false, forgiven: 0 };
  const able = { plugins: setOf(plugins), labels: setOf(labels), queues: setOf(queues) };
  // Those of most renewals are the same: so is the list of the living.
  const peer = before?.peer && isSamePeer(before.peer, able) ? before.peer : { id, ...able };
  const newest = Math.max(writes, before?.writes ?? 0);
  return {
    beat,
    movedAt,
    writes: newest,
    unread: 0,
    doc,
    pid,
    peer,
    gone: false,
    reported,
    forgiven,
  };
}

function isSamePeer(before: Peer, now: Omit<Peer, 'id'>): boolean {
  return (['plugins', 'labels', 'queues'] as const).every((it) => before[it] === now[it]);
}

/** Sets of names, so many of them: most engines of an installation can do the same. */
const sets = createMemo<ReadonlySet<string>>(100);

/** Gives the same set for the same names. */
function setOf(names: readonly string[]): ReadonlySet<string> {
  return sets(names.join('\n'), () => new Set(names));
}

/** The key of a process of an engine of which only claims were seen. */
function keyOf(id: string, pid: number): string {
  return `${id}\n${pid}`;
}

function engineIn(key: string): string {
  return key.split('\n')[0] as string;
}
