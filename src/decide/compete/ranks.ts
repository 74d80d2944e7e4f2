import type { Peer } from '../world.js';

/*
 * In which order engines look at a document, and which of them look at all.
 *
 * I6 All engines compute the same order for a document: rendezvous hashing of its id with theirs. It
 *    stays the same for all revisions, and the end of an engine moves no two others.
 * I7 Only the first `mostFirst` engines in that order look at a change, each a little later than the one
 *    before it; of a document that was written more often, as many as there were writes. So what all
 *    engines together read grows with what was written, not with the number of engines, and a job with
 *    many steps still finds all of them.
 * I8 Engines that can do less do not count: of those that can do whatever a document asks for, the first
 *    ones look at it.
 * I9 What none of them takes (they died at once, or have no slot) is found by the sweep of any engine.
 * I11 A message to a job, a signal or a request, is left to nobody altogether before `mostForMessage`
 *    engines have had their turn. It may be the answer of a worker, whose lease does not wait for a sweep.
 *    It is gone once it is taken in, so those after the first seldom have to read it.
 */

/** So many engines look at a change of a document that was just made. */
export const mostFirst = 8;

/** So many engines look at a message, should those before them all have died. */
export const mostForMessage = 64;

/** The ids that programs give to messages; one that a person names otherwise is a document like any. */
const messages = /^(?:signal|request):/;

/**
 * Time (ms) that each of the first engines leaves to the one before it: enough for a write to arrive by
 * the feed.
 */
export const staggerMs = 200;

/** The same for those after them: they come upon a job by a sweep, and few at the same time. */
const laterStaggerMs = 20;

/** Returns how long (ms) an engine waits before which so many others act. */
export function turnMs(rank: number): number {
  return Math.min(rank, mostFirst) * staggerMs + Math.max(0, rank - mostFirst) * laterStaggerMs;
}

/** A revision of a document. */
export type RevisionOf = { readonly id: string; readonly rev: string };

/**
 * Returns how long (ms) this engine leaves a changed document to others before it reads it; Infinity:
 * it leaves it to them altogether (I7).
 */
export function leftToOthersMs({ id, rev }: RevisionOf, me: Peer, peers: readonly Peer[]): number {
  const rank = rankAmongAble(id, me, peers);
  const writes = Number.parseInt(rev, 10) || 1;
  const least = messages.test(id) ? mostForMessage : mostFirst;
  return rank < Math.max(least, writes) ? turnMs(rank) : Infinity;
}

/** Returns whether this engine looks at the first change of a document (I7). */
export function isAmongFirst(id: string, me: Peer, peers: readonly Peer[]): boolean {
  return rankAmongAble(id, me, peers) < mostFirst;
}

/**
 * Returns in how many rounds this engine looks once for what the feed did not bring: of those that can
 * do whatever it can, about `mostFirst` do so in each round.
 */
export function sweepPace(me: Peer, peers: readonly Peer[]): number {
  return peers.length === 0 ? 1 : Math.ceil((ableAs(me, peers).length + 1) / mostFirst);
}

/** Returns whether it is this engine's turn in that round. */
export function sweepsIn(round: number, me: Peer, peers: readonly Peer[]): boolean {
  return (round + rankAmongAble('sweep', me, peers)) % sweepPace(me, peers) === 0;
}

/** Returns how many engines come before `me` of those that can do whatever it can (I8). */
export function rankAmongAble(id: string, me: Peer, peers: readonly Peer[]): number {
  return peers.length === 0 ? 0 : rankAmong(id, ableAs(me, peers), me.id);
}

/** Returns how many of these engines, of those that count, come before `me` for a document. */
export function rankAmong(
  id: string,
  peers: readonly Peer[],
  me: string,
  counts = (_peer: Peer): boolean => true,
): number {
  const { ids, hashes } = hashed(peers);
  const document = idHash(id);
  const mine = placeOf(document, idHash(me));
  let before = 0;
  for (let i = 0; i < hashes.length; i += 1) {
    const place = placeOf(document, hashes[i] as number);
    const isBefore = place < mine || (place === mine && (ids[i] as string) < me);
    if (isBefore && counts(peers[i] as Peer)) before += 1;
  }
  return before;
}

/** Returns the place of an engine for a document, both by their hashes: the lowest comes first. */
export function placeOf(document: number, engine: number): number {
  let mixed = document ^ engine;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Returns the hash of an id (FNV-1a, 32 bits). */
export function idHash(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return hash;
}

type Hashed = { readonly ids: readonly string[]; readonly hashes: Int32Array };

/** By the list of engines: an engine meets the same list with each line of the feed. */
const known = new WeakMap<readonly Peer[], Hashed>();

function hashed(peers: readonly Peer[]): Hashed {
  const before = known.get(peers);
  if (before !== undefined) return before;
  const ids = peers.map(({ id }) => id);
  const made = { ids, hashes: Int32Array.from(ids, idHash) };
  known.set(peers, made);
  return made;
}

type Able = Pick<Peer, 'plugins' | 'labels' | 'queues'> & { readonly able: readonly Peer[] };

/** By the list of engines: those that can do whatever an engine of these abilities can. */
const knownAble = new WeakMap<readonly Peer[], Able>();

function ableAs({ plugins, labels, queues }: Peer, peers: readonly Peer[]): readonly Peer[] {
  const before = knownAble.get(peers);
  if (before?.plugins === plugins && before.labels === labels && before.queues === queues) {
    return before.able;
  }
  const able = peers.filter(
    (peer) =>
      isWithin(plugins, peer.plugins) &&
      isWithin(labels, peer.labels) &&
      isWithin(queues, peer.queues),
  );
  knownAble.set(peers, { plugins, labels, queues, able });
  return able;
}

function isWithin(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  if (some === all) return true;
  for (const one of some) if (!all.has(one)) return false;
  return true;
}
