import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

import type { Doc } from './storage.js';

/** So many bytes are hashed at once: a few milliseconds. */
const PIECE_BYTES = 1024 * 1024;

/**
 * Gives the bodies of attachments their digests, piece by piece. PouchDB makes the id of a revision from
 * the JSON of the document: there a digest stands for the bytes, of which each would become a number in
 * a list.
 */
export async function digestBodies(docs: readonly Doc[]): Promise<void> {
  for (const doc of docs) {
    for (const about of Object.values((doc['_attachments'] ?? {}) as Record<string, unknown>)) {
      const { data } = about as { readonly data?: unknown };
      if (!Buffer.isBuffer(data) || Object.hasOwn(data, 'toJSON')) continue;
      const digest = await digestOf(data);
      Object.defineProperty(data, 'toJSON', { value: () => digest });
    }
  }
}

/** The MD5 of bytes in base64. */
export async function digestOf(bytes: Buffer): Promise<string> {
  const hash = createHash('md5');
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    if (from > 0) await turn();
    hash.update(bytes.subarray(from, from + PIECE_BYTES));
  }
  return hash.digest('base64');
}
