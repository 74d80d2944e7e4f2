import type { FeedChange, StoredChange } from '../storage/storage.js';

/** How much of the newest changes is kept for feeds that are up to date. */
const MAX_CHANGES = 2_000;
const MAX_CHARS = 8 * 1024 * 1024;

/** A change with its JSON, which some stores have at hand. */
export const withJson = (change: FeedChange | StoredChange): StoredChange =>
  'json' in change ? change : { ...change, json: JSON.stringify(change.doc) };

/** The newest changes in order, without gaps from a floor (exclusive) to `reached` (inclusive). */
export type RecentChanges = {
  /** The position up to which changes are known; undefined before the first. */
  reached(): number | undefined;
  /** Forgets everything and goes on from a position. */
  restart(at: number): void;
  /** Forgets everything: nobody wants it. */
  clear(): void;
  add(changes: readonly StoredChange[]): void;
  /** At most `limit` changes behind a position, as far as they are here without a gap. */
  after(since: number, limit: number): readonly StoredChange[];
};

/** A place in the order; its change is gone when the document changed again. */
type Place = { readonly seq: number; change: StoredChange | undefined };

export function createRecentChanges(): RecentChanges {
  let places: Place[] = [];
  const newest = new Map<string, Place>();
  let chars = 0;
  let floor = 0;
  let reached: number | undefined;

  /** Of a document only the newest state is shown, as in the store. */
  const empty = (place: Place): void => {
    chars -= place.change?.json.length ?? 0;
    place.change = undefined;
  };
  const put = (change: StoredChange): void => {
    const before = newest.get(change.id);
    if (before !== undefined) empty(before);
    const place = { seq: change.seq, change };
    places.push(place);
    newest.set(change.id, place);
    chars += change.json.length;
  };
  const dropOldest = (): void => {
    // Half of them at once: each drop moves the whole list.
    const dropped = places.splice(0, Math.ceil(places.length / 2));
    for (const place of dropped) {
      if (place.change !== undefined) newest.delete(place.change.id);
      empty(place);
    }
    floor = dropped.at(-1)?.seq ?? floor;
  };
  const clear = (): void => {
    places = [];
    newest.clear();
    chars = 0;
    reached = undefined;
  };

  return {
    reached: () => reached,
    clear,
    restart(at) {
      clear();
      floor = at;
      reached = at;
    },
    add(changes) {
      for (const change of changes) if (change.seq > (reached ?? -1)) put(change);
      while (places.length > MAX_CHANGES || (chars > MAX_CHARS && places.length > 1)) {
        dropOldest();
      }
      reached = Math.max(reached ?? -1, changes.at(-1)?.seq ?? -1);
    },
    after(since, limit) {
      if (reached === undefined || since < floor || since >= reached) return [];
      const found: StoredChange[] = [];
      for (let i = firstAfter(places, since); i < places.length && found.length < limit; i += 1) {
        const change = places[i]?.change;
        if (change !== undefined) found.push(change);
      }
      return found;
    },
  };
}

/** The index of the first place behind a position, by bisection. */
function firstAfter(places: readonly Place[], since: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle]?.seq ?? Infinity) > since) high = middle;
    else low = middle + 1;
  }
  return low;
}
