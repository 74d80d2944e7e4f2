import { createHash } from 'node:crypto';

/** The id of the lock document for a text that says what is locked. */
export function lockIdOf(text: string): string {
  return `lock:${createHash('sha256').update(text).digest('hex')}`;
}
