import { TwsError } from '../errors.js';
import type { CouchClient } from './client.js';

/** CouchDB's own default for `max_document_size`, bytes. */
export const usualDocumentLimit = 8_000_000;

/**
 * So long may a document be, in bytes of its JSON without attachments. Only a server admin may ask;
 * for anybody else it is CouchDB's default.
 *
 * @throws TwsError `couch_unreachable`
 */
export async function readDocumentLimit(client: CouchClient): Promise<number> {
  try {
    // The value alone would be a text of JSON, which the client takes for something cut off.
    const path = '/_node/_local/_config/couchdb';
    const reply = await client.ask({ path, action: 'tell the limit of documents' });
    return reply.kind === 'answered' ? limitOf(reply.body as Section) : usualDocumentLimit;
  } catch (error) {
    if (!(error instanceof TwsError) || error.code === 'couch_unreachable') throw error;
    return usualDocumentLimit;
  }
}

type Section = { readonly max_document_size?: unknown };

function limitOf({ max_document_size: value }: Section): number {
  const limit = value === 'infinity' ? Infinity : Number(value);
  return limit > 0 ? limit : usualDocumentLimit;
}
