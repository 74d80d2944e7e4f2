import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { problem } from '../errors.js';
import { serverUrl, type Connection } from '../store/connection.js';
import type { RowPosition } from './search-rows.js';

const method = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/**
 * Writes a place of a search so that nobody can read it: the row that it stands at may be that of a job
 * that whoever searches must not see. Every process that works with the same database can read it.
 */
export function cursorOf(connection: Connection, { when, id }: RowPosition): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(method, keyOf(connection), iv);
  const text = Buffer.concat([cipher.update(JSON.stringify([when, id])), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
}

/** @throws TwsError `cursor_invalid` */
export function positionIn(connection: Connection, cursor: string): RowPosition {
  try {
    const bytes = Buffer.from(cursor, 'base64url');
    const iv = bytes.subarray(0, ivBytes);
    const tag = bytes.subarray(ivBytes, ivBytes + tagBytes);
    const decipher = createDecipheriv(method, keyOf(connection), iv, { authTagLength: tagBytes });
    decipher.setAuthTag(tag);
    const text = Buffer.concat([
      decipher.update(bytes.subarray(ivBytes + tagBytes)),
      decipher.final(),
    ]);
    const [when, id] = JSON.parse(text.toString('utf8')) as readonly [number, string];
    return { when, id };
  } catch {
    throw problem('cursor_invalid', {});
  }
}

/** What only those know who may read the whole database. */
function keyOf(connection: Connection): Buffer {
  const { user = '', password = '', database } = connection;
  const secret = ['cursor', serverUrl(connection), database, user, password].join('\n');
  return createHash('sha256').update(secret).digest();
}
