import { mostFirst, staggerMs } from '../../decide/compete/ranks.js';
import type { StoredDocument } from '../../model/document.js';
import type { Store } from '../../store/store.js';
import { after, type Waiter } from '../../turns.js';
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
 * I1 Each change is read, or a later one of the same document is; what this engine knows already is not,
 *    nor what is left to others altogether.
 * I2 A document that another engine is likely to deal with is read only when it has not moved again for
 *    the time that is left to that engine, or has moved for longer than a second without being read;
 *    what becomes due within the time between two engines is read together.
 * I3 What is read at the same time is handed out in the order in which the feed brought it.
 * I4 A copy that is behind the feed is asked again.
 * I5 An engine that could do nothing about what is left to others reads it when it can, or when it has
 *    not moved for some seconds.
 * I10 What was deleted while it was read is not handed out: it would stay known for ever.
 */
export type Fetcher = {
  /**
   * Takes a change; it replaces an earlier one of the same document. Returns whether it is new: false
   * when nothing is to be learnt from reading it.
   */
  readonly saw: (seen: SeenRevision) => boolean;
  /** The document is gone: nothing of it is left to read. */
  readonly forget: (id: string) => void;
  /** Whether something that concerns every engine was changed and is not read yet. */
  readonly isBehind: () => boolean;
  /** The engine can do something again: what was put off for that is read, so many documents at most. */
  readonly hurry: (most?: number) => void;
  readonly stop: () => void;
};

