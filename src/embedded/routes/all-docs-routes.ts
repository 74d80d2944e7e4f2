import { isServerAdmin, USERS } from '../auth/users.js';
import type { Database } from '../databases/database.js';
import { isJsonObject, readJsonObject, requireJsonType } from '../http/body.js';
import { refuse } from '../http/couch-error.js';
import { sendJson, writePiece, type Exchange } from '../http/exchange.js';
import { eitherQuery, queryFromBody, type RequestQuery } from '../http/query.js';
import type { DocRow, RangeOptions } from '../storage/storage.js';

/** Rows that are read at a time. */
const PAGE = 500;

type Span = { readonly first: string; readonly last: string };
const EVERYTHING: Span | undefined = undefined;
const DESIGN_DOCS: Span = { first: '_design/', last: '_design0' };

/** GET and POST of `_all_docs`. */
export const allDocs = (x: Exchange, database: Database): Promise<void> =>
  answer(x, database, EVERYTHING);

/** GET and POST of `_design_docs`. */
export const designDocs = (x: Exchange, database: Database): Promise<void> =>
  answer(x, database, DESIGN_DOCS);

/** POST of `_all_docs/queries`: several queries at once. */
export async function allDocsQueries(x: Exchange, database: Database): Promise<void> {
  requireReader(x, database);
  const results = await Promise.all(
    (await readQueries(x)).map((query) => list(database, query, EVERYTHING)),
  );
  sendJson(x, 200, { results });
}

/** The queries of a POST body `{"queries": […]}`; what they leave open comes from the URL. @throws CouchError */
export async function readQueries(x: Exchange): Promise<RequestQuery[]> {
  requireJsonType(x.request);
  const { queries } = await readJsonObject(x.request);
  if (!Array.isArray(queries)) throw refuse.badRequest('`queries` member must be an array.');
  return (queries as unknown[]).map((query) => {
    if (!isJsonObject(query)) throw refuse.badRequest('a query must be a JSON object');
    return eitherQuery(queryFromBody(query), x.query);
  });
}

/** The parameters of a GET or of a POST, whose body adds to the URL. @throws CouchError */
export async function readQuery(x: Exchange): Promise<RequestQuery> {
  if (x.method !== 'POST') return x.query;
  requireJsonType(x.request);
  return eitherQuery(queryFromBody(await readJsonObject(x.request)), x.query);
}

async function answer(x: Exchange, database: Database, span: Span | undefined): Promise<void> {
  requireReader(x, database);
  const query = await readQuery(x);
  if (query.json('keys') !== undefined) return sendJson(x, 200, await list(database, query, span));
  await stream(x, database, query, span);
}

/** Sends the rows page by page: with documents they may be more than memory should hold. */
async function stream(
  x: Exchange,
  database: Database,
  query: RequestQuery,
  span: Span | undefined,
): Promise<void> {
  const pages = pagesOf(database, query, span);
  // The first page is read before the status goes out, so that a refusal has one.
  let page = await pages.next();
  const head = JSON.stringify(await headOf(database, query)).slice(0, -1);
  x.response.writeHead(200, {
    'content-type': 'application/json',
    'cache-control': 'must-revalidate',
  });
  let separator = '\r\n';
  if (!(await writePiece(x, `${head},"rows":[`))) return;
  for (; page.done !== true; page = await pages.next()) {
    const rows = page.value.map((row) => JSON.stringify(asRow(row, row.id)));
    if (rows.length === 0) continue;
    if (!(await writePiece(x, separator + rows.join(',\r\n')))) return;
    separator = ',\r\n';
  }
  x.response.end('\r\n]}\n');
}

async function* pagesOf(
  { store }: Database,
  query: RequestQuery,
  span: Span | undefined,
): AsyncGenerator<DocRow[], void> {
  const range = asRange(query, span);
  const shown = shownBy(query);
  let left = query.count('limit') ?? Infinity;
  let skip = query.count('skip') ?? 0;
  let last: string | undefined;
  while (left > 0) {
    const from = last === undefined ? {} : { startkey: last };
    const limit = Math.min(PAGE, left) + 1;
    const found = await store.range({ ...range, ...from, ...shown, skip, limit });
    // The last row of the page before comes first again, unless it was deleted meanwhile.
    const rows = found.filter(({ id }) => id !== last).slice(0, Math.min(PAGE, left));
    yield rows;
    if (found.length < limit) return;
    left -= rows.length;
    last = rows.at(-1)?.id;
    skip = 0;
  }
}

