import { canonical } from '../../model/canonical.js';
import type { Grant } from '../../model/rate.js';

/*
 * Who may begin under a rate limit.
 *
 * R12 Of what begins there is never more than the limit in any window, although the clocks of engines are
 *    up to `rateSkewMs` apart: a grant counts until its window has passed since this engine first saw it,
 *    or until that much more has passed since its stamp, whichever is first.
 * R13 A grant is used within its grace after it was taken, and counts for as much longer. One that is asked
 *    for again, because nobody used it in time, gets a new stamp and takes no further place. Where the
 *    database is slow, the grace grows. After the grace every engine that has the attempt in its line asks
 *    for it again: the engine that took the grant may be dead.
 * R14 Places are given in the order in which the asks are listed; who waits is told when the place of its
 *    turn is free.
 * R15 Where a database keeps several copies, a grant is used only after all of them say that it was
 *    stored. Who is not sure of a write takes back what was new in it, and nothing else: what had a grant
 *    before may be in use.
 */

/** So far apart the clocks of engines may be, ms. */
export const rateSkewMs = 2_000;

/** So long a free place is kept for one that was told when its turn comes, ms. */
export const keptTurnMs = 500;

/** So many grants stand in a document by themselves. */
export const mostGrants = 2_000;

/** Returns within which time after it was taken a grant is used, ms: what one write takes, and more. */
export function graceOf(perMs: number): number {
  return Math.min(250, Math.max(100, Math.ceil(perMs / 10)));
}

/** One that wants to begin; `isAsking`: it does so now, else it is known to wait. */
export type RateAsk = {
  readonly for: string;
  readonly limit: number;
  readonly perMs: number;
  readonly isAsking: boolean;
  /** So many more wait right before it and are not listed. */
  readonly skipped?: number;
  /** A longer grace than the usual one, ms. */
  readonly graceMs?: number;
};

/** What an engine knows when it asks. Times epoch ms, by its own clock. */
export type RateView = {
  readonly now: number;
  /** The number of the revision that it would write. */
  readonly gen: number;
  /** What tells that write from others. */
  readonly by: string;
  /** When it first saw a revision of that number or a later one; undefined: only now. */
  readonly seenAt: (gen: number) => number | undefined;
  /** The length of the longest window of the document, ms. */
  readonly perMs: number;
};

export type RateOutcome = {
  /** What the document has to hold. */
  readonly grants: readonly Grant[];
  /** Whether anybody got a grant. */
  readonly isChanged: boolean;
  /** Who has one now. */
  readonly held: ReadonlySet<string>;
  /** Those of them that had none before that counts in their window. */
  readonly fresh: ReadonlySet<string>;
  /** When the others ask again, epoch ms. */
  readonly until: ReadonlyMap<string, number>;
  /** Those that only wait and could have one, or have one that nobody used in time. */
  readonly ready: readonly string[];
};

/** Gives grants to those that ask, in their order (R12 to R14). */
export function grantRate(
  before: readonly Grant[],
  asks: readonly RateAsk[],
  view: RateView,
): RateOutcome {
  const { now, gen, by } = view;
  const counting = before.filter((grant) => freeAt(grant, view.perMs, view) > now);
  const stamp = counting.reduce((last, { at }) => Math.max(last, at), now);
  const places = createPlaces(counting, view);
  const held = new Set<string>();
  const fresh = new Set<string>();
  const until = new Map<string, number>();
  const ready: string[] = [];
  let kept = 0;
  let later = 0;
  for (const { for: whose, limit, perMs, isAsking, graceMs, skipped = 0 } of asks) {
    const taken = places.in(perMs);
    const usableTo = taken.holders.get(whose);
    const had = usableTo !== undefined;
    const couldBegin = Math.min(skipped, Math.max(0, limit - taken.count - kept));
    kept += couldBegin;
    later += skipped - couldBegin;
    // More than the limit stand there while several copies disagree: then none is used (R15).
    const isFree = had ? taken.count <= limit : taken.count + kept < limit;
    if (!isFree) {
      // What is free is kept for a moment for those that were told of it.
      const isKept = taken.count < limit;
      const turn = (): number => turnAt(taken, taken.count - limit + later, perMs);
      until.set(whose, isKept ? now + keptTurnMs : turn());
      later += 1;
    } else if (isAsking) {
      const grace = graceMs === undefined ? {} : { grace: graceMs };
      places.give({ at: stamp, gen, by, for: whose, ...grace });
      held.add(whose);
      if (!had) fresh.add(whose);
    } else if (!had) {
      kept += 1;
      ready.push(whose);
    } else if (usableTo <= now) ready.push(whose);
  }
  const isChanged = held.size > 0;
  return { grants: merged(places.all(), view.perMs), isChanged, held, fresh, until, ready };
}

/** The places that are taken in a window: when each comes free, the first one first. */
type Taken = {
  readonly free: { readonly at: number; readonly n: number }[];
  /** Who has one of them, and until when it is used, by the own clock. */
  readonly holders: Map<string, number>;
  count: number;
};

