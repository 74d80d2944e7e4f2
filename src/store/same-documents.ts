import { databasePath, openClient, unexpected, type CouchClient } from './client.js';
import { notOfCouch } from './all-docs.js';
import type { Connection } from './connection.js';

/** Documents compared in one request. */
const together = 2_000;

/** What comparing two databases found. */
export type Compared = {
  /** How many documents the first one has. */
  readonly documents: number;
  /** How many of them have another current revision, or none, in the second. */
  readonly different: number;
  /** The ids of the first of these, as many as were asked for. */
  readonly ids: readonly string[];
};

const mostTold = 5;

/**
 * Compares the current revisions of all documents of two databases, page by page. A revision is made from
 * the content of its document, so the same revision is the same document.
 * @throws TwsError, see `CouchClient.ask`
 */
export async function compareDocuments(
  one: Connection,
  other: Connection,
  isLeftOut: (id: string) => boolean,
  most: number = mostTold,
): Promise<Compared> {
  const [from, to] = [openClient(one), openClient(other)];
  const ids: string[] = [];
  let [documents, different] = [0, 0];
  let after: string | undefined;
  for (;;) {
    const rows = await pageAfter(from, after);
    const wanted = rows.filter(({ id }) => !isLeftOut(id));
    documents += wanted.length;
    const there = await currentRevisions(to, wanted);
    const others = wanted.filter(({ id, rev }) => there.get(id) !== rev);
    different += others.length;
    ids.push(...others.slice(0, most - ids.length).map(({ id }) => id));
    after = rows.at(-1)?.id;
    if (rows.length < together || after === undefined) return { documents, different, ids };
  }
}

type Row = { readonly id: string; readonly rev: string };

async function pageAfter(client: CouchClient, after: string | undefined): Promise<readonly Row[]> {
  // The row at which a page begins was read before, unless that document was removed meanwhile.
  const from = after === undefined ? {} : { startkey: after };
  const rows = await rowsOf(client, { query: { limit: together + 1, ...from } });
  return rows.filter(({ id }) => id !== after).slice(0, together);
}

/** The current revisions of those of these documents that are there. @throws TwsError, see `CouchClient.ask` */
export async function currentRevisions(
  client: CouchClient,
  rows: readonly Pick<Row, 'id'>[],
): Promise<ReadonlyMap<string, string>> {
  if (rows.length === 0) return new Map();
  const found = await rowsOf(client, { method: 'POST', body: { keys: rows.map(({ id }) => id) } });
  return new Map(found.map(({ id, rev }) => [id, rev]));
}

/**
 * The ids of the documents of which a database has never had this revision.
 * @throws TwsError, see `CouchClient.ask`
 */
export async function unknownRevisions(
  client: CouchClient,
  revisions: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  if (revisions.size === 0) return [];
  const action = 'compare its revisions';
  const path = databasePath(client.connection, '/_revs_diff');
  const body = Object.fromEntries([...revisions].map(([id, rev]) => [id, [rev]]));
  const reply = await client.ask({ method: 'POST', path, body, action });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  return Object.keys(reply.body as Readonly<Record<string, unknown>>);
}

async function rowsOf(
  client: CouchClient,
  request: { readonly method?: 'POST'; readonly query?: object; readonly body?: unknown },
): Promise<readonly Row[]> {
  const action = 'list its documents';
  const path = databasePath(client.connection, '/_all_docs');
  const { query, ...rest } = request;
  const named = query === undefined ? {} : { query: { ...query } };
  const reply = await client.ask({ path, action, long: true, ...rest, ...named });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  const { rows } = reply.body as { readonly rows?: unknown };
  if (!Array.isArray(rows)) throw notOfCouch(client, action, 'a list of documents');
  type Written = {
    readonly id?: string;
    readonly value?: { rev: string; deleted?: boolean } | null;
  };
  return (rows as readonly Written[]).flatMap(({ id, value }) =>
    id === undefined || value === undefined || value === null || value.deleted === true
      ? []
      : [{ id, rev: value.rev }],
  );
}
