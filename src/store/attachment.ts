import { problem } from '../errors.js';
import { causeOf } from './causes.js';
import { unexpected } from './client.js';
import {
  credentialsOf,
  databasePath,
  documentPath,
  serverUrl,
  type Connection,
} from './connection.js';

const timeoutMs = 60_000;

/** A revision that may be on some copies of a document only, read from so many of them. */
export type OfRevision = { readonly rev: string; readonly copies: number };

/**
 * The text of an attachment, of the current or that revision; undefined when there is none of that
 * name. nano is not used here because it makes a value of JSON, and a text that is JSON could not be
 * told from one cut off.
 *
 * @throws TwsError `couch_unreachable`, `couch_failed`
 */
export async function readAttachment(
  connection: Connection,
  id: string,
  name: string,
  of?: OfRevision,
): Promise<string | undefined> {
  const url = serverUrl(connection);
  const query = of === undefined ? '' : `?rev=${encodeURIComponent(of.rev)}&r=${of.copies}`;
  const path = databasePath(connection, `${documentPath(id)}/${encodeURIComponent(name)}${query}`);
  const headers = credentialsOf(connection);
  const options = { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) } as const;
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url}${path}`, options);
    text = await response.text();
  } catch (error) {
    throw problem('couch_unreachable', { url, cause: causeOf(error) });
  }
  if (response.status === 200) return text;
  if (response.status === 404) return undefined;
  const reason = text.slice(0, mostReason);
  throw unexpected(connection, `read attachment "${name}" of document "${id}"`, {
    status: response.status,
    reason,
  });
}

/** Of an unexpected answer so many characters are told. */
const mostReason = 200;
