import { problem } from '../errors.js';
import { unexpected, type CouchClient, databasePath, documentPath } from './client.js';
import { serverUrl } from './connection.js';
import { createPatience } from './exchange.js';

/** A revision that may be on some copies of a document only, read from so many of them. */
export type OfRevision = { readonly rev: string; readonly copies: number };

const patience = createPatience();

/**
 * The text of an attachment, of the current or that revision; undefined when there is none of that
 * name. It may be JSON itself, so it is not read as an answer of CouchDB.
 *
 * @throws TwsError `couch_unreachable`, `couch_failed`
 */
export async function readAttachment(
  { connection, exchange }: CouchClient,
  id: string,
  name: string,
  of?: OfRevision,
): Promise<string | undefined> {
  const query = of === undefined ? '' : `?rev=${encodeURIComponent(of.rev)}&r=${of.copies}`;
  const path = databasePath(connection, `${documentPath(id)}/${encodeURIComponent(name)}${query}`);
  const answer = await exchange.send({ method: 'GET', path, patience });
  if (answer.kind === 'failed') {
    throw problem('couch_unreachable', { url: serverUrl(connection), cause: answer.cause });
  }
  const { status, text } = answer;
  if (status === 200) return text;
  if (status === 404 && isOfCouch(text)) return undefined;
  const reason = text.slice(0, mostReason);
  throw unexpected(connection, `read attachment "${name}" of document "${id}"`, { status, reason });
}

/** A proxy, too, may say that there is no such thing. */
function isOfCouch(text: string): boolean {
  try {
    const { error } = (JSON.parse(text) ?? {}) as { readonly error?: unknown };
    return error === 'not_found';
  } catch {
    return false;
  }
}

/** Of an unexpected answer so many characters are told. */
const mostReason = 200;