/** What is taken, by length of window: thousands that wait may ask about the same. */
function createPlaces(counting: readonly Grant[], view: RateView) {
  let grants = [...counting];
  let hasLonger = grants.some(({ grace }) => grace !== undefined);
  const windows = new Map<number, Taken>();
  const holders = new Set(grants.flatMap((grant) => grant.for ?? []));
  return {
    all: (): readonly Grant[] => grants,
    in: (perMs: number): Taken => {
      const known = windows.get(perMs) ?? takenIn(grants, perMs, view);
      windows.set(perMs, known);
      return known;
    },
    give: (grant: Grant & { readonly for: string }): void => {
      const had = holders.has(grant.for);
      const former = had ? grants.find((one) => one.for === grant.for) : undefined;
      if (had) grants = grants.filter((one) => one.for !== grant.for);
      grants.push(inPlaceOf(former, grant));
      holders.add(grant.for);
      hasLonger ||= grant.grace !== undefined;
      if (had || hasLonger) return windows.clear();
      // Nothing comes free later than the newest.
      for (const [perMs, taken] of windows) {
        taken.free.push({ at: freeAt(grant, perMs, view), n: 1 });
        taken.holders.set(grant.for, usedTo(grant, perMs, view));
        taken.count += 1;
      }
    },
  };
}

/** The longest window of a document, ms, and when somebody last asked for one as long, epoch ms. */
export type LongestWindow = { readonly perMs: number; readonly at: number };

/** Returns what counts now: a stored window for which nobody asks any more counts no longer. */
export function longestWindow(
  asks: readonly Pick<RateAsk, 'perMs'>[],
  stored: LongestWindow,
  now: number,
): LongestWindow {
  const perMs = asks.reduce((longest, one) => Math.max(longest, one.perMs), 0);
  const isUsed = now < stored.at + 2 * stored.perMs + rateSkewMs;
  return isUsed && stored.perMs > perMs ? stored : { perMs, at: now };
}

/** Whether others have to learn of a window, although nobody got a grant: they keep the grants in it. */
export function isNewWindow({ perMs, at }: LongestWindow, stored: LongestWindow): boolean {
  return perMs > stored.perMs || at >= stored.at + perMs;
}

/** Returns when a grant counts no more, epoch ms by the own clock. */
export function freeAt({ at, gen, grace = 0 }: Grant, perMs: number, view: RateView): number {
  const lengthMs = perMs + Math.max(graceOf(perMs), grace);
  return Math.min(seenIn(gen, view) + lengthMs, at + lengthMs + rateSkewMs);
}

/** Until when a grant is used, epoch ms by the own clock. */
function usedTo({ gen, grace = 0 }: Grant, perMs: number, view: RateView): number {
  return seenIn(gen, view) + Math.max(graceOf(perMs), grace);
}

function seenIn(gen: number, { seenAt, now }: RateView): number {
  return seenAt(gen) ?? now;
}

function takenIn(grants: readonly Grant[], perMs: number, view: RateView): Taken {
  const free = grants
    .map((grant) => ({ at: freeAt(grant, perMs, view), n: grant.n ?? 1, grant }))
    .filter(({ at }) => at > view.now)
    .sort((a, b) => a.at - b.at);
  const holders = new Map<string, number>();
  for (const { grant } of free) {
    if (grant.for !== undefined) holders.set(grant.for, usedTo(grant, perMs, view));
  }
  return { free, holders, count: free.reduce((sum, { n }) => sum + n, 0) };
}

/** When the place of that number comes free: after all have done so, the first does again. */
function turnAt({ free, count }: Taken, place: number, perMs: number): number {
  const rounds = Math.floor(place / count);
  let left = place % count;
  // The sum of all is more than that.
  const next = free.find(({ n }) => (left -= n) < 0) as Taken['free'][number];
  return Math.ceil(next.at + rounds * (perMs + graceOf(perMs)));
}

function longer(one: number, other = 0): Pick<Grant, 'grace'> {
  const grace = Math.max(one, other);
  return grace === 0 ? {} : { grace };
}

/** Merges the oldest grants of a long list, each with those of the same small span before it. */
function merged(grants: readonly Grant[], perMs: number): readonly Grant[] {
  if (grants.length <= mostGrants) return grants;
  const sorted = grants.toSorted((a, b) => a.at - b.at);
  const old = sorted.slice(0, grants.length - mostGrants / 2);
  const buckets = new Map<number, Grant>();
  for (const { at, gen, n = 1, grace = 0 } of old) {
    const bucket = Math.floor(at / (perMs / (mostGrants / 2)));
    const there = buckets.get(bucket);
    buckets.set(bucket, {
      at: Math.max(at, there?.at ?? at),
      gen: Math.max(gen, there?.gen ?? gen),
      n: n + (there?.n ?? 0),
      ...longer(grace, there?.grace),
    });
  }
  return [...buckets.values(), ...sorted.slice(old.length)];
}

/** The later of two grants of an attempt; whoever took the other one may use it as long as that was told. */
function inPlaceOf(former: Grant | undefined, grant: Grant): Grant {
  return { ...grant, ...longer(former?.grace ?? 0, grant.grace) };
}

/**
 * Brings together what several copies of a document hold. Every grant counts: whoever is not sure of its
 * own takes that back itself, so nobody uses more than the limit (R12). Of an attempt that asked again the
 * last one does: it counts longer than those before it.
 */
export function unitedGrants(copies: readonly (readonly Grant[])[]): readonly Grant[] {
  const all = new Map<string, Grant>();
  for (const grant of copies.flat()) {
    const key = grant.for === undefined ? canonical(grant) : `for ${grant.for}`;
    const known = all.get(key);
    const [first, last] =
      known !== undefined && known.at > grant.at ? [grant, known] : [known, grant];
    all.set(key, inPlaceOf(first, last));
  }
  return [...all.values()];
}
