import { isJsonObject } from '../http/body.js';
import { CouchError, refuse } from '../http/couch-error.js';
import type { Doc } from '../storage/storage.js';

const KEPT = ['data', 'digest', 'content_type', 'length', 'revpos', 'stub'];

/** Checks the attachments of documents about to be written. @throws CouchError 400 */
export async function prepareAttachments(docs: readonly Doc[]): Promise<void> {
  for (const doc of docs) {
    const { _attachments: attachments } = doc;
    if (attachments === undefined) continue;
    if (!isJsonObject(attachments)) throw refuse.badRequest('Attachments must be a JSON object');
    if (doc._deleted === true || Object.keys(attachments).length === 0) {
      delete doc['_attachments'];
      continue;
    }
    const entries = Object.entries(attachments).map(([name, value]) => [name, check(name, value)]);
    doc['_attachments'] = Object.fromEntries(entries);
  }
}

function check(name: string, value: unknown): Record<string, unknown> {
  checkAttachmentName(name);
  if (!isJsonObject(value)) throw refuse.badRequest(`Attachment ${name} must be a JSON object`);
  const kept = Object.fromEntries(Object.entries(value).filter(([key]) => KEPT.includes(key)));
  if (kept['stub'] === true) {
    if (typeof kept['digest'] !== 'string') {
      throw new CouchError(412, 'missing_stub', `Attachment stub of ${name} has no digest`);
    }
    return kept;
  }
  const { data } = kept;
  if (Buffer.isBuffer(data)) return { content_type: 'application/octet-stream', ...kept };
  if (typeof data !== 'string' || !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data)) {
    throw refuse.badRequest(`Invalid attachment data for ${name}`);
  }
  return {
    content_type: 'application/octet-stream',
    ...kept,
    data: Buffer.from(data, 'base64'),
  };
}

/** Checks the name of an attachment. @throws CouchError 400 */
export function checkAttachmentName(name: string): void {
  if (name === '' || name.startsWith('_')) {
    throw refuse.badRequest(
      `Attachment name '${name}' is illegal: it must not be empty or start with '_'`,
    );
  }
}
