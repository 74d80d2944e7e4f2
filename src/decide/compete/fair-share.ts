import type { Party } from '../../reading/entries.js';

/**
 * Which of the jobs that wait for a slot of an engine gets the next free one, and how many a job may
 * claim at once.
 *
 * F1 While several owners wait, a slot goes to the one that has the fewest on this engine; of equals to
 *    the one that got its last slot the longest ago. An owner without a slot therefore gets one of the
 *    next n free slots, n being the number of owners with work.
 * F2 Among the jobs of an owner, a lower `priority` goes first, whatever they have.
 * F3 Of the same priority, a slot goes to the root job that has the fewest. A job that others were made
 *    for counts together with them: starting many jobs wins no slot.
 * F4 Of roots that have as many, one that has begun goes before one that has not, until it has had
 *    `headStart` slots here; then the one goes first that has waited, or had no slot, for longest. A
 *    root without a slot therefore waits for at most `headStart` + 1 slots of each root of its owner
 *    and priority that was there before it.
 * F5 No slot stays free while a job waits for it, and no running step is taken away.
 */

/** A job that could take a slot. */
export type Claimant = Party & {
  readonly id: string;
  /** Lower goes first. */
  readonly priority: number;
  /** Some step of it has begun. */
  readonly begun: boolean;
  /** Since when it waits, by the count of the engine. */
  readonly since: number;
};

/** Numbers of slots by owner, or by root; one that has none may be left out. */
type Counts = Pick<ReadonlyMap<string, number>, 'get'>;

/** What the slots of an engine are used for. */
export type SlotUse = {
  /** Slots taken now by each owner. */
  readonly ofOwner: Counts;
  /** Slots taken now by each root. */
  readonly ofRoot: Counts;
  /** How many slots a root has had so far. */
  readonly had: (root: string) => number;
  /** When an owner got its last slot, by the count of the engine; 0: it has had none. */
  readonly lastOfOwner: (owner: string) => number;
  /** The same for a root. */
  readonly lastOfRoot: (root: string) => number;
};

/**
 * Number of slots for which a root that has begun goes before new ones: short jobs end before
 * others begin.
 */
export const headStart = 20;

/** Whether a job goes before jobs of equal rank that have not begun. */
export function goesOn({ begun, root }: Pick<Claimant, 'begun' | 'root'>, use: SlotUse): boolean {
  return begun && use.had(root) < headStart;
}

/**
 * Whether only priority, having begun and waiting time count for a job: its root has no slot, and
 * has had none that puts it back.
 */
export function hasNoShare(job: Claimant, use: SlotUse): boolean {
  if ((use.ofRoot.get(job.root) ?? 0) > 0) return false;
  return job.begun ? goesOn(job, use) : use.lastOfRoot(job.root) <= job.since;
}

/** Returns the job that gets the next free slot. */
export function firstInLine<T extends Claimant>(
  waiting: readonly T[],
  use: SlotUse,
): T | undefined {
  const placeOf = placesBy(use);
  return firstOf(waiting.map(placeOf))?.job as T | undefined;
}

/** How many slots are free, and how many of them a job could use. */
export type Supply = { readonly free: number; readonly wanted: number };

/** Returns how many of the free slots a job may claim when each of the others wants one. */
export function slotsFor(
  job: Claimant,
  others: readonly Claimant[],
  use: SlotUse,
  { free, wanted }: Supply,
): number {
  const placeOf = placesBy(use);
  const own = placeOf(job);
  const waiting = new Set([own, ...others.map(placeOf)]);
  let mine = 0;
  for (let left = free; left > 0 && mine < wanted; left -= 1) {
    if (waiting.size === 1) return Math.min(wanted, mine + left);
    const next = firstOf(waiting) as Place;
    if (next === own) mine += 1;
    else waiting.delete(next);
    next.owner.slots += 1;
    next.root.slots += 1;
  }
  return mine;
}

/** Returns the use of slots after each of the given parties has taken one, or given one back (`by` -1). */
export function withTaken(use: SlotUse, taking: readonly Party[], by: 1 | -1 = 1): SlotUse {
  if (taking.length === 0) return use;
  const owners = taking.map(({ owner }) => owner);
  const roots = taking.map(({ root }) => root);
  return {
    ...use,
    ofOwner: shifted(use.ofOwner, owners, by),
    ofRoot: shifted(use.ofRoot, roots, by),
  };
}

function shifted(counts: Counts, changed: readonly string[], by: 1 | -1): Counts {
  const shifts = new Map<string, number>();
  for (const one of changed) shifts.set(one, (shifts.get(one) ?? 0) + by);
  return { get: (one) => (counts.get(one) ?? 0) + (shifts.get(one) ?? 0) };
}

/** Slots that somebody has; more are counted while they are given away. */
type Held = { slots: number };

/** What the place of a job depends on; looked up once, for it is compared often. */
type Place = {
  readonly job: Claimant;
  readonly owner: Held;
  readonly root: Held;
  readonly lastOfOwner: number;
  readonly goesOn: boolean;
  /** Since when it waits, or had no slot. */
  readonly since: number;
};

/** Makes the places of jobs; those of one owner, and of one root, count their slots together. */
function placesBy(use: SlotUse): (job: Claimant) => Place {
  const owners = new Map<string, Held>();
  const roots = new Map<string, Held>();
  return (job) => {
    const goes = goesOn(job, use);
    return {
      job,
      owner: heldBy(job.owner, owners, use.ofOwner),
      root: heldBy(job.root, roots, use.ofRoot),
      lastOfOwner: use.lastOfOwner(job.owner),
      goesOn: goes,
      since: goes ? job.since : Math.max(job.since, use.lastOfRoot(job.root)),
    };
  };
}

function heldBy(one: string, known: Map<string, Held>, now: Counts): Held {
  const held = known.get(one) ?? { slots: now.get(one) ?? 0 };
  known.set(one, held);
  return held;
}

function firstOf(places: Iterable<Place>): Place | undefined {
  let first: Place | undefined;
  for (const one of places) if (first === undefined || inLine(one, first) < 0) first = one;
  return first;
}

function inLine(a: Place, b: Place): number {
  return (
    a.owner.slots - b.owner.slots ||
    a.lastOfOwner - b.lastOfOwner ||
    a.job.priority - b.job.priority ||
    a.root.slots - b.root.slots ||
    Number(b.goesOn) - Number(a.goesOn) ||
    inTime(a.since, b.since) ||
    inTime(a.job.since, b.job.since)
  );
}

/** Infinite times have no difference. */
function inTime(a: number, b: number): number {
  return Number(a > b) - Number(a < b);
}
