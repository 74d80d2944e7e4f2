import { defaultOwner } from '../../model/task.js';

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

/** Who uses slots: an owner's root job, with all jobs created for it. */
export type Party = { readonly owner: string; readonly root: string };

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

/** What the slots of an engine are used for. */
export type SlotUse = {
  /** Slots taken now by each owner. */
  readonly ofOwner: ReadonlyMap<string, number>;
  /** Slots taken now by each root. */
  readonly ofRoot: ReadonlyMap<string, number>;
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

type JobDocument = {
  readonly _id: string;
  readonly owner?: unknown;
  readonly parent?: unknown;
};

/**
 * Returns whose slots a job uses, from its document in any form. The name of a root contains its
 * owner.
 */
export function partyOf({ _id: id, owner: given, parent }: JobDocument): Party {
  const owner = typeof given === 'string' ? given : defaultOwner;
  const { root, job } = (parent ?? {}) as { readonly root?: unknown; readonly job?: unknown };
  const top = [root, job].find((one) => typeof one === 'string') ?? id;
  return { owner, root: JSON.stringify([owner, top]) };
}

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
  let first: T | undefined;
  for (const one of waiting) if (first === undefined || inLine(one, first, use) < 0) first = one;
  return first;
}

/** Returns how many of the free slots a job may claim when each of the others wants one. */
export function slotsFor(
  job: Claimant,
  others: readonly Claimant[],
  given: SlotUse,
  free: number,
): number {
  const waiting = [...others];
  let use = given;
  let left = free;
  let mine = 0;
  for (; left > 0 && waiting.length > 0; left -= 1) {
    const next = firstInLine([job, ...waiting], use) as Claimant;
    if (next === job) mine += 1;
    else waiting.splice(waiting.indexOf(next), 1);
    use = withTaken(use, [next]);
  }
  return mine + left;
}

/** Returns the use of slots after each of the given parties has taken one. */
export function withTaken(use: SlotUse, taking: readonly Party[]): SlotUse {
  if (taking.length === 0) return use;
  const ofOwner = new Map(use.ofOwner);
  const ofRoot = new Map(use.ofRoot);
  for (const { owner, root } of taking) {
    ofOwner.set(owner, (ofOwner.get(owner) ?? 0) + 1);
    ofRoot.set(root, (ofRoot.get(root) ?? 0) + 1);
  }
  return { ...use, ofOwner, ofRoot };
}

function inLine(a: Claimant, b: Claimant, use: SlotUse): number {
  const { ofOwner, ofRoot, lastOfOwner } = use;
  const held = (of: ReadonlyMap<string, number>, one: string): number => of.get(one) ?? 0;
  return (
    held(ofOwner, a.owner) - held(ofOwner, b.owner) ||
    lastOfOwner(a.owner) - lastOfOwner(b.owner) ||
    a.priority - b.priority ||
    held(ofRoot, a.root) - held(ofRoot, b.root) ||
    Number(goesOn(b, use)) - Number(goesOn(a, use)) ||
    inTime(sinceOf(a, use), sinceOf(b, use)) ||
    inTime(a.since, b.since)
  );
}

function sinceOf(job: Claimant, use: SlotUse): number {
  return goesOn(job, use) ? job.since : Math.max(job.since, use.lastOfRoot(job.root));
}

/** Infinite times have no difference. */
function inTime(a: number, b: number): number {
  return Number(a > b) - Number(a < b);
}
