import type { Peer } from '../../decide/world.js';
import { defaultQueue } from '../../model/job.js';
import type { EngineDocument } from '../../model/engine.js';

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
 */
export type Peers = {
  /** Takes a changed engine document, our own as well; undefined: it was deleted. */
  readonly update: (id: string, doc: EngineDocument | undefined) => void;
  /** The document of an engine has a new revision, which was not read yet: a sign of life. */
  readonly moved: (id: string) => void;
  /** `pid`: of the process that a claim names. */
  readonly lease: (id: string, pid?: number) => 'alive' | 'dead';
  /** The others that are alive and take work. */
  readonly alive: () => readonly Peer[];
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

/** So many leases after its last sign a dead engine is forgotten. */
const keptLeases = 20;

/** `now` (ms) may start anywhere but must not jump: a monotonic clock. */
export function createPeers(me: string, leaseMs: number, now: () => number): Peers {
  const seen = new Map<string, Seen>();
  let sawMyselfAt = now();
  const isDead = (entry: Seen): boolean => entry.gone || sawMyselfAt - entry.movedAt > leaseMs;
  /** A lease is renewed three times in its length: of one that is seen later the rest was not seen. */
  const seeMyself = (): void => {
    const sinceMs = now() - sawMyselfAt;
    const blindMs = sinceMs - leaseMs / 3;
    if (sinceMs > (2 * leaseMs) / 3) forgive(seen.values(), now());
    else if (blindMs > 0) {
      for (const entry of seen.values()) entry.movedAt = Math.min(now(), entry.movedAt + blindMs);
    }
    sawMyselfAt = now();
  };
  const leaseOf = (key: string): 'alive' | 'dead' => {
    const entry = seen.get(key);
    if (entry !== undefined) return isDead(entry) ? 'dead' : 'alive';
    seen.set(key, { beat: -1, movedAt: now(), gone: false, reported: false, forgiven: 0 });
    return 'alive';
  };
  /** Ids of the dead whose documents are there, whose last sign is more than so many leases ago. */
  const deadSince = (leases: number): readonly string[] =>
    [...seen].flatMap(([id, entry]) => {
      const isLong = sawMyselfAt - entry.movedAt > leases * leaseMs;
      return entry.doc !== undefined && isDead(entry) && isLong ? [id] : [];
    });
  return {
    update: (id, doc) => {
      if (id === me) return seeMyself();
      const before = seen.get(id);
      const isGone = doc === undefined || doc.state === 'stopped';
      seen.set(id, isGone ? asGone(before, now()) : asSeen(doc, before, now()));
    },
    moved: (id) => {
      const entry = seen.get(id);
      if (entry !== undefined && !entry.gone) entry.movedAt = now();
    },
    lease: (id, pid) => {
      const entry = seen.get(id);
      const isOther = pid !== undefined && entry?.pid !== undefined && entry.pid !== pid;
      return entry !== undefined && isDead(entry) && isOther
        ? leaseOf(keyOf(id, pid))
        : leaseOf(id);
    },
    alive: () =>
      [...seen.values()].flatMap((entry) => {
        const { doc, peer } = entry;
        return peer === undefined || doc?.state !== 'running' || isDead(entry) ? [] : [peer];
      }),
    lost: () => deadSince(-Infinity),
    remains: () => deadSince(2),
    died: () => {
      const dead = [...seen].filter(([, entry]) => isDead(entry) && !entry.reported);
      for (const [, entry] of dead) entry.reported = true;
      // An engine of which a step is still found is judged anew, as one nobody has heard of (P3).
      for (const [id, { reported, doc, movedAt }] of seen) {
        const isLong = sawMyselfAt - movedAt > keptLeases * leaseMs;
        if (reported && doc === undefined && isLong) seen.delete(id);
      }
      return dead.map(([key]) => engineIn(key));
    },
  };
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

/** An engine whose document was removed, or says that it has stopped. */
function asGone(before: Seen | undefined, now: number): Seen {
  const reported = before?.reported ?? false;
  return { beat: -1, movedAt: now, pid: before?.pid, gone: true, reported, forgiven: 0 };
}

/** An engine by its document; one whose beat is another one has moved. */
function asSeen(doc: EngineDocument, before: Seen | undefined, now: number): Seen {
  const { _id: id, beat, pid, plugins, labels, queues = [defaultQueue] } = doc;
  const isStill = before !== undefined && !before.gone && before.beat === beat;
  const { movedAt, reported, forgiven } = isStill
    ? before
    : { movedAt: now, reported: false, forgiven: 0 };
  const able = { plugins: new Set(plugins), labels: new Set(labels), queues: new Set(queues) };
  return { beat, movedAt, doc, pid, peer: { id, ...able }, gone: false, reported, forgiven };
}

/** The key of a process of an engine of which only claims were seen. */
function keyOf(id: string, pid: number): string {
  return `${id}\n${pid}`;
}

function engineIn(key: string): string {
  return key.split('\n')[0] as string;
}
