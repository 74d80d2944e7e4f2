import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { type WriteResult, bulkSender, type SendBulk } from './batch.js';
import {
  documentsOf,
  hasMore,
  mostIds,
  notOfCouch,
  readLeavesOf,
  readRange,
  readRangePages,
} from './all-docs.js';
import { readAttachment, type OfRevision } from './attachment.js';
import { compactDatabase } from './compact.js';
import { readCopy, writeCopies, type DocumentCopy } from './copies.js';
import { isDocument, type Change } from './change.js';
import { openClient, unexpected, type CouchClient, databasePath, documentPath } from './client.js';
import type { Connection } from './connection.js';
import { readDatabase, type DatabaseState } from './database-state.js';
import { readDocumentLimit } from './document-limit.js';
import { followChanges, type FollowOptions } from './feed.js';
import { createOwnWrites, type OwnWrite } from './own-writes.js';
import { createKeptAnswers, type KeptAnswers } from './kept-answers.js';
import { largeSender } from './large-write.js';
import { createMemo } from '../memo.js';
import { createPageSize, mostBytesOf, pagesOf, type PageSize } from './paging.js';
import { readChanges, type PastChanges } from './past-changes.js';
import type { StoreLog } from './log.js';
import {
  viewNames,
  viewRequest,
  viewRows,
  type ViewName,
  type ViewQuery,
  type ViewRow,
} from './views.js';
import { movedTo } from './moved.js';
import { mayPurge, purgeTombstones, readTombstones, type Tombstones } from './purge.js';
import { createSharedReader } from './shared-reader.js';
import { createWriter, type NewDocument } from './writer.js';

/**
 * One database. What is read throws the problems of `CouchClient.ask`; what is written has a result and
 * never throws; the feed does neither, it tells its state.
 */
export type Store = {
  readonly connection: Connection;
  readonly info: () => Promise<DatabaseState>;
  /** Where the database has moved, for people; undefined: it has not. */
  readonly movedTo: () => Promise<string | undefined>;
  /** The current revision of a document; undefined when there is none or it is deleted. */
  readonly get: (id: string) => Promise<StoredDocument | undefined>;
  /** Whether a document is not there because somebody deleted it; as of the moment when it is asked. */
  readonly isDeleted: (id: string) => Promise<boolean>;
  /** All leaf revisions of a document, read from so many copies. */
  readonly leaves: (id: string, copies: number) => Promise<readonly StoredDocument[]>;
  /** Those of the documents that exist, by id; with `conflicts` they tell theirs (`_conflicts`). */
  readonly getMany: (
    ids: readonly string[],
    options?: { readonly conflicts: boolean },
  ) => Promise<ReadonlyMap<string, StoredDocument>>;
  /** The documents whose ids begin so. */
  readonly range: (prefix: string) => Promise<readonly StoredDocument[]>;
  /** The same, read page by page; `from`: without those before it. */
  readonly rangePages: (prefix: string, from?: string) => AsyncIterable<StoredDocument>;
  /** Whether there are more than so many documents whose ids begin so. */
  readonly exceeds: (prefix: string, most: number) => Promise<boolean>;
  /**
   * Compare-and-set on `_rev` (without: the document must not exist), by group commit; with a large
   * result it is sent alone. A document longer than `mostBytes` is refused at once.
   */
  readonly write: (doc: NewDocument, mostBytes?: number) => Promise<WriteResult>;
  /** The text of an attachment, of the current or that revision; undefined when there is none. */
  readonly attachment: (id: string, name: string, of?: OfRevision) => Promise<string | undefined>;
  /** Has the server give back the space of removed documents; false: it does not let us. */
  readonly compact: () => Promise<boolean>;
  /** Whether tombstones of this database can be purged: by this user, and exactly. */
  readonly mayPurge: () => Promise<boolean>;
  /** Those of the documents that are deleted. */
  readonly tombstones: (ids: readonly string[]) => Promise<Tombstones>;
  /** Purges tombstones, see `purgeTombstones`. */
  readonly purge: (tombstones: Tombstones) => ReturnType<typeof purgeTombstones>;
  /** One revision with its history and the bytes of its attachments, for another database. */
  readonly copy: (id: string, rev: string) => Promise<DocumentCopy | undefined>;
  /** Stores copies under their own revisions; resolves with those that were refused. */
  readonly putCopies: (docs: readonly DocumentCopy[]) => ReturnType<typeof writeCopies>;
  /** So long may a document be, in bytes of its JSON; CouchDB's default when we may not ask. */
  readonly documentLimit: () => Promise<number>;
  /** Deletes the revision `rev`; the result is as of a write. */
  readonly remove: (id: string, rev: string) => Promise<WriteResult>;
  /** @throws TwsError `view_missing` as well */
  readonly view: <N extends ViewName>(name: N, query?: ViewQuery) => Promise<readonly ViewRow<N>[]>;
  /** All rows of a view, read page by page; ends early when the signal aborts. Throws as `view` does. */
  readonly rows: <N extends ViewName>(
    name: N,
    query: ViewQuery,
    signal?: AbortSignal,
  ) => AsyncIterable<ViewRow<N>>;
  readonly follow: (options: FollowOptions) => AsyncIterable<Change>;
  /** What was last written through this store of a document, a moment ago; only while `kept` follows a feed. */
  readonly written: OwnWrite;
  /** Answers that are kept while somebody follows the feed by `kept.following`. */
  readonly kept: KeptAnswers;
  /** What has changed since a sequence until now, so many changes at most. */
  readonly changes: (since: string, limit: number) => Promise<PastChanges>;
  /** Ends when all writes have their results; later writes are refused as not known. */
  readonly close: () => Promise<void>;
};

