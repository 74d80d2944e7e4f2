import type { Database } from '../databases/database.js';
import type { Design, DesignView } from '../databases/design.js';
import { CouchError, refuse } from '../http/couch-error.js';
import type { RequestQuery } from '../http/query.js';
import { Absent, type Doc } from '../storage/storage.js';
import { compareKeys } from './collation.js';
import { startReduction } from './reduce.js';
import type { ViewIndex, ViewRange, IndexRow } from './view-index.js';

/** A view query as the request asks for it, checked. */
type ViewQuery = {
  readonly range: ViewRange;
  readonly keys: readonly unknown[] | undefined;
  readonly reduce: boolean;
  /** How many elements of array keys make a group; 0 for one group of all rows. */
  readonly groupLevel: number;
  readonly limit: number;
  readonly skip: number;
  readonly includeDocs: boolean;
  readonly conflicts: boolean;
  readonly attachments: boolean;
  readonly update: boolean;
  readonly updateSeq: boolean;
  /** Whether to count the rows before the first one, which takes longer the more there are. */
  readonly offset: boolean;
};

/** Reads the parameters of a view query. @throws CouchError 400 */
export function parseViewQuery(query: RequestQuery, view: DesignView): ViewQuery {
  const keys = query.json('keys');
  if (keys !== undefined && !Array.isArray(keys)) {
    throw refuse.badRequest('`keys` member must be an array.');
  }
  return {
    update: parseUpdate(query),
    reduce: parseReduce(query, view),
    range: parseRange(query),
    keys: keys as unknown[] | undefined,
    groupLevel:
      query.count('group_level') ?? (query.flag('group') === true ? Number.MAX_SAFE_INTEGER : 0),
    limit: query.count('limit') ?? Infinity,
    skip: query.count('skip') ?? 0,
    includeDocs: query.flag('include_docs') === true,
    conflicts: query.flag('conflicts') === true,
    attachments: query.flag('attachments') === true,
    updateSeq: query.flag('update_seq') === true,
    offset: query.flag('offset') !== false,
  };
}

/** Whether rows are reduced, which some parameters demand and others rule out. @throws CouchError 400 */
function parseReduce(query: RequestQuery, view: DesignView): boolean {
  const wanted = query.flag('reduce');
  if (view.reduce === undefined && wanted === true) {
    throw refuse.queryParse('Reduce is invalid for map-only views.');
  }
  const group = query.flag('group');
  const grouping = group === true || query.has('group_level');
  if (view.reduce === undefined || wanted === false) {
    if (!grouping || group === false) return false;
    throw refuse.queryParse('Invalid use of grouping on a map view.');
  }
  if (query.flag('include_docs') === true) {
    throw refuse.queryParse('`include_docs` is invalid for reduce');
  }
  if (query.json('keys') !== undefined && !grouping) {
    throw refuse.queryParse('Multi-key fetches for reduce views must use `group=true`');
  }
  return true;
}

/** Whether what was written before is taken in first. @throws CouchError 400 */
function parseUpdate(query: RequestQuery): boolean {
  if (query.has('stale')) oneOf(query, 'stale', ['ok', 'update_after']);
  const update = oneOf(query, 'update', ['true', 'false', 'lazy']);
  return update === 'true' && !query.has('stale');
}

/** The value of a parameter, the first of its values by default. @throws CouchError 400 */
function oneOf(query: RequestQuery, name: string, values: readonly string[]): string | undefined {
  const value = query.text(name) ?? values[0];
  if (value !== undefined && values.includes(value)) return value;
  throw refuse.queryParse(`Invalid value for \`${name}\`.`);
}

