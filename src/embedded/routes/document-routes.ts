import type { IncomingMessage } from 'node:http';

import { prepareAttachments } from '../databases/attachments.js';
import type { Database } from '../databases/database.js';
import { checkId, checkRev, parseDoc } from '../databases/writes.js';
import { CouchError, notFound, refuse } from '../http/couch-error.js';
import {
  MAX_BINARY_BYTES,
  MAX_JSON_BYTES,
  parseJsonBytes,
  readBody,
  readJsonBody,
  requireJsonType,
} from '../http/body.js';
import { sendJson, type Exchange } from '../http/exchange.js';
import { parseJson, type RequestQuery } from '../http/query.js';
import { isMultipart, sendMixed, readRelated } from '../http/multipart.js';
import { Absent, type Doc, type ReadOptions, type DocWriteResult } from '../storage/storage.js';

/** Documents may be this large as JSON, bytes: CouchDB's `max_document_size`. */
const MAX_DOCUMENT_BYTES = 8_000_000;

/** GET and HEAD of a document. */
export async function getDocument(x: Exchange, { store }: Database, id: string): Promise<void> {
  const { query } = x;
  if (id.startsWith('_local/')) return getLocal(x, store.getLocal(id));
  const options = readOptions(query);
  const open = query.text('open_revs');
  if (open !== undefined) {
    const revs = open === 'all' ? 'all' : listOfRevs(parseJson(open));
    const mixed = wantsMixed(x);
    const found = await store.openRevs(
      id,
      revs,
      mixed ? { ...options, attachments: true } : options,
    );
    if (revs === 'all' && found.length === 0) throw refuse.missing();
    if (mixed) return sendMixed(x, found);
    return sendJson(x, 200, found);
  }
  const doc = await store.get(id, options);
  if (doc instanceof Absent) throw notFound(doc);
  const etag = `"${doc._rev}"`;
  if (x.request.headers['if-none-match'] === etag && query.all()['rev'] === undefined) {
    x.response.writeHead(304, { etag }).end();
    return;
  }
  sendJson(x, 200, doc, { etag });
}

async function getLocal(x: Exchange, reading: Promise<Doc | undefined>): Promise<void> {
  const doc = await reading;
  if (doc === undefined) throw refuse.missing();
  sendJson(x, 200, doc, { etag: `"${doc._rev}"` });
}

/** Replicators ask for `multipart/mixed` to get attachments unencoded. */
const wantsMixed = ({ request }: Exchange): boolean =>
  (request.headers.accept ?? '').includes('multipart/mixed');

/** What a request wants to see of a document. @throws CouchError 400 */
export function readOptions(query: RequestQuery): ReadOptions {
  const rev = query.text('rev');
  checkRev(rev);
  const meta = query.flag('meta') === true;
  return {
    ...(rev === undefined ? {} : { rev }),
    latest: query.flag('latest') === true,
    revs: query.flag('revs') === true,
    revsInfo: meta || query.flag('revs_info') === true,
    conflicts: meta || query.flag('conflicts') === true,
    deletedConflicts: meta || query.flag('deleted_conflicts') === true,
    localSeq: query.flag('local_seq') === true,
    attachments: query.flag('attachments') === true,
  };
}

function listOfRevs(value: unknown): string[] {
  if (!Array.isArray(value)) throw refuse.badRequest('open_revs must be `all` or a JSON array');
  for (const rev of value as unknown[]) checkRev(rev);
  return value as string[];
}

/** PUT of a document. */
export async function putDocument(x: Exchange, database: Database, id: string): Promise<void> {
  checkId(id);
  const contentType = x.request.headers['content-type'] ?? '';
  const sent = isMultipart(contentType)
    ? readRelated(await readBody(x.request, MAX_BINARY_BYTES), contentType)
    : parseJsonBytes(await readBody(x.request, MAX_JSON_BYTES));
  const doc = parseDoc(sent, id);
  const rev = revisionNamed(x, doc._rev);
  if (rev !== undefined) doc._rev = rev;
  const newEdits = x.query.flag('new_edits') !== false;
  await writeOne(x, database, doc, { newEdits, status: doc._deleted === true ? 200 : 201 });
}

/** POST of a document to its database. */
export async function postDocument(x: Exchange, database: Database): Promise<void> {
  requireJsonType(x.request);
  await writeOne(x, database, parseDoc(await readJsonBody(x.request)), { status: 201 });
}

