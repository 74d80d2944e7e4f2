import type { Design, Emitted } from '../databases/design.js';
import { LAST } from '../storage/level.js';
import { createOperationLock } from '../storage/operation-lock.js';
import type { FeedChange, OrderedMap, DocumentStore } from '../storage/storage.js';
import { encodeKey } from './collation.js';
import { createOffsets, type Moved, type Offsets } from './offsets.js';

const PAGE = 200;
const META = 'm';

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

type Meta = { readonly seq: number; readonly counts: readonly number[] };

/** The rows of all views of one design document, kept from query to query. */
export type ViewIndex = {
  /** Takes in all that was written before the call. @throws CouchError when a map function fails */
  update(design: Design): Promise<void>;
  rows(slot: number, range: ViewRange): AsyncIterable<IndexRow>;
  /** Reads several ranges while no row moves from one of them into another. */
  still<T>(read: () => Promise<T>): Promise<T>;
  /** How many rows a view has. */
  total(slot: number): number;
  /** How many rows lie before the first of a range. */
  offset(slot: number, range: ViewRange): Promise<number>;
  /** The sequence up to which writes are in. */
  seq(): number;
  bytes(): Promise<number>;
  compact(): Promise<void>;
  close(): Promise<void>;
};

/** Changes up to `seq`, with what the map functions emitted for each document. */
type Mapped = {
  readonly changes: readonly FeedChange[];
  readonly emitted: ReadonlyMap<string, Emitted>;
  readonly seq: number;
};

/**
 * Entries of the map: `m` position and counts · `d<id>` the keys of a document's rows ·
 * `r<slot><key><id>U+0000<n>` one row. A batch of documents and the new position are one write,
 * so that a crash leaves an index that is merely behind.
 */
export async function createViewIndex(store: DocumentStore, map: OrderedMap): Promise<ViewIndex> {
  const [stored] = await map.getMany([META]);
  let meta: Meta = stored === undefined ? { seq: 0, counts: [] } : (JSON.parse(stored) as Meta);
  let updating: Promise<void> = Promise.resolve();
  let closed = false;
  const offsets = createOffsets(map);
  const moving = createOperationLock();

  /**
   * The sequence up to which nothing is missing. A document that is written again moves to the end,
   * past the page that it was on: only a page that reaches the end makes the index whole.
   */
  let whole = -1;

  const takeIn = async (design: Design, target: number): Promise<void> => {
    let limit = PAGE;
    while (whole < target && !closed) {
      const changes = await store.changes({ since: meta.seq, limit });
      const last = changes.at(-1);
      if (last !== undefined) {
        const emitted = await mapAll(design, changes);
        const mapped = { changes, emitted, seq: last.seq };
        meta = await moving.alone(() => applyChanges({ map, offsets }, meta, mapped));
      }
      if (changes.length < limit) whole = Math.max(meta.seq, target);
      // Pages grow, so that it ends however fast documents are written.
      if (meta.seq >= target) limit *= 2;
    }
  };

  return {
    async update(design) {
      const target = await store.updateSeq();
      if (whole >= target) return;
      updating = updating.catch(() => undefined).then(() => takeIn(design, target));
      return updating;
    },
    rows: (slot, range) => scanRows(map, slot, range),
    still: (read) => moving.pass(read),
    total: (slot) => meta.counts[slot] ?? 0,
    offset: async (slot, range) => {
      const { from, to, reverse } = boundsOf(slot, range);
      const [first, last] = prefixRange(slot);
      if (reverse) return to === last ? 0 : offsets.above(first, to);
      return from === first ? 0 : offsets.below(first, from);
    },
    seq: () => meta.seq,
    bytes: () => map.bytes(),
    compact: () => map.compact(),
    async close() {
      closed = true;
      await updating.catch(() => undefined);
      await map.close();
    },
  };
}

const slotName = (slot: number): string => slot.toString(36).padStart(2, '0');
const prefixRange = (slot: number): [string, string] => [
  `r${slotName(slot)}`,
  `r${slotName(slot)}${LAST}`,
];

async function mapAll(
  design: Design,
  changes: readonly FeedChange[],
): Promise<Map<string, Emitted>> {
  const docs = changes
    .filter(
      (change) => !change.deleted && (design.includeDesign || !change.id.startsWith('_design/')),
    )
    .map((change) => change.doc);
  const emitted = await design.map(docs);
  return new Map(docs.map((doc, i) => [doc._id, emitted[i] ?? []]));
}

type Kept = { readonly map: OrderedMap; readonly offsets: Offsets };

async function applyChanges(
  { map, offsets }: Kept,
  meta: Meta,
  { changes, emitted, seq }: Mapped,
): Promise<Meta> {
  const before = await map.getMany(changes.map((change) => `d${change.id}`));
  const counts = [...meta.counts];
  const moved: Moved[] = [];
  const count = (rowKey: string, step: 1 | -1): void => {
    moved.push([rowKey, step]);
    const slot = Number.parseInt(rowKey.slice(1, 3), 36);
    counts[slot] = (counts[slot] ?? 0) + step;
  };
  const entries = new Map<string, string | null>();
  changes.forEach(({ id }, i) => {
    const old = before[i];
    if (old !== undefined) {
      for (const rowKey of JSON.parse(old) as string[]) {
        entries.set(rowKey, null);
        count(rowKey, -1);
      }
      entries.set(`d${id}`, null);
    }
    const rows = rowsOf(id, emitted.get(id) ?? []);
    for (const [rowKey, row] of rows) {
      entries.set(rowKey, row);
      count(rowKey, 1);
    }
    if (rows.length > 0) entries.set(`d${id}`, JSON.stringify(rows.map(([rowKey]) => rowKey)));
  });
  const next: Meta = { seq, counts: Array.from(counts, (n) => n ?? 0) };
  entries.set(META, JSON.stringify(next));
  await offsets.write(moved, () => map.apply([...entries]));
  return next;
}

function rowsOf(id: string, emitted: Emitted): [rowKey: string, row: string][] {
  return emitted.flatMap((rows, slot) =>
    rows.map(([key, value], n): [string, string] => [
      `r${slotName(slot)}${encodeKey(key)}${id}\u0000${n.toString(36).padStart(4, '0')}`,
      JSON.stringify([id, key, value]),
    ]),
  );
}

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
