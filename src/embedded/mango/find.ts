import type { Database } from '../databases/database.js';
import type { FunctionPool } from '../functions/pool.js';
import { isJsonObject, type JsonObject } from '../http/body.js';
import { CouchError } from '../http/couch-error.js';
import type { Doc } from '../storage/storage.js';
import type { ViewRange, IndexRow } from '../views/view-index.js';
import { describeIndex, listIndexes, type MangoIndex } from './indexes.js';
import { planQuery, type Plan } from './plan.js';
import { formatBookmark, type FindRequest, type Position } from './find-request.js';
import { compileSelector, fieldPath, usesRegex, valueAtPath } from './selector.js';

const PAGE = 100;

/** Which index a query would use, as `_explain` shows it. */
export async function explainFind(database: Database, request: FindRequest): Promise<object> {
  const { index, range } = planQuery(await listIndexes(database), request);
  const { selector, limit, skip, sort, fields = 'all_fields' } = request;
  const sorted = sort.fields.map((field) => [field, sort.descending ? 'desc' : 'asc']);
  const bounds = range.reverse === true ? [range.to, range.from] : [range.from, range.to];
  return {
    dbname: database.name,
    index: describeIndex(index),
    partitioned: 'undefined',
    selector,
    opts: {
      use_index: request.useIndex,
      bookmark: formatBookmark(request.bookmark),
      limit,
      skip,
      sort: Object.fromEntries(sorted) as object,
      fields,
      conflicts: request.conflicts,
      execution_stats: request.stats,
      update: request.update,
    },
    limit,
    skip,
    fields,
    mrargs: {
      include_docs: true,
      view_type: 'map',
      reduce: false,
      start_key: bounds[0]?.key ?? null,
      end_key: bounds[1]?.key ?? '<MAX>',
      direction: range.reverse === true ? 'rev' : 'fwd',
    },
  };
}

/** Answers `_find`. @throws CouchError */
export async function find(
  database: Database,
  pool: FunctionPool,
  request: FindRequest,
): Promise<object> {
  const begun = performance.now();
  const plan = planQuery(await listIndexes(database), request);
  const matches = matcher(request.selector, pool);
  const docs: Doc[] = [];
  let { skip } = request;
  let keys = 0;
  let examined = 0;
  let last = request.bookmark;
  pages: for await (const page of pagesOf(database, plan, request)) {
    keys += page.length;
    const rows = await store(database, page, request);
    const passed = await matches(rows.map(({ doc }) => doc));
    for (const [i, { row, doc }] of rows.entries()) {
      if (docs.length >= request.limit) break pages;
      examined += 1;
      last = { key: row.key, id: row.id };
      if (passed[i] !== true) continue;
      if (skip > 0) skip -= 1;
      else docs.push(doc);
    }
    if (docs.length >= request.limit) break;
  }
  return {
    docs:
      request.fields === undefined ? docs : docs.map((doc) => project(doc, request.fields ?? [])),
    bookmark: docs.length === 0 ? formatBookmark(request.bookmark) : formatBookmark(last),
    ...(request.stats
      ? {
          execution_stats: {
            total_keys_examined: keys,
            total_docs_examined: examined,
            total_quorum_docs_examined: 0,
            results_returned: docs.length,
            execution_time_ms: Math.round((performance.now() - begun) * 1000) / 1000,
          },
        }
      : {}),
    ...(plan.warning === undefined ? {} : { warning: plan.warning }),
  };
}

type Matcher = (docs: readonly Doc[]) => Promise<boolean[]>;

/** Regular expressions may take any time: selectors with them are tried in a worker. */
function matcher(selector: JsonObject, pool: FunctionPool): Matcher {
  const matches = compileSelector(selector);
  if (!usesRegex(selector)) return (docs) => Promise.resolve(docs.map(matches));
  return async (docs) => {
    const texts = docs.map((doc) => JSON.stringify(doc));
    const { results, failure } = await pool.select(JSON.stringify(selector), texts);
    if (failure !== undefined)
      throw new CouchError(500, failure.kind, `The selector failed: ${failure.message}`);
    return results.map((result) => 'ok' in result && result.ok === 'true');
  };
}

async function store(
  { store: documents }: Database,
  page: readonly IndexRow[],
  { conflicts }: FindRequest,
): Promise<{ row: IndexRow; doc: Doc }[]> {
  const ids = page.map((row) => row.id);
  const rows = await documents.rows(ids, { includeDocs: true, conflicts });
  return page.flatMap((row, i) => {
    const doc = rows[i]?.doc;
    return doc == null ? [] : [{ row, doc }];
  });
}

/** The index rows of a plan in pages, from behind the bookmark on. */
async function* pagesOf(
  database: Database,
  { index, range }: Plan,
  { bookmark, update }: FindRequest,
): AsyncGenerator<IndexRow[]> {
  const rows =
    index.source === undefined
      ? primaryRows(database, range, bookmark)
      : indexRows(database, { source: index.source, range, bookmark, update });
  let page: IndexRow[] = [];
  for await (const row of rows) {
    if (page.push(row) < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

type IndexRead = Pick<FindRequest, 'bookmark' | 'update'> & {
  readonly source: NonNullable<MangoIndex['source']>;
  readonly range: ViewRange;
};

async function* indexRows(
  database: Database,
  { source: { design, view }, range, bookmark, update }: IndexRead,
): AsyncGenerator<IndexRow> {
  const rows = await database.views.of(design);
  if (update) await rows.update(design);
  const after = range.reverse === true ? { to: bookmark } : { from: bookmark };
  const from = bookmark === undefined ? range : { ...range, ...(after as object) };
  for await (const row of rows.rows(view.slot, from)) if (row.id !== bookmark?.id) yield row;
}

async function* primaryRows(
  { store: documents }: Database,
  range: ViewRange,
  bookmark: Position | undefined,
): AsyncGenerator<IndexRow> {
  const reverse = range.reverse === true;
  const low = idOf(range.from?.key) ?? '\u0000';
  const high = idOf(range.to?.key) ?? '\u{10FFFF}';
  let seen = bookmark?.id;
  let at = seen ?? (reverse ? high : low);
  for (;;) {
    const [startkey, endkey] = reverse ? [at, low] : [at, high];
    const found = await documents.range({ startkey, endkey, descending: reverse, limit: PAGE + 1 });
    for (const { id } of found) {
      // The last row of the page before comes first again, unless it was deleted meanwhile.
      if (id !== seen && !id.startsWith('_design/')) yield { id, key: id, value: null };
    }
    const last = found.at(-1);
    if (last === undefined || found.length <= PAGE) return;
    at = seen = last.id;
  }
}

const idOf = (key: unknown): string | undefined => {
  const [id] = Array.isArray(key) ? (key as unknown[]) : [];
  return typeof id === 'string' && id !== '' ? id : undefined;
};

/** The members of a document that `fields` names, in their places. */
function project(doc: Doc, fields: readonly string[]): JsonObject {
  const result: JsonObject = {};
  for (const field of fields) {
    const path = fieldPath(field);
    const value = valueAtPath(doc, path);
    if (value === undefined) continue;
    let at = result;
    for (const name of path.slice(0, -1)) {
      const next = isJsonObject(at[name]) ? at[name] : {};
      at[name] = next;
      at = next;
    }
    at[path.at(-1) ?? field] = value;
  }
  return result;
}
