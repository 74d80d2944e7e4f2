import { compileFunction } from 'node:vm';
import { encodeKey } from '../embedded/views/collation.js';
import type { StoredDocument } from '../model/document.js';
import type { ViewSource } from '../store/design-source.js';
import type { ViewQuery } from '../store/views.js';
import type { MemoryDatabase } from './database.js';

/** A row of a view, with the text by which it is sorted. */
type Row = {
  readonly id: string;
  readonly key: unknown;
  readonly value: unknown;
  readonly at: string;
};

/** What a query brings; without an id where rows were reduced. */
export type MemoryRow = { readonly id?: string; readonly key: unknown; readonly value: unknown };

export type MemoryView = { readonly query: (query: ViewQuery) => readonly MemoryRow[] };

/** A view of a database; it is brought up to date when it is asked. */
export function createMemoryView(database: MemoryDatabase, source: ViewSource): MemoryView {
  const rowsOf = compileMap(source.map);
  const byId = new Map<string, readonly Row[]>();
  let seen = 0;
  let sorted: readonly Row[] = [];
  const update = (): void => {
    const changes = database.changes(seen);
    if (changes.length === 0) return;
    seen = database.seq();
    const added: Row[] = [];
    const changed = new Set<string>();
    for (const { id, leaf } of changes) {
      const rows = leaf.isDeleted ? [] : rowsOf(leaf.doc);
      if (rows.length === 0 && !byId.has(id)) continue;
      changed.add(id);
      if (rows.length === 0) byId.delete(id);
      else byId.set(id, rows);
      added.push(...rows);
    }
    if (changed.size === 0) return;
    const left = sorted.filter(({ id }) => !changed.has(id));
    sorted = [...left, ...added].sort((a, b) => (a.at < b.at ? -1 : 1));
  };
  return {
    query: (query) => {
      update();
      const { reduce = query.group === true || query.groupLevel !== undefined } = query;
      const found = selected(sorted, query);
      const rows = reduce && source.reduce !== undefined ? reduced(found, query) : found;
      const { skip = 0, limit = Infinity } = query;
      return rows.slice(skip, skip + limit);
    },
  };
}

type Emit = (key: unknown, value: unknown) => void;

/** These functions are our own, and the same that CouchDB runs. */
function compileMap(map: string): (doc: StoredDocument) => readonly Row[] {
  let rows: Row[] = [];
  let id = '';
  const emit: Emit = (key, value) => {
    const own = JSON.parse(JSON.stringify([key ?? null, value ?? null])) as [unknown, unknown];
    rows.push({ id, key: own[0], value: own[1], at: `${encodeKey(own[0])}${encodeKey(id)}` });
  };
  const make = compileFunction(`return (${map});`, ['emit']) as (
    emit: Emit,
  ) => (doc: StoredDocument) => void;
  const run = make(emit);
  return (doc) => {
    rows = [];
    id = doc._id;
    run(doc);
    return rows;
  };
}

function selected(rows: readonly Row[], query: ViewQuery): readonly Row[] {
  const { key, keys, descending = false } = query;
  if (keys !== undefined) return keys.flatMap((one) => rows.filter(isAt(one)));
  if (key !== undefined) return inOrder(rows.filter(isAt(key)), descending);
  return inOrder(rows.filter(isWithin(query, descending)), descending);
}

function inOrder(rows: readonly Row[], descending: boolean): readonly Row[] {
  return descending ? rows.toReversed() : rows;
}

function isAt(key: unknown): (row: Row) => boolean {
  const at = encodeKey(key);
  return (row) => encodeKey(row.key) === at;
}

/** The range from `startKey` to `endKey`; descending, the former is the higher one. */
function isWithin(query: ViewQuery, descending: boolean): (row: Row) => boolean {
  const { startKey, startKeyDocId, endKey, endKeyDocId, inclusiveEnd = true } = query;
  const sign = descending ? -1 : 1;
  const compare = (row: Row, key: unknown, id: string | undefined): number => {
    const [own, other] = [encodeKey(row.key), encodeKey(key)];
    if (own !== other) return sign * (own < other ? -1 : 1);
    if (id === undefined || row.id === id) return 0;
    return sign * (encodeKey(row.id) < encodeKey(id) ? -1 : 1);
  };
  return (row) => {
    if (startKey !== undefined && compare(row, startKey, startKeyDocId) < 0) return false;
    if (endKey === undefined) return true;
    const beyond = compare(row, endKey, endKeyDocId);
    return inclusiveEnd ? beyond <= 0 : beyond < 0;
  };
}

/** Our views have one reduce function: `_stats`. */
function reduced(rows: readonly Row[], { group, groupLevel }: ViewQuery): readonly MemoryRow[] {
  const level = groupLevel ?? (group === true ? Infinity : 0);
  const groups = new Map<string, { readonly key: unknown; readonly values: number[] }>();
  for (const { key, value } of rows) {
    const of = level === 0 ? null : Array.isArray(key) ? key.slice(0, level) : key;
    const at = encodeKey(of);
    const one = groups.get(at) ?? { key: of, values: [] };
    groups.set(at, one);
    one.values.push(Number(value));
  }
  return [...groups.values()].map(({ key, values }) => ({ key, value: statsOf(values) }));
}

function statsOf(values: readonly number[]) {
  return {
    sum: values.reduce((sum, one) => sum + one, 0),
    count: values.length,
    min: Math.min(...values),
    max: Math.max(...values),
    sumsqr: values.reduce((sum, one) => sum + one * one, 0),
  };
}