/** A request of group commit: how many documents it had, and how long it took (ms). */
export type WriteBatch = { readonly documents: number; readonly ms: number };

export type StoreOptions = {
  readonly log?: StoreLog | undefined;
  /** Called with each batch of writes that was answered. */
  readonly onBatch?: ((batch: WriteBatch) => void) | undefined;
};

/** Opens a database; nothing is sent before the first request. */
export function openStore(connection: Connection, options: StoreOptions = {}): Store {
  const { log, onBatch } = options;
  const client = openClient(connection);
  const send = bulkSender(connection, client.exchange);
  const bulk = onBatch === undefined ? send : metered(send, onBatch);
  const sizes = createMemo<PageSize>(viewNames.length);
  const idsAtOnce = createPageSize(mostIds);
  const readDocuments: Store['getMany'] = (ids, { conflicts } = { conflicts: false }) =>
    documentsOf(client, ids, idsAtOnce, conflicts);
  const writer = createWriter({ bulk, large: largeSender(connection, client.exchange) });
  const kept = createKeptAnswers();
  const own = createOwnWrites();
  const write = hearing(writer.write, kept, own);
  return {
    connection,
    kept,
    info: () => readDatabase(client),
    movedTo: () => movedTo(client),
    get: (id) => readDocument(client, id, readDocuments),
    isDeleted: (id) => wasDeleted(client, id),
    leaves: createSharedReader({
      readOne: (id, copies) => readLeaves(client, id, copies, readDocuments),
      readMany: (ids, copies) => readLeavesOf(client, ids, copies),
    }),
    getMany: readDocuments,
    range: (prefix) => readRange(client, prefix),
    rangePages: (prefix, from) => readRangePages(client, prefix, from),
    exceeds: (prefix, most) => hasMore(client, prefix, most),
    write,
    attachment: (id, name, of) => readAttachment(client, id, name, of),
    compact: () => compactDatabase(client),
    mayPurge: () => mayPurge(client),
    tombstones: (ids) => readTombstones(client, ids),
    purge: (tombstones) => purgeTombstones(client, tombstones),
    copy: (id, rev) => readCopy(client, id, rev),
    putCopies: (docs) =>
      writeCopies(client, docs).finally(() => {
        for (const doc of docs) kept.doubt(doc._id, doc['type']);
      }),
    documentLimit: () => readDocumentLimit(client),
    remove: (id, rev) => write({ _id: id, _rev: rev, _deleted: true }),
    view: async (name, query = {}) => {
      const size = sizes(name, () => createPageSize(mostRows));
      return allRows(client, { name, query, size }, readDocuments);
    },
    rows: (name, query, signal) => {
      const read = (page: ViewQuery, mostBytes: number) => readView(client, name, page, mostBytes);
      return pagesOf(
        read,
        query,
        sizes(name, () => createPageSize(mostRows)),
        signal,
      );
    },
    follow: (follow) => followChanges(client, { ...follow, log, own: own.of }),
    written: (id) => (kept.isFollowing() ? own.of(id) : undefined),
    changes: (since, limit) => readChanges(client, since, limit),
    close: writer.close,
  };
}

/** Tells what keeps answers, and what was written here, of every write, before its result is told. */
function hearing(
  write: Store['write'],
  kept: KeptAnswers,
  own: ReturnType<typeof createOwnWrites>,
): Store['write'] {
  return async (doc, mostBytes) => {
    const result = await write(doc, mostBytes);
    if (result.kind !== 'written') kept.doubt(doc._id, doc['type']);
    else {
      const stored = doc['_deleted'] === true ? undefined : { ...doc, _rev: result.rev };
      if (kept.isFollowing()) own.note(doc._id, stored);
      kept.hear(doc._id, stored);
    }
    return result;
  };
}

