import type { ViewName, ViewQuery, ViewRow } from './views.js';

/** How many documents are asked for together: as many as weigh little, by what the last ones weighed. */
export type PageSize = {
  readonly documents: () => number;
  /** So many documents came, in the time that answers of ordinary length take. */
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
  while (signal?.aborted !== true) {
    // The row at which a page begins was read before, unless it has left the view meanwhile.
    const from = last === undefined ? {} : { startKey: last.key, startKeyDocId: last.id };
    const wanted = size.documents();
    const limit = last === undefined ? wanted : wanted + 1;
    const rows = await read({ ...query, limit, ...from }, mostBytesOf(wanted));
    if (rows === undefined) {
      size.wasTooLong();
      continue;
    }
    for (const row of rows) if (row.id !== last?.id) yield row;
    last = rows.at(-1);
    if (rows.length < limit) return;
    size.came(wanted);
  }
}
