import type { StoredDocument } from '../model/document.js';
import { unexpected, type CouchRequest, type CouchClient, databasePath } from './client.js';
import { createPageSize, mostBytesOf, type PageSize } from './paging.js';
import { isDocument } from './change.js';
import { viewRows, type ViewRow } from './views.js';

/** Ids asked for in one request at most. */
export const mostIds = 1_000;

/**
 * Returns those of the documents that exist, by id; as many are asked for together as weigh little.
 * `conflicts`: those that are in conflict have `_conflicts`. `_bulk_get` takes CouchDB a third of what
 * `_all_docs` takes it for the same keys, measured on 3.4.3.
 */
export async function documentsOf(
  client: CouchClient,
  ids: readonly string[],
  size: PageSize,
  conflicts = false,
): Promise<ReadonlyMap<string, StoredDocument>> {
  const found = new Map<string, StoredDocument>();
  for (let from = 0; from < ids.length;) {
    const asked = ids.slice(from, from + size.documents());
    const results = await readLeavesOf(client, asked);
    if (results === undefined) {
      size.wasTooLong();
      continue;
    }
    for (const leaves of results) {
      const doc = winnerOf(leaves, conflicts);
      if (doc !== undefined) found.set(doc._id, doc);
    }
    from += asked.length;
    size.came(asked.length);
  }
  return found;
}

/**
 * The live leaf revisions of documents, in the order of `ids`; undefined when the answer is longer than
 * usual. `copies`: as so many copies know them together; left out, as CouchDB usually reads.
 */
export async function readLeavesOf(
  client: CouchClient,
  ids: readonly string[],
  copies?: number,
): Promise<readonly (readonly StoredDocument[])[] | undefined> {
  const action = 'read documents';
  const path = databasePath(client.connection, '/_bulk_get');
  const body = { docs: ids.map((id) => ({ id })) };
  const query = copies === undefined ? {} : { r: copies };
  const reply = await client.askWithin(
    { method: 'POST', path, query, body, action, long: true },
    mostBytesOf(ids.length),
  );
  if (reply === undefined) return undefined;
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  const { results } = (reply.body ?? {}) as { readonly results?: unknown };
  if (!Array.isArray(results)) throw notOfCouch(client, action, 'a list of documents');
  return (results as readonly Got[]).map(({ docs }) => {
    if (!Array.isArray(docs)) throw notOfCouch(client, action, 'a list of revisions');
    return (docs as NonNullable<Got['docs']>).flatMap(({ ok, error }) => {
      if (isDocument(ok)) return ok['_deleted'] === true ? [] : [ok];
      // Only then it is certain that there is no such document.
      if (absences.has(error?.error)) return [];
      const reason =
        errorText(error?.reason) ?? errorText(error?.error) ?? 'a document is left out';
      throw unexpected(client.connection, action, { status: 200, reason });
    });
  });
}

function errorText(text: unknown): string | undefined {
  return typeof text === 'string' ? text : undefined;
}

/** What `_bulk_get` tells of one document. */
type Got = {
  readonly docs?: readonly {
    readonly ok?: unknown;
    readonly error?: { readonly error?: unknown; readonly reason?: unknown };
  }[];
};

/** Errors of a document that does not exist, or that cannot. */
const absences = new Set<unknown>(['not_found', 'illegal_docid']);

/** Of several live leaves the one with the longest history wins, then the one with the higher id. */
function winnerOf(
  leaves: readonly StoredDocument[],
  conflicts: boolean,
): StoredDocument | undefined {
  if (leaves.length <= 1) return leaves[0];
  const [winner, ...others] = [...leaves].sort((a, b) => byHistory(b._rev, a._rev));
  if (winner === undefined || !conflicts) return winner;
  return { ...winner, _conflicts: others.map(({ _rev }) => _rev) };
}

function byHistory(a: string, b: string): number {
  return Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1);
}

/** The documents whose ids begin so. */
export async function readRange(
  client: CouchClient,
  prefix: string,
): Promise<readonly StoredDocument[]> {
  const query = { start_key: prefix, end_key: `${prefix}\ufff0` };
  return (await readRows(client, query)).flatMap(({ doc }) => doc ?? []);
}

/** The documents whose ids begin so, read page by page; `from`: without those before it. */
export async function* readRangePages(
  client: CouchClient,
  prefix: string,
  from = prefix,
): AsyncGenerator<StoredDocument, void, undefined> {
  const size = createPageSize(mostIds);
  let last: string | undefined;
  for (;;) {
    const wanted = size.documents();
    // The row at which a page begins was read before, unless it is gone meanwhile.
    const limit = last === undefined ? wanted : wanted + 1;
    const query = { start_key: last ?? from, end_key: `${prefix}\ufff0`, limit };
    const rows = await readRows(client, query, mostBytesOf(wanted));
    if (rows === undefined) {
      size.wasTooLong();
      continue;
    }
    size.came(rows.length);
    for (const { id, doc } of rows) if (id !== last && doc !== undefined) yield doc;
    if (rows.length < limit) return;
    last = rows.at(-1)?.id;
  }
}

/** Whether there are more than so many documents whose ids begin so. */
export async function hasMore(client: CouchClient, prefix: string, most: number): Promise<boolean> {
  const within = { start_key: prefix, end_key: `${prefix}\ufff0` };
  const query = { ...within, include_docs: false, skip: most, limit: 1 };
  return (await readRows(client, query)).length > 0;
}

/** Rows of `_all_docs`, with documents unless the query says otherwise; undefined: longer than `mostBytes`. */
async function readRows(
  client: CouchClient,
  wanted: NonNullable<CouchRequest['query']>,
): Promise<readonly ViewRow[]>;
async function readRows(
  client: CouchClient,
  wanted: NonNullable<CouchRequest['query']>,
  mostBytes: number,
): Promise<readonly ViewRow[] | undefined>;
async function readRows(
  client: CouchClient,
  wanted: NonNullable<CouchRequest['query']>,
  mostBytes = Infinity,
): Promise<readonly ViewRow[] | undefined> {
  const action = 'read documents';
  const path = databasePath(client.connection, '/_all_docs');
  const query = { include_docs: true, ...wanted };
  const reply = await client.askWithin({ path, query, action, long: true }, mostBytes);
  if (reply === undefined) return undefined;
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  const rows = viewRows(reply.body);
  if (rows === undefined) throw notOfCouch(client, action, 'a list of rows');
  return rows;
}

/** Nothing follows from an answer that something else gave: not that there is no such document. */
export function notOfCouch({ connection }: CouchClient, action: string, wanted: string) {
  return unexpected(connection, action, { status: 200, reason: `the answer is not ${wanted}` });
}