function metered(send: SendBulk, onBatch: (batch: WriteBatch) => void): SendBulk {
  return async (json) => {
    const began = performance.now();
    const answer = await send(json);
    const rows = answer.kind === 'answered' && Array.isArray(answer.body) ? answer.body.length : 0;
    if (rows > 0) onBatch({ documents: rows, ms: performance.now() - began });
    return answer;
  };
}

/** Rows asked for in one request at most. */
const mostRows = 500;

/** Reads documents by their ids. */
type ReadMany = Store['getMany'];

async function readDocument(
  client: CouchClient,
  id: string,
  readDocuments: ReadMany,
): Promise<StoredDocument | undefined> {
  if (!isInReach(id)) return (await readDocuments([id])).get(id);
  const action = `read document "${id}"`;
  const path = databasePath(client.connection, documentPath(id));
  const reply = await client.ask({ path, action });
  if (reply.kind === 'refused') {
    if (reply.status === 404) return undefined;
    throw unexpected(client.connection, action, reply);
  }
  if (isDocument(reply.body)) return reply.body;
  throw notOfCouch(client, action, 'a document');
}

/** CouchDB answers 404 with the reason `deleted` when it knows a deleted revision, else `missing`. */
async function wasDeleted(client: CouchClient, id: string): Promise<boolean> {
  if (!isInReach(id)) return false;
  const action = `read document "${id}"`;
  const reply = await client.ask({
    path: databasePath(client.connection, documentPath(id)),
    action,
  });
  if (reply.kind === 'answered') return false;
  if (reply.status !== 404) throw unexpected(client.connection, action, reply);
  return reply.reason === 'deleted';
}

async function readLeaves(
  client: CouchClient,
  id: string,
  copies: number,
  readDocuments: ReadMany,
): Promise<readonly StoredDocument[]> {
  if (!isInReach(id)) return [...(await readDocuments([id])).values()];
  const action = `read the revisions of document "${id}"`;
  const path = databasePath(client.connection, documentPath(id));
  const query = { open_revs: 'all', r: copies };
  const reply = await client.ask({ path, query, action });
  if (reply.kind === 'refused') {
    if (reply.status === 404) return [];
    throw unexpected(client.connection, action, reply);
  }
  if (!Array.isArray(reply.body)) throw notOfCouch(client, action, 'a list of revisions');
  const rows = reply.body as readonly { readonly ok?: unknown }[];
  return rows.flatMap(({ ok }) => (isDocument(ok) && ok['_deleted'] !== true ? [ok] : []));
}

/**
 * Whether a document can be asked for by its path. Some ids would change the path instead of being
 * part of it, and where CouchDB has something else (`_all_docs`) there are no documents.
 */
function isInReach(id: string): boolean {
  return !['', '.', '..'].includes(id) && (!id.startsWith('_') || /^_(design|local)\/./.test(id));
}

type Wanted<N extends ViewName> = {
  readonly name: N;
  readonly query: ViewQuery;
  readonly size: PageSize;
};

/** The rows that are asked for; documents that weigh much are read by their ids, some at a time. */
async function allRows<N extends ViewName>(
  client: CouchClient,
  { name, query, size }: Wanted<N>,
  readDocuments: ReadMany,
): Promise<readonly ViewRow<N>[]> {
  const { includeDocs = false, conflicts, ...bare } = query;
  const isLight = !includeDocs || conflicts === true || size.documents() === mostRows;
  if (isLight) {
    const rows = await readView(client, name, query, mostBytesOf(includeDocs ? mostRows : 1));
    if (rows !== undefined) return rows;
    size.wasTooLong();
  }
  const rows = (await readView(client, name, bare, Infinity)) ?? [];
  const docs = await readDocuments([...new Set(rows.map(({ id }) => id))]);
  size.came(rows.length);
  return rows.map((row) => {
    const doc = docs.get(row.id);
    return doc === undefined ? row : { ...row, doc };
  });
}

async function readView<N extends ViewName>(
  client: CouchClient,
  name: N,
  query: ViewQuery,
  mostBytes: number,
): Promise<readonly ViewRow<N>[] | undefined> {
  const { connection } = client;
  const request = viewRequest(connection, name, query);
  const reply = await client.askWithin(request, mostBytes);
  if (reply === undefined) return undefined;
  if (reply.kind === 'answered') {
    const rows = viewRows<N>(reply.body);
    if (rows !== undefined) return rows;
    throw notOfCouch(client, request.action, 'a list of rows');
  }
  const { database, app } = connection;
  if (reply.status === 404) throw problem('view_missing', { database, app, view: name });
  throw unexpected(connection, request.action, reply);
}
