import type { Store } from '../store/store.js';
import type { JobRow, ViewRow } from '../store/views.js';

/** Where a row stands: newer ones are before it. `when` in epoch ms. */
export type RowPosition = { readonly when: number; readonly id: string };

/** A job as the index of searches has it. */
export type SearchRow = RowPosition & { readonly facts: JobRow };

/** A part of the index: the rows whose keys begin so, begun from `from` on and before `to`. */
export type Range = {
  readonly prefix: readonly string[];
  readonly from?: number | undefined;
  readonly to?: number | undefined;
};

type Options = {
  /** Only what comes after it. */
  readonly after: RowPosition | undefined;
  /** So many rows are read first; then more at a time. */
  readonly page: number;
};

/** The rows of several parts of the index in one order, newest first, each job once. */
export async function* rowsInOrder(
  store: Store,
  ranges: readonly Range[],
  options: Options,
): AsyncGenerator<SearchRow, void, undefined> {
  const readers = ranges.map((range) => createReader(store, range, options));
  let last: string | undefined;
  for (;;) {
    const heads = await Promise.all(readers.map(({ head }) => head()));
    const first = newest(heads);
    if (first < 0) return;
    const row = heads[first] as SearchRow;
    // Equal keys in two parts: a job that changed its status between two reads.
    if (row.id !== last) yield row;
    last = row.id;
    (readers[first] as Reader).take();
  }
}

/** So often is read from the index before it is left to the documents what is in all parts. */
const mostReads = 30;

/**
 * Rows of several parts of the index, newest first: all that are in each of them, and few others. Where
 * one part is much smaller than the others, its rows are given as they are.
 */
export async function* rowsInAll(
  store: Store,
  ranges: readonly Range[],
  options: Options,
): AsyncGenerator<SearchRow, void, undefined> {
  const readers = ranges.map((range) => createReader(store, range, options));
  const tired = (): boolean => readers.reduce((sum, { reads }) => sum + reads(), 0) > mostReads;
  while (!tired()) {
    const found = await Promise.all(readers.map(({ head }) => head()));
    const heads = found.filter((head) => head !== undefined);
    const [one] = heads;
    if (one === undefined || heads.length < found.length) return;
    const oldest = heads.reduce((a, b) => (isBefore(a, b) ? b : a), one);
    if (heads.some((head) => isBefore(head, oldest))) {
      await Promise.all(readers.map(({ skipTo }) => skipTo(oldest)));
      continue;
    }
    yield oldest;
    for (const { take } of readers) take();
  }
  const [smallest] = readers.toSorted((a, b) => a.passed() - b.passed());
  for (let row = await smallest?.head(); row !== undefined; row = await smallest?.head()) {
    yield row;
    smallest?.take();
  }
}

function newest(heads: readonly (SearchRow | undefined)[]): number {
  let best = -1;
  heads.forEach((head, i) => {
    const other = heads[best];
    if (head !== undefined && (other === undefined || isBefore(head, other))) best = i;
  });
  return best;
}

/** CouchDB orders rows of one key by the bytes of their ids. */
function isBefore(a: RowPosition, b: RowPosition): boolean {
  if (a.when !== b.when) return a.when > b.when;
  return a.id !== b.id && Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) > 0;
}

/** The rows of one part, one by one. */
type Reader = {
  /** The row that is next; undefined at the end. */
  readonly head: () => Promise<SearchRow | undefined>;
  readonly take: () => void;
  /** Leaves out what comes before a place; what lies far away is not read. */
  readonly skipTo: (place: RowPosition) => Promise<void>;
  /** How often the index was read. */
  readonly reads: () => number;
  /** How many rows were taken or left out, as far as they were read. */
  readonly passed: () => number;
};

/** Rows read at a time after the first page. */
const manyRows = 1_000;

function createReader(store: Store, range: Range, { after, page }: Options): Reader {
  let rows: readonly SearchRow[] = [];
  let at = 0;
  let size = page;
  let isOver = false;
  let reads = 0;
  let passed = 0;
  /** Where to read on: after the last row that was read, or at a place that was skipped to. */
  let from: { readonly place: RowPosition; readonly inclusive: boolean } | undefined =
    after === undefined ? undefined : { place: after, inclusive: false };
  const read = async (): Promise<void> => {
    reads += 1;
    passed += at;
    const wanted = bounds(range, from?.place);
    const found: readonly ViewRow<'search'>[] =
      wanted === undefined
        ? []
        : await store.view('search', { ...wanted, descending: true, limit: size + 1 });
    const all = found.map(({ id, key, value: facts }) => ({ when: Number(key.at(-1)), id, facts }));
    const { place, inclusive = true } = from ?? {};
    // The row that a page begins at was read before.
    const seen = (row: SearchRow): boolean =>
      !inclusive && row.when === place?.when && row.id === place.id;
    rows = all.filter((row) => !seen(row));
    at = 0;
    isOver = found.length <= size;
    size = manyRows;
    const last = all.at(-1);
    if (last !== undefined) from = { place: last, inclusive: false };
  };
  return {
    head: async () => {
      while (at >= rows.length && !isOver) await read();
      return rows[at];
    },
    take: () => {
      at += 1;
    },
    skipTo: async (place) => {
      while (at < rows.length && isBefore(rows[at] as SearchRow, place)) at += 1;
      if (at < rows.length || isOver) return;
      from = { place, inclusive: true };
      await read();
    },
    reads: () => reads,
    passed: () => passed + at,
  };
}

/**
 * Downwards: from the newest, or from the last one that was read, to the oldest that is wanted.
 * Undefined where nothing lies between, which CouchDB would call a mistake.
 */
function bounds({ prefix, from = 0, to }: Range, last: RowPosition | undefined) {
  const endKey = [...prefix, from];
  if (last !== undefined && (to === undefined || last.when < to)) {
    if (last.when < from) return undefined;
    return { startKey: [...prefix, last.when], startKeyDocId: last.id, endKey };
  }
  if (to !== undefined && to <= from) return undefined;
  // Times are whole milliseconds: "before" is one less, and above all of them stands {}.
  return { startKey: [...prefix, to === undefined ? {} : to - 1], endKey };
}
