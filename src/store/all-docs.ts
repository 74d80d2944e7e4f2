import type { StoredDocument } from '../model/document.js';
import { unexpected, type CouchRequest, type CouchClient } from './client.js';
import { databasePath } from './connection.js';
import { mostBytesOf, type PageSize } from './paging.js';
import { viewRows, type ViewRow } from './views.js';

/** Ids asked for in one request at most. */
export const mostIds = 1_000;

/**
 * Those of the documents that exist, by id; as many are asked for together as weigh little.
 * `conflicts`: those that are in conflict have `_conflicts`.
 */
export async function documentsOf(
  client: CouchClient,
  ids: readonly string[],
  size: PageSize,
  conflicts = false,
): Promise<ReadonlyMap<string, StoredDocument>> {
  const found = new Map<string, StoredDocument>();
  for (let from = 0; from < ids.length;) {
    const keys = ids.slice(from, from + size.documents());
    const query = conflicts ? { conflicts } : {};
    const request = { method: 'POST', query, body: { keys } } as const;
    const rows = await readRows(client, request, mostBytesOf(keys.length));
    if (rows === undefined) {
      size.wasTooLong();
      continue;
    }
    for (const { doc } of rows) {
      if (doc !== undefined && doc['_deleted'] !== true) found.set(doc._id, doc);
    }
    from += keys.length;
    size.came(keys.length);
  }
  return found;
}

/** The documents whose ids begin so. */
export async function readRange(
  client: CouchClient,
  prefix: string,
): Promise<readonly StoredDocument[]> {
  const query = { start_key: prefix, end_key: `${prefix}\ufff0` };
  return ((await readRows(client, { query })) ?? []).flatMap(({ doc }) => doc ?? []);
}

/** Whether there are more than so many documents whose ids begin so. */
export async function hasMore(client: CouchClient, prefix: string, most: number): Promise<boolean> {
  const within = { start_key: prefix, end_key: `${prefix}\ufff0` };
  const query = { ...within, include_docs: false, skip: most, limit: 1 };
  return ((await readRows(client, { query })) ?? []).length > 0;
}

/** Rows of `_all_docs`, with documents; undefined when the answer is longer than `mostBytes`. */
async function readRows(
  client: CouchClient,
  request: Pick<CouchRequest, 'method' | 'query' | 'body'>,
  mostBytes = Infinity,
): Promise<readonly ViewRow[] | undefined> {
  const action = 'read documents';
  const path = databasePath(client.connection, '/_all_docs');
  const query = { include_docs: true, ...request.query };
  const asked = { ...request, path, query, action, long: true } as const;
  const reply = await client.askWithin(asked, mostBytes);
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
