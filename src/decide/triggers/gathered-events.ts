import type { StoredDocument } from '../../model/document.js';
import {
  readGathering,
  type GatheredEvent,
  type Gathering,
  type Joining,
} from '../../model/gathering.js';

/** Characters that the ids of gathered events have together at most: they become part of a job. */
const mostCharacters = 64_000;
/** Number of events that wait for the next jobs of one gathering at most; more are taken later. */
const mostWaiting = 2_000;

/** An event that a gathering is to take. `at`: when that was decided (epoch ms). */
export type Joiner = GatheredEvent & { readonly joining: Joining };

/** What becomes of a gathering that is to take events. */
export type Joined =
  /** It has them already. */
  | { readonly kind: 'there' }
  /** Its next revision; without `_rev`: its first one. */
  | { readonly kind: 'write'; readonly doc: StoredDocument }
  /** Others have to start their job first. */
  | { readonly kind: 'full' }
  /** A document that is no gathering has its id. */
  | { readonly kind: 'foreign' };

/**
 * Returns a gathering with these events; the trigger of the latest one counts for all of them. `doc`:
 * what is stored; undefined: nothing.
 */
export function withJoiners(
  id: string,
  doc: StoredDocument | undefined,
  joiners: readonly Joiner[],
): Joined {
  const before = doc === undefined ? undefined : readGathering(doc);
  if (doc !== undefined && before === undefined) return { kind: 'foreign' };
  const { events = [], starting } = before ?? {};
  const known = new Set([...events, ...(starting?.events ?? [])].map((one) => one.id));
  const once = new Map(joiners.map((one) => [one.id, one]));
  const added = [...once.values()].filter((one) => !known.has(one.id));
  const [latest] = eventsInOrder(added).slice(-1);
  if (latest === undefined) return { kind: 'there' };
  if (events.length >= mostWaiting) return { kind: 'full' };
  const { into: _into, ...rule } = latest.joining;
  const isNewest = events.every(({ at }) => at <= latest.at);
  const { max: _max, params: _params, ...kept } = before ?? { type: 'gathering' as const };
  const next = {
    ...(isNewest || before === undefined ? { ...kept, ...rule } : before),
    _id: id,
    events: [...events, ...added.map(({ id: one, at }) => ({ id: one, at }))],
  };
  return { kind: 'write', doc: withDue(next as Gathering) };
}

/** Returns events in the order in which they came: by time, then by id. */
export function eventsInOrder<T extends GatheredEvent>(events: readonly T[]): readonly T[] {
  return events.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

/** Returns the events that the next job starts for: as many as one job may have, the earliest ones. */
export function nextMembers({ events, size }: Pick<Gathering, 'events' | 'size'>) {
  let characters = 0;
  const members = eventsInOrder(events).slice(0, size);
  const end = members.findIndex(({ id }, i) => {
    characters += id.length;
    return i > 0 && characters > mostCharacters;
  });
  return end < 0 ? members : members.slice(0, end);
}

/** Whether a job may have no further event. */
function isFull({ events, size }: Gathering, members: readonly GatheredEvent[]): boolean {
  return members.length === size || members.length < events.length;
}

/** Returns when the next job is due (epoch ms); undefined: no event waits. */
export function gatheringDue(gathering: Gathering): number | undefined {
  const members = nextMembers(gathering);
  const [first, last] = [members[0]?.at, members.at(-1)?.at];
  if (first === undefined || last === undefined) return undefined;
  if (isFull(gathering, members)) return last;
  const { by, period, max = Infinity } = gathering;
  return by === 'batch' ? first + period : Math.min(last + period, first + max);
}

/** Returns the gathering with its `next_due`. */
export function withDue(gathering: Gathering): Gathering {
  const { next_due: _before, ...rest } = gathering;
  const due = gatheringDue(gathering);
  return due === undefined ? rest : { ...rest, next_due: due };
}

/**
 * Returns one gathering for several leaf revisions of it, the winner first; undefined: the winner says all.
 * No event that a leaf has taken is lost; one that has its job already is left out when the next one starts.
 */
export function mergedGathering(leaves: readonly StoredDocument[]): Gathering | undefined {
  const [winner, ...others] = leaves.map(readGathering);
  if (winner === undefined) return undefined;
  const taken = new Set([...winner.events, ...(winner.starting?.events ?? [])].map(({ id }) => id));
  const missing = new Map(
    others
      .flatMap((one) => [...(one?.events ?? []), ...(one?.starting?.events ?? [])])
      .filter(({ id }) => !taken.has(id))
      .map((one) => [one.id, one]),
  );
  if (missing.size === 0) return undefined;
  return withDue({ ...winner, events: [...winner.events, ...missing.values()] });
}
