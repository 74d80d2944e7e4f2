import {
  Absent,
  type Attachment,
  type Doc,
  type DocRow,
  type DocumentStore,
  type OpenRev,
  type Parent,
  type RangeOptions,
  type ReadOptions,
} from '../storage.js';
import { storedChange, headOf, jsonOf, wholeOf, type Head, type Whole } from './documents.js';
import { isKnown, leavesFrom, allLeaves, pathTo } from './histories.js';
import type { Statements } from './schema.js';
import { readPieces, withData, type SqliteFiles } from './sqlite-files.js';
import type { SqliteSession } from './sqlite-session.js';

/** Rows of a range that are read in one go. */
const PAGE = 500;
/** Above every id. */
const LAST_ID = '\u{10FFFF}';

type Reads = Pick<
  DocumentStore,
  'get' | 'openRevs' | 'parents' | 'range' | 'rows' | 'changes' | 'revsDiff' | 'attachment'
>;

/** The reading half of a store on SQLite; each answer shows one state. */
export function sqliteReads(session: SqliteSession, files: SqliteFiles): Reads {
  const { read } = session;
  return {
    get: (id, options = {}) => read((sql) => get(sql, id, options)),
    openRevs: (id, revs, options) => read((sql) => openRevs(sql, id, revs, options)),
    parents: (docs) => read((sql) => docs.map((doc) => parentOf(sql, doc))),
    range: (options) => range(session, options),
    rows: (keys, options) => read((sql) => keys.map((key) => row(sql, key, options))),
    changes: ({ since, limit }) =>
      read((sql) =>
        sql.changes.all(since, Math.min(limit, MOST)).map((each) => storedChange(wholeOf(each))),
      ),
    revsDiff: (wanted) => read((sql) => revsDiff(sql, wanted)),
    attachment: (id, name, rev) => attachment(session, files, { id, name, rev }),
  };
}

/** SQLite takes no `Infinity`. */
const MOST = Number.MAX_SAFE_INTEGER;

function find(sql: Statements, id: string): Whole | undefined {
  const found = sql.whole.get(id);
  return found === undefined ? undefined : wholeOf(found);
}

/** A leaf as JSON; undefined for a revision that is none. */
function leafJson(sql: Statements, whole: Whole, rev: string): string | undefined {
  if (rev === whole.rev) return jsonOf(whole.id, rev, whole.deleted, whole.body);
  const found = whole.tree === null ? undefined : sql.leaf.get(whole.key, rev);
  if (found === undefined) return undefined;
  return jsonOf(whole.id, rev, found['deleted'] === 1, String(found['body']));
}

function get(sql: Statements, id: string, options: ReadOptions): Doc | Absent {
  const whole = find(sql, id);
  if (whole === undefined) return new Absent('missing');
  if (options.rev === undefined && whole.deleted) return new Absent('deleted');
  return leaf(sql, whole, options) ?? new Absent('missing');
}

/** A leaf with what was asked for about it; undefined for a revision that is none. */
function leaf(sql: Statements, whole: Whole, options: ReadOptions): Doc | undefined {
  const named = options.rev ?? whole.rev;
  const rev = options.latest === true ? (leavesFrom(whole, named)[0] ?? named) : named;
  const json = leafJson(sql, whole, rev);
  if (json === undefined) return undefined;
  const doc = JSON.parse(json) as Doc;
  Object.assign(doc, about(whole, rev, options));
  return options.attachments === true ? withData(sql, doc) : doc;
}

function about(head: Head, rev: string, options: ReadOptions): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  if (options.revs === true || options.revsInfo === true) {
    const { start, ids } = pathTo(head, rev);
    if (options.revs === true) members['_revisions'] = { start, ids };
    if (options.revsInfo === true) {
      members['_revs_info'] = ids.map((id, i) => ({
        rev: `${start - i}-${id}`,
        status: i === 0 ? 'available' : 'missing',
      }));
    }
  }
  if (options.conflicts === true || options.deletedConflicts === true) {
    const losers = allLeaves(head).slice(1);
    const revs = (deleted: boolean): string[] =>
      losers.filter((each) => each.deleted === deleted).map((each) => each.rev);
    if (options.conflicts === true) addList(members, '_conflicts', revs(false));
    if (options.deletedConflicts === true) addList(members, '_deleted_conflicts', revs(true));
  }
  if (options.localSeq === true) members['_local_seq'] = head.seq;
  return members;
}

function addList(members: Record<string, unknown>, name: string, list: readonly string[]): void {
  if (list.length > 0) members[name] = list;
}

function openRevs(
  sql: Statements,
  id: string,
  revs: 'all' | readonly string[],
  options: ReadOptions,
): OpenRev[] {
  const whole = find(sql, id);
  if (whole === undefined) return revs === 'all' ? [] : revs.map((rev) => ({ missing: rev }));
  const wanted =
    revs === 'all'
      ? allLeaves(whole).map((each) => each.rev)
      : revs.flatMap((rev) => {
          const latest = options.latest === true ? leavesFrom(whole, rev) : [];
          return latest.length > 0 ? latest : [rev];
        });
  return [...new Set(wanted)].map((rev) => {
    const doc = leaf(sql, whole, { ...options, latest: false, rev });
    return doc === undefined ? { missing: rev } : { ok: doc };
  });
}

