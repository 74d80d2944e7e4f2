import { problem } from '../errors.js';
import type { StoredDocument } from '../model/parse.js';
import type { WriteResult } from './batch.js';
import { bulkSender } from './bulk.js';
import { readAttachment, type OfRevision } from './attachment.js';
import { isDocument, type Change } from './change.js';
import { openClient, unexpected, type Ask, type Client } from './client.js';
import { databasePath, documentPath, type Connection } from './connection.js';
import { readDatabase, type DatabaseState } from './database-state.js';
import { readDocumentLimit } from './document-limit.js';
import { followChanges, type FollowOptions } from './feed.js';
import { readChanges, type PastChanges } from './past-changes.js';
import type { StoreLog } from './log.js';
import { viewRequest, viewRows, type ViewName, type ViewQuery, type ViewRow } from './views.js';
import { createWriter, type NewDocument, type SendBulk } from './writer.js';

/**
 * One database. What is read throws the problems of `Client.ask`; what is written has a result and
 * never throws; the feed does neither, it tells its state.
 */
export type Store = {
  readonly connection: Connection;
  readonly info: () => Promise<DatabaseState>;
  /** The current revision of a document; undefined when there is none or it is deleted. */
  readonly get: (id: string) => Promise<StoredDocument | undefined>;
  /** Whether a document is not there because somebody deleted it; as of the moment when it is asked. */
  readonly isDeleted: (id: string) => Promise<boolean>;
  /** All revisions of a document on which nobody has written yet, read from so many copies. */
  readonly tips: (id: string, copies: number) => Promise<readonly StoredDocument[]>;
  /** Those of the documents that exist, by id. */
  readonly getMany: (ids: readonly string[]) => Promise<ReadonlyMap<string, StoredDocument>>;
  /** The documents whose ids begin so. */
  readonly range: (prefix: string) => Promise<readonly StoredDocument[]>;
  /** Whether there are more than so many documents whose ids begin so. */
  readonly exceeds: (prefix: string, most: number) => Promise<boolean>;
  /**
   * Compare-and-set on `_rev` (without: the document must not exist), by group commit. A document
   * longer than `mostBytes` is refused at once.
   */
  readonly write: (doc: NewDocument, mostBytes?: number) => Promise<WriteResult>;
  /** The text of an attachment, of the current or that revision; undefined when there is none. */
  readonly attachment: (id: string, name: string, of?: OfRevision) => Promise<string | undefined>;
  /** So long may a document be, in bytes of its JSON; CouchDB's default when we may not ask. */
  readonly documentLimit: () => Promise<number>;
  /** Deletes the revision `rev`; the result is as of a write. */
  readonly remove: (id: string, rev: string) => Promise<WriteResult>;
  /** @throws TwsError `view_missing` as well */
  readonly view: <N extends ViewName>(name: N, query?: ViewQuery) => Promise<readonly ViewRow<N>[]>;
  readonly follow: (options: FollowOptions) => AsyncIterable<Change>;
  /** What has changed since a sequence until now, so many changes at most. */
  readonly changes: (since: string, limit: number) => Promise<PastChanges>;
  /** Ends when all writes have their results; later writes are refused as not known. */
  readonly close: () => Promise<void>;
};

/** A request of group commit: how many documents it had, and how long it took (ms). */
export type Batch = { readonly documents: number; readonly ms: number };

export type StoreOptions = {
  readonly log?: StoreLog | undefined;
  /** Told each batch of writes that was answered. */
  readonly onBatch?: ((batch: Batch) => void) | undefined;
};

/** Opens a database; nothing is sent before the first request. */
export function openStore(connection: Connection, options: StoreOptions = {}): Store {
  const { log, onBatch } = options;
  const client = openClient(connection);
  const send = bulkSender(connection, client.exchange);
  const writer = createWriter(onBatch === undefined ? send : metered(send, onBatch));
  return {
    connection,
    info: () => readDatabase(client),
    get: (id) => readDocument(client, id),
    isDeleted: (id) => wasDeleted(client, id),
    tips: (id, copies) => readTips(client, id, copies),
    getMany: (ids) => readDocuments(client, ids),
    range: (prefix) => readRange(client, prefix),
    exceeds: (prefix, most) => hasMore(client, prefix, most),
    write: writer.write,
    attachment: (id, name, of) => readAttachment(client, id, name, of),
    documentLimit: () => readDocumentLimit(client),
    remove: (id, rev) => writer.write({ _id: id, _rev: rev, _deleted: true }),
    view: (name, query = {}) => readView(client, name, query),
    follow: (follow) => followChanges(client, { ...follow, log }),
    changes: (since, limit) => readChanges(client, since, limit),
    close: writer.close,
  };
}

