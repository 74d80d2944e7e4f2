import type { StoredDocument } from '../model/document.js';
import type { BulkAnswer } from './batch.js';
import { isDocument } from './change.js';
import { databasePath, documentPath, unexpected, type CouchClient } from './client.js';

/** A document as another database takes it: its history, and its attachments as base64. */
export type DocumentCopy = StoredDocument;

/**
 * One revision of a document with its history and the bytes of its attachments; undefined when it is not
 * there any more. @throws TwsError those of `CouchClient.ask`
 */
export async function readCopy(
  client: CouchClient,
  id: string,
  rev: string,
): Promise<DocumentCopy | undefined> {
  const action = `copy document "${id}"`;
  const path = databasePath(client.connection, documentPath(id));
  const query = { rev, revs: true, attachments: true };
  const reply = await client.ask({ path, query, action, long: true });
  if (reply.kind === 'answered') return isDocument(reply.body) ? reply.body : undefined;
  if (reply.status === 404) return undefined;
  throw unexpected(client.connection, action, reply);
}

/**
 * Stores copies under their own revisions, as a replication does: what is there already stays as it is.
 * Resolves with the ids that were refused, with the reason.
 * @throws TwsError those of `CouchClient.ask`
 */
export async function writeCopies(
  client: CouchClient,
  docs: readonly DocumentCopy[],
): Promise<readonly { readonly id: string; readonly reason: string }[]> {
  const action = 'store copies of documents';
  const path = databasePath(client.connection, '/_bulk_docs');
  const body = { new_edits: false, docs };
  const reply = await client.ask({ method: 'POST', path, body, action, long: true });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  return refusalsIn(reply.body);
}

function refusalsIn(body: Extract<BulkAnswer, { readonly kind: 'answered' }>['body']) {
  if (!Array.isArray(body)) return [];
  const rows = body as readonly { id?: unknown; error?: unknown; reason?: unknown }[];
  return rows
    .filter(({ error }) => error !== undefined)
    .map(({ id, error, reason }) => ({ id: String(id), reason: String(reason ?? error) }));
}