function parseRange(query: RequestQuery): ViewRange {
  const reverse = query.flag('descending') === true;
  const one = query.has('key');
  const start = one ? query.json('key') : query.json('startkey', 'start_key');
  const end = one ? query.json('key') : query.json('endkey', 'end_key');
  if (
    start !== undefined &&
    end !== undefined &&
    compareKeys(start, end) * (reverse ? -1 : 1) > 0
  ) {
    throw refuse.queryParse(
      'No rows can match your key range, reverse your start_key and end_key or set descending=true',
    );
  }
  const startId = query.text('startkey_docid') ?? query.text('start_key_doc_id');
  const endId = query.text('endkey_docid') ?? query.text('end_key_doc_id');
  const first = start === undefined ? undefined : bound(start, startId);
  const last = end === undefined ? undefined : bound(end, endId);
  const [from, to] = reverse ? [last, first] : [first, last];
  return {
    reverse,
    exclusiveEnd: query.flag('inclusive_end') === false,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

const bound = (key: unknown, id: string | undefined): { key: unknown; id?: string } =>
  id === undefined ? { key } : { key, id };

export type ViewAnswer =
  | { rows: { key: unknown; value: unknown }[]; update_seq?: string }
  | { total_rows: number; offset?: number; rows: object[]; update_seq?: string };

/** Answers a view query; what was written before it is in, unless it asks for a stale answer. */
export async function queryView(
  database: Database,
  design: Design,
  view: DesignView,
  query: ViewQuery,
): Promise<ViewAnswer> {
  if (design.doc['language'] !== undefined && design.doc['language'] !== 'javascript') {
    throw new CouchError(500, 'unknown_query_language', JSON.stringify(design.doc['language']));
  }
  const index = await database.views.of(design);
  if (query.update) await index.update(design);
  const read = (): Promise<ViewAnswer> => readRows({ database, design, index }, view, query);
  // Each key is a range of its own, and a row may move from one to another.
  return query.keys === undefined ? read() : index.still(read);
}

type Source = {
  readonly database: Database;
  readonly design: Design;
  readonly index: ViewIndex;
};

async function readRows(
  { database, design, index }: Source,
  view: DesignView,
  query: ViewQuery,
): Promise<ViewAnswer> {
  const seq = query.updateSeq ? { update_seq: database.formatSeq(index.seq()) } : {};
  if (query.reduce && view.reduce !== undefined) {
    return { rows: await reduceRows(design, view.reduce, scan(index, view, query), query), ...seq };
  }
  const rows = await collect(scan(index, view, query), query.skip, query.limit);
  const counts = query.offset && query.keys === undefined;
  const before = counts ? await index.offset(view.slot, query.range) : 0;
  const total = index.total(view.slot);
  return {
    total_rows: total,
    ...(query.offset ? { offset: Math.min(total, before + query.skip) } : {}),
    rows: query.includeDocs ? await withDocs(database, rows, query) : rows,
    ...seq,
  };
}

/** The rows of a query in its order, before skip and limit. */
export async function* scan(
  index: ViewIndex,
  view: DesignView,
  query: Pick<ViewQuery, 'range' | 'keys'>,
): AsyncGenerator<IndexRow> {
  if (query.keys === undefined) yield* index.rows(view.slot, query.range);
  for (const key of query.keys ?? []) {
    yield* index.rows(view.slot, {
      ...query.range,
      from: { key },
      to: { key },
      exclusiveEnd: false,
    });
  }
}

async function collect(
  rows: AsyncIterable<IndexRow>,
  skip: number,
  limit: number,
): Promise<IndexRow[]> {
  const found: IndexRow[] = [];
  if (limit === 0) return found;
  let left = skip;
  for await (const row of rows) {
    if (left > 0) left -= 1;
    else if (found.push(row) >= limit) break;
  }
  return found;
}

type Reduced = { key: unknown; value: unknown };

async function reduceRows(
  design: Design,
  source: string,
  rows: AsyncIterable<IndexRow>,
  { groupLevel, limit, skip }: ViewQuery,
): Promise<Reduced[]> {
  const groups: Reduced[] = [];
  let current: { key: unknown; reduction: ReturnType<typeof startReduction> } | undefined;
  let left = skip;
  const finish = async (): Promise<void> => {
    if (current === undefined) return;
    if (left > 0) left -= 1;
    else groups.push({ key: current.key, value: await current.reduction.result() });
  };
  for await (const row of rows) {
    const key = groupOf(row.key, groupLevel);
    if (current === undefined || compareKeys(current.key, key) !== 0) {
      await finish();
      if (groups.length >= limit) return groups;
      current = { key, reduction: startReduction(design, source) };
    }
    current.reduction.add(row);
  }
  if (groups.length < limit) await finish();
  return groups;
}

function groupOf(key: unknown, level: number): unknown {
  if (level === 0) return null;
  return Array.isArray(key) ? (key as unknown[]).slice(0, level) : key;
}

/** Adds the documents; a value `{_id}` (and `_rev`) names another document than the row's own. */
async function withDocs(
  { store }: Database,
  rows: readonly IndexRow[],
  { conflicts, attachments }: ViewQuery,
): Promise<(IndexRow & { doc: Doc | null })[]> {
  return Promise.all(
    rows.map(async (row) => {
      const { _id: linked = row.id, _rev: rev } = (row.value ?? {}) as {
        _id?: unknown;
        _rev?: unknown;
      };
      const exact = typeof rev === 'string' ? { rev } : {};
      const id = typeof linked === 'string' ? linked : row.id;
      const doc = await store.get(id, { conflicts, attachments, ...exact });
      return { ...row, doc: doc instanceof Absent ? null : doc };
    }),
  );
}