function metered(send: SendBulk, onBatch: (batch: Batch) => void): SendBulk {
  return async (json) => {
    const began = performance.now();
    const answer = await send(json);
    const rows = answer.kind === 'answered' && Array.isArray(answer.body) ? answer.body.length : 0;
    if (rows > 0) onBatch({ documents: rows, ms: performance.now() - began });
    return answer;
  };
}

async function readDocument(client: Client, id: string): Promise<StoredDocument | undefined> {
  if (!isInReach(id)) return (await readDocuments(client, [id])).get(id);
  const action = `read document "${id}"`;
  const path = databasePath(client.connection, documentPath(id));
  const reply = await client.ask({ path, action, holding: 'document' });
  if (reply.kind === 'refused') {
    if (reply.status === 404) return undefined;
    throw unexpected(client.connection, action, reply);
  }
  if (isDocument(reply.body)) return reply.body;
  throw notOfCouch(client, action, 'a document');
}

/** CouchDB answers 404 with the reason `deleted` when it knows a deleted revision, else `missing`. */
async function wasDeleted(client: Client, id: string): Promise<boolean> {
  if (!isInReach(id)) return false;
  const action = `read document "${id}"`;
  const reply = await client.ask({
    path: databasePath(client.connection, documentPath(id)),
    action,
    holding: 'document',
  });
  if (reply.kind === 'answered') return false;
  if (reply.status !== 404) throw unexpected(client.connection, action, reply);
  return reply.reason === 'deleted';
}

async function readTips(
  client: Client,
  id: string,
  copies: number,
): Promise<readonly StoredDocument[]> {
  if (!isInReach(id)) return [...(await readDocuments(client, [id])).values()];
  const action = `read the revisions of document "${id}"`;
  const path = databasePath(client.connection, documentPath(id));
  const query = { open_revs: 'all', r: copies };
  const reply = await client.ask({ path, query, action, holding: 'revisions' });
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

/** Ids asked for in one request. */
const chunk = 1_000;

async function readDocuments(
  client: Client,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredDocument>> {
  const found = new Map<string, StoredDocument>();
  for (let from = 0; from < ids.length; from += chunk) {
    const keys = ids.slice(from, from + chunk);
    const rows = await readRows(client, { method: 'POST', body: { keys } });
    for (const { doc } of rows) {
      if (doc !== undefined && doc['_deleted'] !== true) found.set(doc._id, doc);
    }
  }
  return found;
}

async function readRange(client: Client, prefix: string): Promise<readonly StoredDocument[]> {
  const query = { start_key: prefix, end_key: `${prefix}\ufff0` };
  return (await readRows(client, { query })).flatMap(({ doc }) => doc ?? []);
}

async function hasMore(client: Client, prefix: string, most: number): Promise<boolean> {
  const within = { start_key: prefix, end_key: `${prefix}\ufff0` };
  const query = { ...within, include_docs: false, skip: most, limit: 1 };
  return (await readRows(client, { query })).length > 0;
}

/** Rows of `_all_docs`, with documents. */
async function readRows(
  client: Client,
  request: Pick<Ask, 'method' | 'query' | 'body'>,
): Promise<readonly ViewRow[]> {
  const action = 'read documents';
  const path = databasePath(client.connection, '/_all_docs');
  const query = { include_docs: true, ...request.query };
  const reply = await client.ask({ ...request, path, query, action, long: true, holding: 'rows' });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  const rows = viewRows(reply.body);
  if (rows === undefined) throw notOfCouch(client, action, 'a list of rows');
  return rows;
}

/** Nothing follows from an answer that something else gave: not that there is no such document. */
function notOfCouch({ connection }: Client, action: string, wanted: string) {
  return unexpected(connection, action, { status: 200, reason: `the answer is not ${wanted}` });
}

async function readView<N extends ViewName>(
  client: Client,
  name: N,
  query: ViewQuery,
): Promise<readonly ViewRow<N>[]> {
  const { connection } = client;
  const request = viewRequest(connection, name, query);
  const reply = await client.ask(request);
  if (reply.kind === 'answered') {
    const rows = viewRows<N>(reply.body);
    if (rows !== undefined) return rows;
    throw notOfCouch(client, request.action, 'a list of rows');
  }
  const { database, app } = connection;
  if (reply.status === 404) throw problem('view_missing', { database, app, view: name });
  throw unexpected(connection, request.action, reply);
}