function parentOf(sql: Statements, { _id: id, _rev: rev }: Doc): Parent {
  const whole = find(sql, id);
  if (rev === undefined) {
    return { kind: whole === undefined || whole.deleted ? 'none' : 'conflict' };
  }
  const json = whole === undefined ? undefined : leafJson(sql, whole, rev);
  return json === undefined ? { kind: 'conflict' } : { kind: 'leaf', json };
}

/** Many rows are read in pages, between which others get on. */
async function range(session: SqliteSession, options: RangeOptions): Promise<DocRow[]> {
  const { limit = Infinity } = options;
  if (limit <= PAGE) return session.read((sql) => rangePage(sql, options));
  return session.still(async (sql) => {
    const rows: DocRow[] = [];
    for (let left = limit, next = options; ;) {
      const page = rangePage(sql, { ...next, limit: Math.min(left, PAGE) });
      rows.push(...page);
      left -= page.length;
      const last = page.at(-1)?.id;
      if (page.length < PAGE || left === 0 || last === undefined) return rows;
      next = { ...options, startkey: last, skip: 1 };
      await new Promise(setImmediate);
    }
  });
}

function rangePage(sql: Statements, options: RangeOptions): DocRow[] {
  const { startkey, endkey, descending = false, inclusiveEnd = true, includeDocs } = options;
  const [from = '', to = LAST_ID] = descending ? [endkey, startkey] : [startkey, endkey];
  const { limit = PAGE, skip = 0 } = options;
  const texts =
    includeDocs === true
      ? [sql.wholeAscending, sql.wholeDescending]
      : [sql.ascending, sql.descending];
  const found = texts[descending ? 1 : 0]?.all(from, to, Math.min(limit, MOST), skip) ?? [];
  const rows = inclusiveEnd ? found : found.filter((each) => each['id'] !== endkey);
  return rows.map((each) => {
    if (includeDocs !== true) return { ...brief(headOf(each)), deleted: false };
    const whole = wholeOf(each);
    return { ...brief(whole), deleted: false, doc: leaf(sql, whole, shown(options)) ?? null };
  });
}

const brief = ({ id, rev }: Head): { id: string; rev: string } => ({ id, rev });

const shown = ({ conflicts = false, attachments = false }: RangeOptions): ReadOptions => ({
  conflicts,
  attachments,
});

function row(sql: Statements, id: string, options: RangeOptions): DocRow | null {
  if (options.includeDocs !== true) {
    const found = sql.head.get(id);
    if (found === undefined) return null;
    const head = headOf(found);
    return { ...brief(head), deleted: head.deleted, ...(head.deleted ? { doc: null } : {}) };
  }
  const whole = find(sql, id);
  if (whole === undefined) return null;
  if (whole.deleted) return { ...brief(whole), deleted: true, doc: null };
  return { ...brief(whole), deleted: false, doc: leaf(sql, whole, shown(options)) ?? null };
}

function revsDiff(
  sql: Statements,
  wanted: Readonly<Record<string, readonly string[]>>,
): Record<string, { missing: string[] }> {
  const lacking = Object.entries(wanted).flatMap(([id, revs]) => {
    const found = sql.head.get(id);
    const head = found === undefined ? undefined : headOf(found);
    const missing = revs.filter((rev) => head === undefined || !isKnown(head, rev));
    return missing.length === 0 ? [] : [[id, { missing }] as const];
  });
  return Object.fromEntries(lacking);
}

type Stub = { readonly content_type: string; readonly digest: string; readonly length: number };

async function attachment(
  session: SqliteSession,
  files: SqliteFiles,
  { id, name, rev }: { id: string; name: string; rev: string | undefined },
): Promise<Attachment | Absent | undefined> {
  return session.read((sql) => {
    const doc = get(sql, id, rev === undefined ? {} : { rev });
    if (doc instanceof Absent) return doc;
    const stubs = (doc['_attachments'] ?? {}) as Record<string, Stub>;
    const stub = Object.hasOwn(stubs, name) ? stubs[name] : undefined;
    if (stub === undefined) return undefined;
    const { digest, length, content_type: contentType } = stub;
    files.hold(digest);
    return {
      contentType,
      digest,
      length,
      rev: doc._rev ?? '',
      read: (first, last) => stream(session, digest, [first, last]),
      close: () => files.release([digest]),
    };
  });
}

/** One piece at a time, as the reader takes them. */
async function* stream(
  session: SqliteSession,
  digest: string,
  [first, last]: readonly [number, number],
): AsyncGenerator<Buffer> {
  let at = first;
  while (at <= last) {
    const from = at;
    const piece = await session.readKept((sql) => firstPiece(sql, digest, [from, last]));
    if (piece === undefined) return;
    yield piece;
    at += piece.length;
  }
}

function firstPiece(
  sql: Statements,
  digest: string,
  range: readonly [number, number],
): Buffer | undefined {
  for (const piece of readPieces(sql, digest, range)) return piece;
  return undefined;
}
