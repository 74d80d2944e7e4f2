import type { ViewName, ViewQuery, ViewRow } from './views.js';

/** How many documents are asked for together: as many as weigh little, by what the last ones weighed. */
export type PageSize = {
  readonly documents: () => number;
  /** That many documents came, in an answer that was not too long. */
  readonly came: (documents: number) => void;
  /** The answer was longer than `longestAnswer` and was not taken. */
  readonly wasTooLong: () => void;
};

/** A longer answer is not taken when it holds several documents, bytes: reading it takes long, and memory. */
const longestAnswer = 16_000_000;

/** What a document may weigh is known only when it comes: too many are asked for at most a few times. */
const shrinkBy = 8;

export function createPageSize(most: number): PageSize {
  let size = most;
  return {
    documents: () => size,
    came: (documents) => {
      if (documents >= size) size = Math.min(most, 2 * size);
    },
    wasTooLong: () => {
      size = Math.max(1, Math.floor(size / shrinkBy));
    },
  };
}

/** Reads rows; undefined when the answer is longer than `mostBytes`. */
type ReadPage<N extends ViewName> = (
  query: ViewQuery,
  mostBytes: number,
) => Promise<readonly ViewRow<N>[] | undefined>;

/** A document alone is taken whatever it weighs. */
export function mostBytesOf(documents: number): number {
  return documents > 1 ? longestAnswer : Infinity;
}

/** All rows of a view, page by page; ends early when the signal aborts. */
export async function* pagesOf<N extends ViewName>(
  read: ReadPage<N>,
  query: ViewQuery,
  size: PageSize,
  signal?: AbortSignal,
): AsyncGenerator<ViewRow<N>> {
  let last: ViewRow<N> | undefined;
  /** How many of the rows that were read are at the place of the last one: a document may have many. */
  let there = 0;
  while (signal?.aborted !== true) {
    // The rows at which a page begins were read before, unless they have left the view meanwhile.
    const from = last === undefined ? {} : { startKey: last.key, startKeyDocId: last.id };
    const wanted = size.documents();
    const limit = wanted + there;
    const rows = await read({ ...query, limit, ...from }, mostBytesOf(wanted));
    if (rows === undefined) {
      size.wasTooLong();
      continue;
    }
    const known = leading(rows, last, there);
    yield* rows.slice(known);
    if (rows.length < limit) return;
    last = rows.at(-1);
    there = leading(rows.toReversed(), last, rows.length);
    size.came(wanted);
  }
}

/** How many of the first rows, `most` at the most, are at the place of that one. */
function leading<N extends ViewName>(
  rows: readonly ViewRow<N>[],
  place: ViewRow<N> | undefined,
  most: number,
): number {
  const key = JSON.stringify(place?.key);
  const other = rows.findIndex((row) => row.id !== place?.id || JSON.stringify(row.key) !== key);
  return Math.min(most, other === -1 ? rows.length : other);
}
