import type { Design } from '../databases/design.js';
import { LAST } from '../storage/level.js';
import { createOperationLock } from '../storage/operation-lock.js';
import type { DocumentStore, OrderedMap } from '../storage/storage.js';
import { encodeKey } from './collation.js';
import { openIndexUpdates, slotName } from './index-updates.js';
import { createOffsets } from './offsets.js';

export type IndexRow = { readonly id: string; readonly key: unknown; readonly value: unknown };

/**
 * A place between rows: a key, and within equal keys a document id. With `below`, an upper end
 * takes in all arrays that begin with the key's elements.
 */
export type Bound = { readonly key: unknown; readonly id?: string; readonly below?: boolean };

export type ViewRange = {
  /** From the lower end: rows before it are left out; undefined for the first row. */
  readonly from?: Bound;
  readonly to?: Bound;
  /** Leave out rows that are exactly at the upper end (the lower one when reversed). */
  readonly exclusiveEnd?: boolean;
  readonly reverse?: boolean;
};

/** The rows of all views of one design document, kept from query to query. */
export type ViewIndex = {
  /** Takes in all that was written before the call. @throws CouchError when a map function fails */
  update(design: Design): Promise<void>;
  rows(slot: number, range: ViewRange): AsyncIterable<IndexRow>;
  /** Takes out what was purged before the call. @throws CouchError when a map function fails */
  takeOutPurged(design: Design): Promise<void>;
  /** Reads several ranges while no row moves from one of them into another. */
  still<T>(read: () => Promise<T>): Promise<T>;
  /** How many rows a view has. */
  total(slot: number): number;
  /** How many rows lie before the first of a range. */
  offset(slot: number, range: ViewRange): Promise<number>;
  /** The sequence up to which writes are in. */
  seq(): number;
  /** The number of the last purge that is in. */
  purged(): number;
  bytes(): Promise<number>;
  compact(): Promise<void>;
  close(): Promise<void>;
};

/** Opens the index that is kept in a map; see `index-updates.ts` for its entries. */
export async function createViewIndex(store: DocumentStore, map: OrderedMap): Promise<ViewIndex> {
  const offsets = createOffsets(map);
  const moving = createOperationLock();
  const updates = await openIndexUpdates(store, { map, offsets, moving });
  const { meta } = updates;
  return {
    update: (design) => updates.update(design),
    takeOutPurged: (design) => updates.takeOutPurged(design),
    rows: (slot, range) => scanRows(map, slot, range),
    still: (read) => moving.pass(read),
    total: (slot) => meta().counts[slot] ?? 0,
    offset: async (slot, range) => {
      const { from, to, reverse } = boundsOf(slot, range);
      const [first, last] = prefixRange(slot);
      if (reverse) return to === last ? 0 : offsets.above(first, to);
      return from === first ? 0 : offsets.below(first, from);
    },
    seq: () => meta().seq,
    purged: () => meta().purged,
    bytes: () => map.bytes(),
    compact: () => map.compact(),
    async close() {
      await updates.end();
      await map.close();
    },
  };
}

const prefixRange = (slot: number): [string, string] => [
  `r${slotName(slot)}`,
  `r${slotName(slot)}${LAST}`,
];

/** The row keys between which a range lies; both ends belong to it. */
function boundsOf(slot: number, range: ViewRange): { from: string; to: string; reverse: boolean } {
  const [first, last] = prefixRange(slot);
  const { from, to, reverse = false, exclusiveEnd = false } = range;
  const at = (bound: Bound): string => first + encodeKey(bound.key);
  // A bound with an id means that document's rows; one without means all rows of its key.
  const lowest = (bound: Bound): string => at(bound) + (bound.id ?? '');
  const highest = (bound: Bound): string => {
    if (bound.below === true) return at(bound).slice(0, -1) + LAST;
    return bound.id === undefined ? at(bound) + LAST : `${at(bound)}${bound.id}\u0000${LAST}`;
  };
  const open = reverse && exclusiveEnd;
  return {
    from: from === undefined ? first : open ? highest(from) : lowest(from),
    to: to === undefined ? last : !reverse && exclusiveEnd ? lowest(to) : highest(to),
    reverse,
  };
}

async function* scanRows(
  map: OrderedMap,
  slot: number,
  range: ViewRange,
): AsyncGenerator<IndexRow> {
  for await (const value of map.scan(boundsOf(slot, range))) {
    const [id, key, row] = JSON.parse(value) as [string, unknown, unknown];
    yield { id, key, value: row };
  }
}