export type FetcherPorts = {
  /** The documents that exist, by id; undefined when the engine ends. */
  readonly read: (
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, StoredDocument> | undefined>;
  /** What this process wrote last of a document: that need not be read. */
  readonly written?: Store['written'];
  /** Whether nothing is to be learnt from reading a revision. */
  readonly isKnown: (seen: SeenRevision) => boolean;
  readonly delayOf: (seen: SeenRevision) => Delay;
  /** Whether this engine could do nothing now about what others may deal with. */
  readonly isFull: () => boolean;
  readonly take: (doc: StoredDocument, at: number) => void;
  /** Resolves when there is room for what is read. */
  readonly room: () => Promise<void>;
  readonly now: () => number;
  /** By another clock than that of the process. */
  readonly wait?: Waiter;
  /** Resolves when what comes with a change has come. */
  readonly turn?: () => Promise<void>;
};

/**
 * How long a change is left unread, ms (Infinity: it is not read at all); `for`: to other engines, or to
 * be read together with more; `all`: it concerns every engine.
 */
export type Delay = { readonly ms: number; readonly for: 'others' | 'more' | 'all' };

/** Documents that are asked for in one request: more of them hold up what runs, and leave more garbage. */
const mostAtOnce = 100;
/** After which time a copy that is behind is asked again, ms, and how often. */
const againMs = 100;
const mostTries = 50;
/** So long a document may move without being read, ms. */
const mostMovingMs = 1_000;
/**
 * What is left to the first engines becomes due at multiples of this, so that it is read together, ms.
 * All engines count from the same moment, so that of one document each has another multiple, unless the
 * feed brought it to them at different times.
 */
const togetherMs = staggerMs;
/** So long a document must not have moved before an engine reads it that can do nothing about it, ms. */
const fullMs = 5_000;

/**
 * `place`: its place among all that the feed brought. `since`: when the first revision was seen of those
 * that were not read, epoch ms.
 */
type Unread = SeenRevision & {
  readonly place: number;
  readonly since: number;
  readonly tries: number;
  /** It is left to other engines. */
  readonly isLeft: boolean;
  /** It may be a definition, which jobs that come by another way than this one may need. */
  readonly isForAll: boolean;
};

type Found = Pick<ReadonlyMap<string, StoredDocument>, 'get'>;

/** The documents of changes: what this process wrote, and what is read; undefined when the engine ends. */
async function findAll(
  asked: readonly Unread[],
  { read, written }: Pick<FetcherPorts, 'read' | 'written'>,
): Promise<Found | undefined> {
  const own = new Map<string, StoredDocument>();
  for (const { id, rev, isConflicting = false } of asked) {
    const doc = isConflicting ? undefined : written?.(id);
    // A later one may be of a document that was purged since.
    if (doc?._rev === rev) own.set(id, doc);
  }
  const others = asked.flatMap(({ id }) => (own.has(id) ? [] : [id]));
  if (others.length === 0) return own;
  const found = await read(others);
  return found && { get: (id) => own.get(id) ?? found.get(id) };
}

export function createFetcher(ports: FetcherPorts): Fetcher {
  const { isKnown, delayOf, take, room, now, wait = after, turn = nextTurn } = ports;
  let isFlushing = false;
  let isStopped = false;
  /** What is being read, without what was deleted meanwhile: the answer may be older than that. */
  let reading = new Set<string>();
  const unread = createUnread(() => void flush(), ports, wait);

  const handOut = (asked: readonly Unread[], found: Found): void => {
    for (const one of asked) {
      const { id, rev, at, tries } = one;
      const doc = found.get(id);
      // It was deleted since, which the feed brings, or has brought.
      if (doc === undefined || !reading.has(id)) continue;
      const isBehind = writesBetween(doc._rev, rev) > 0;
      if (isBehind && tries < mostTries && unread.get(id) === undefined) {
        unread.put({ ...one, tries: tries + 1, isLeft: false }, againMs);
      } else take(doc, at);
    }
  };
  const flush = async (): Promise<void> => {
    if (isFlushing) return;
    isFlushing = true;
    // What comes in the same piece of the feed is read together.
    await turn();
    while (unread.isDue() && !isStopped) {
      await room();
      const asked = unread.next().filter((one) => !isKnown(one));
      if (asked.length === 0) continue;
      unread.reads(asked);
      reading = new Set(asked.map(({ id }) => id));
      const found = await findAll(asked, ports);
      unread.reads([]);
      if (found === undefined) break;
      handOut(asked, found);
    }
    isFlushing = false;
  };
  let last = 0;
  return {
    saw: (seen) => {
      if (isKnown(seen)) return false;
      const since = unread.get(seen.id)?.since ?? now();
      const delay = delayOf(seen);
      const isLeft = delay.for === 'others';
      if (delay.ms === Infinity) unread.forget(seen.id);
      else {
        const isForAll = delay.for === 'all';
        unread.put({ ...seen, place: (last += 1), since, tries: 0, isLeft, isForAll }, delay.ms);
      }
      return true;
    },
    hurry: unread.hurry,
    forget: (id) => (reading.delete(id), unread.forget(id)),
    isBehind: unread.isBehind,
    stop: () => {
      isStopped = true;
      unread.stop();
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** When a change is read that may wait for so long, which is over `at`; epoch ms. */
function dueAt(at: number, { since, isLeft }: Unread, waitMs: number): number {
  const due = Math.min(at, since + Math.max(mostMovingMs, waitMs));
  const isTogether = isLeft && waitMs <= mostFirst * staggerMs;
  return isTogether ? togetherMs * Math.ceil(due / togetherMs) : due;
}

/** The revisions that were not read yet, in the order of the feed. `onDue`: the time of one has come. */
function createUnread(
  onDue: () => void,
  { now, isFull }: Pick<FetcherPorts, 'now' | 'isFull'>,
  wait: Waiter,
) {
  const all = new Map<string, Unread>();
  const due = new Set<string>();
  /** Left to others for long enough, and read when this engine is no longer full. */
  const putOff = new Set<string>();
  /** How much of what concerns every engine is not read yet, and how much of it is being read. */
  const forAll = { unread: 0, reading: 0 };
  const becomeDue = (id: string): void => {
    putOff.delete(id);
    if (later.due.has(id)) later.clear(id);
    due.add(id);
    onDue();
  };
  const wake = (id: string): void => {
    const one = all.get(id);
    const until = one?.isLeft === true ? one.at + fullMs : 0;
    if (now() >= until || !isFull()) return becomeDue(id);
    putOff.add(id);
    later.set(id, until);
  };
  const later = createTimers(wake, now, wait);
  const forget = (id: string): void => {
    if (all.get(id)?.isForAll === true) forAll.unread -= 1;
    all.delete(id);
    due.delete(id);
    putOff.delete(id);
    if (later.due.has(id)) later.clear(id);
  };
  return {
    forget,
    get: (id: string): Unread | undefined => all.get(id),
    put: (one: Unread, waitMs: number): void => {
      const { id } = one;
      if (all.has(id)) forget(id);
      all.set(id, one);
      if (one.isForAll) forAll.unread += 1;
      if (waitMs <= 0) return becomeDue(id);
      later.set(id, dueAt(now() + waitMs, one, waitMs));
    },
    hurry: (most = Infinity): void => [...putOff].slice(0, most).forEach(becomeDue),
    isDue: (): boolean => due.size > 0,
    /** Takes what is due, as much as is asked for in one request. */
    next: (): readonly Unread[] => {
      // What becomes due in the same moment does so in any order.
      const inOrder = [...due].flatMap((id) => all.get(id) ?? []).sort((a, b) => a.place - b.place);
      const next = inOrder.slice(0, mostAtOnce);
      for (const { id } of next) forget(id);
      return next;
    },
    /** What is read now. */
    reads: (asked: readonly Unread[]): void => {
      forAll.reading = asked.filter(({ isForAll }) => isForAll).length;
    },
    isBehind: (): boolean => forAll.unread + forAll.reading > 0,
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
    await nextTurn();
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
