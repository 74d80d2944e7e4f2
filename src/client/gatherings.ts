import { readGathering, type Gathering } from '../model/gathering.js';
import type { Store } from '../store/store.js';
import { textOf } from '../words.js';

/** Events that wait together for a job of a trigger with `debounce` or `batch`. */
export type GatheredFacts = {
  readonly id: string;
  readonly flow: string;
  readonly owner: string;
  /** Which entry of `on`, from 0. */
  readonly entry: number;
  readonly by: Gathering['by'];
  /** The value of the key, as JSON; of a long one a hash. */
  readonly key?: string;
  /** What the events are called, as far as the first one is there. */
  readonly event?: string;
  /** How many wait. */
  readonly count: number;
  /** The job starts as soon as there are so many. */
  readonly size: number;
  /** Ids of events that wait, the first ones first; 10 at most. */
  readonly events: readonly string[];
  /** When their job starts, unless further events change that (epoch ms). */
  readonly due?: number;
  /** A job that is being made for events before them. */
  readonly starting?: string;
};

/** `more`: there are others than were asked for, or than were looked at. */
export type Gathered = { readonly gatherings: readonly GatheredFacts[]; readonly more: boolean };

export type GatheredQuery = {
  /** Only of flows of these owners. */
  readonly owners?: readonly string[] | undefined;
  /** Only of flows of this name. */
  readonly flow?: string | undefined;
  /** At most this many; default 100. */
  readonly most?: number | undefined;
};

/** So many documents are looked at. */
const mostLooked = 1_000;
const usualMost = 100;
const mostNamed = 10;

/** What triggers gather: those whose job starts first come first. */
export async function listGatherings(
  store: Store,
  { owners, flow, most = usualMost }: GatheredQuery,
): Promise<Gathered> {
  const found: Gathering[] = [];
  let looked = 0;
  // Names may hold a colon: the id alone does not tell whose it is.
  for await (const doc of store.rangePages(`gathering:${flow === undefined ? '' : `${flow}:`}`)) {
    if ((looked += 1) > mostLooked) break;
    const read = readGathering(doc);
    if (read === undefined || (flow !== undefined && read.flow !== flow)) continue;
    if (owners === undefined || owners.includes(read.owner)) found.push(read);
  }
  const shown = found.sort((a, b) => dueOf(a) - dueOf(b)).slice(0, most);
  const firsts = shown.flatMap(({ events: [first] }) => first?.id ?? []);
  const docs = firsts.length === 0 ? undefined : await store.getMany(firsts);
  return {
    gatherings: shown.map((one) => {
      const event = docs?.get(one.events[0]?.id ?? '')?.['event'];
      return { ...factsOf(one), ...(event === undefined ? {} : { event: textOf(event) }) };
    }),
    more: looked > mostLooked || found.length > shown.length,
  };
}

function dueOf({ next_due: due, starting }: Gathering): number {
  return starting === undefined ? (due ?? Infinity) : 0;
}

function factsOf(gathering: Gathering): GatheredFacts {
  const { _id: id, flow, owner, entry, by, key, events, size, next_due: due } = gathering;
  const { starting } = gathering;
  return {
    ...{ id, flow, owner, entry, by, size, count: events.length },
    ...(key === undefined ? {} : { key }),
    events: events.slice(0, mostNamed).map((one) => one.id),
    ...(due === undefined ? {} : { due }),
    ...(starting === undefined ? {} : { starting: starting.job }),
  };
}
