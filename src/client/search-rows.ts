import type { Store } from '../store/store.js';
import type { JobRow, ViewRow } from '../store/views.js';

/** Where a row stands: newer ones are before it. `when` in epoch ms. */
export type Place = { readonly when: number; readonly id: string };

/** A job as the index of searches has it. */
export type SearchRow = Place & { readonly facts: JobRow };

/** A part of the index: the rows whose keys begin so, begun from `from` on and before `to`. */
export type Range = {
  readonly prefix: readonly string[];
  readonly from?: number | undefined;
  readonly to?: number | undefined;
};

type Options = {
  /** Only what comes after it. */
  readonly after: Place | undefined;
  /** So many rows are read first; then more at a time. */
  readonly page: number;
};

/** The rows of several parts of the index in one order, newest first, each job once. */
export async function* rowsInOrder(
  store: Store,
  ranges: readonly Range[],
  options: Options,
): AsyncGenerator<SearchRow, void, undefined> {
  const readers = ranges.map((range) => rowsOf(store, range, options));
  const heads = await Promise.all(readers.map(next));
  let last: string | undefined;
  for (;;) {
    const first = newest(heads);
    if (first < 0) return;
    const row = heads[first] as SearchRow;
    // Equal keys in two parts: a job that changed its status between two reads.
    if (row.id !== last) yield row;
    last = row.id;
    heads[first] = await next(readers[first] as Reader);
  }
}

type Reader = AsyncGenerator<SearchRow, void, undefined>;

async function next(reader: Reader): Promise<SearchRow | undefined> {
  const { value } = await reader.next();
  return value ?? undefined;
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
function isBefore(a: Place, b: Place): boolean {
  if (a.when !== b.when) return a.when > b.when;
  return Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) > 0;
}

/** Rows read at a time after the first page. */
const manyRows = 1_000;

async function* rowsOf(store: Store, range: Range, { after, page }: Options): Reader {
  let last = after;
  for (let size = page; ; size = manyRows) {
    const wanted = bounds(range, last);
    if (wanted === undefined) return;
    const rows: readonly ViewRow<'search'>[] = await store.view('search', {
      ...wanted,
      descending: true,
      limit: size + 1,
    });
    for (const { id, key, value: facts } of rows) {
      const when = Number(key.at(-1));
      // The row that a page begins at was read before.
      if (last !== undefined && when === last.when && id === last.id) continue;
      last = { when, id };
      yield { when, id, facts };
    }
    if (rows.length <= size) return;
  }
}

/**
 * Downwards: from the newest, or from the last one that was read, to the oldest that is wanted.
 * Undefined where nothing lies between, which CouchDB would call a mistake.
 */
function bounds({ prefix, from = 0, to }: Range, last: Place | undefined) {
  const endKey = [...prefix, from];
  if (last !== undefined && (to === undefined || last.when < to)) {
    if (last.when < from) return undefined;
    return { startKey: [...prefix, last.when], startKeyDocId: last.id, endKey };
  }
  if (to !== undefined && to <= from) return undefined;
  // Times are whole milliseconds: "before" is one less, and above all of them stands {}.
  return { startKey: [...prefix, to === undefined ? {} : to - 1], endKey };
}