/** DELETE of a document: a tombstone is written. */
export async function deleteDocument(x: Exchange, database: Database, id: string): Promise<void> {
  const rev = revisionNamed(x, undefined);
  if (id.startsWith('_local/')) {
    if (!(await database.store.removeLocal(id))) throw refuse.missing();
    return sendJson(x, 200, { ok: true, id, rev: '0-0' });
  }
  const stored = await database.store.get(id);
  if (stored instanceof Absent && rev === undefined) throw notFound(stored);
  if (stored instanceof Absent && stored.why === 'missing') throw notFound(stored);
  if (rev === undefined) throw refuse.conflict();
  await writeOne(x, database, { _id: id, _rev: rev, _deleted: true }, { status: 200 });
}

/** COPY of a document to the id (and `?rev=`) in the `Destination` header. */
export async function copyDocument(x: Exchange, database: Database, id: string): Promise<void> {
  const destination = x.request.headers['destination'];
  if (typeof destination !== 'string') {
    throw refuse.badRequest('Destination header is mandatory for COPY.');
  }
  const [target = '', search = ''] = destination.split('?');
  const rev = new URLSearchParams(search).get('rev') ?? undefined;
  checkRev(rev);
  const source = await database.store.get(id, { ...readOptions(x.query), attachments: true });
  if (source instanceof Absent) throw notFound(source);
  const { _rev, ...body } = source;
  const copy = { ...body, _id: checkId(decodeURIComponent(target)) };
  await writeOne(x, database, rev === undefined ? copy : { ...copy, _rev: rev }, { status: 201 });
}

/** The revision a write names in `?rev=`, `If-Match` or the body; they must agree. */
export function revisionNamed(x: Exchange, inBody: string | undefined): string | undefined {
  const inQuery = x.query.text('rev');
  const etag = x.request.headers['if-match']?.replace(/^"(.*)"$/, '$1');
  checkRev(inQuery);
  checkRev(etag);
  if (inQuery !== undefined && etag !== undefined && inQuery !== etag) {
    throw refuse.badRequest('Document rev and etag have different values');
  }
  const outside = inQuery ?? etag;
  if (outside !== undefined && inBody !== undefined && outside !== inBody) {
    throw refuse.badRequest(
      'Document rev from request body and query string have different values',
    );
  }
  return outside ?? inBody;
}

/** Writes one document and answers as CouchDB does. */
export async function writeOne(
  x: Exchange,
  database: Database,
  doc: Doc,
  { newEdits = true, status }: { readonly newEdits?: boolean; readonly status: number },
): Promise<void> {
  checkSize(doc);
  await prepareAttachments([doc]);
  const [result] = await database.write([doc], { user: x.user, newEdits });
  if (result === undefined) {
    // Replicated revisions answer only when they are refused.
    return sendJson(x, 201, { ok: true, id: doc._id, rev: doc._rev });
  }
  const written = assertWritten(result);
  sendJson(x, x.query.text('batch') === 'ok' ? 202 : status, written, {
    etag: `"${written.rev}"`,
    location: `/${encodeURIComponent(database.name)}/${encodeURIComponent(doc._id)}`,
  });
}

/** @throws CouchError for a result that is a refusal */
export function assertWritten(result: DocWriteResult): Extract<DocWriteResult, { ok: true }> {
  if ('ok' in result) return result;
  throw new CouchError(result.status, result.error, result.reason);
}

/**
 * Whether no document of a request can be over the limit: written out anew JSON grows to 5.3 times
 * its length at most (`1e20`).
 */
export function isSmall({ headers }: IncomingMessage): boolean {
  const length = Number(headers['content-length'] ?? Infinity);
  return headers['content-encoding'] === undefined && length < MAX_DOCUMENT_BYTES / 8;
}

/** @throws CouchError 413 for a document over CouchDB's limit, attachments apart */
export function checkSize(doc: Doc): void {
  const { _attachments, ...body } = doc;
  const json = JSON.stringify(body);
  if (json.length > MAX_DOCUMENT_BYTES / 4 && Buffer.byteLength(json) > MAX_DOCUMENT_BYTES) {
    throw new CouchError(413, 'document_too_large', doc._id);
  }
}