/** Listing `_users` would show everybody's documents. @throws CouchError 403 */
function requireReader({ user }: Exchange, { name }: Database): void {
  if (name === USERS && !isServerAdmin(user)) {
    throw refuse.forbidden('Only administrators can view docs in this database.');
  }
}

/** A query within `_all_docs/queries`, or one by keys: the answer as a whole. */
async function list(
  database: Database,
  query: RequestQuery,
  span: Span | undefined,
): Promise<object> {
  const head = await headOf(database, query);
  const keys = query.json('keys');
  if (keys === undefined) {
    const rows: object[] = [];
    for await (const page of pagesOf(database, query, span)) {
      for (const row of page) rows.push(asRow(row, row.id));
    }
    return { ...head, rows };
  }
  const ids = asIds(keys);
  if (query.flag('descending') === true) ids.reverse();
  const skip = query.count('skip') ?? 0;
  const page = ids.slice(skip, skip + (query.count('limit') ?? Infinity));
  const rows = await database.store.rows(page, shownBy(query));
  return { ...head, offset: null, rows: rows.map((row, i) => asRow(row, page[i] ?? '')) };
}

async function headOf(database: Database, query: RequestQuery): Promise<object> {
  const { docCount, updateSeq } = await database.store.info();
  return {
    ...(query.flag('update_seq') === true ? { update_seq: database.formatSeq(updateSeq) } : {}),
    total_rows: docCount,
    offset: Math.min(query.count('skip') ?? 0, docCount),
  };
}

const shownBy = (query: RequestQuery): RangeOptions => ({
  includeDocs: query.flag('include_docs') === true,
  conflicts: query.flag('conflicts') === true,
  attachments: query.flag('attachments') === true,
});

function asIds(keys: unknown): string[] {
  if (!Array.isArray(keys)) throw refuse.badRequest('`keys` member must be an array.');
  return (keys as unknown[]).map((key) => (typeof key === 'string' ? key : JSON.stringify(key)));
}

/** Keys here are ids; a key of another type sorts before them all or behind them all. */
function asRange(query: RequestQuery, span: Span | undefined): RangeOptions {
  const descending = query.flag('descending') === true;
  const one = query.has('key');
  const start = asBound(one ? query.json('key') : query.json('startkey', 'start_key'));
  const end = asBound(one ? query.json('key') : query.json('endkey', 'end_key'));
  const [low, high] = descending ? [end, start] : [start, end];
  const lowest = span !== undefined && (low === undefined || low < span.first) ? span.first : low;
  const highest = span !== undefined && (high === undefined || high > span.last) ? span.last : high;
  const [startkey, endkey] = descending ? [highest, lowest] : [lowest, highest];
  return {
    descending,
    inclusiveEnd: query.flag('inclusive_end') !== false,
    ...(startkey === undefined ? {} : { startkey }),
    ...(endkey === undefined ? {} : { endkey }),
  };
}

function asBound(key: unknown): string | undefined {
  if (key === undefined) return undefined;
  if (typeof key === 'string') return key === '' ? '\u0000' : key;
  return typeof key === 'object' && key !== null ? '\u{10FFFF}' : '\u0000';
}

function asRow(row: DocRow | null, key: string): object {
  if (row === null) return { key, error: 'not_found' };
  const value = row.deleted ? { rev: row.rev, deleted: true } : { rev: row.rev };
  const about = { id: row.id, key: row.id, value };
  return row.doc === undefined ? about : { ...about, doc: row.doc };
}

/** GET of `_local_docs`. */
export async function localDocs(x: Exchange, { store }: Database): Promise<void> {
  const query = await readQuery(x);
  const includeDocs = query.flag('include_docs') === true;
  const rows = (await store.listLocal()).map((doc) => ({
    id: doc._id,
    key: doc._id,
    value: { rev: doc._rev },
    ...(includeDocs ? { doc } : {}),
  }));
  if (query.flag('descending') === true) rows.reverse();
  const skip = query.count('skip') ?? 0;
  const page = rows.slice(skip, skip + (query.count('limit') ?? Infinity));
  sendJson(x, 200, { total_rows: null, offset: null, rows: page });
}
