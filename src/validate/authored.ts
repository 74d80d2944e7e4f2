import { createHash } from 'node:crypto';
import { canonical } from '../model/canonical.js';
import type { StoredDocument } from '../model/document.js';
import { engineKeysOf } from './document.js';
import type { Written } from './written.js';

/** Returns the part of a document that its author writes. */
export function withoutEngineFields(kind: string, doc: Written): Record<string, unknown> {
  const keys = engineKeysOf(kind);
  return Object.fromEntries(Object.entries(doc).filter(([key]) => !keys.includes(key)));
}

/** Returns the part of a document that engines write: it stays as it is stored, whatever is sent. */
export function engineFieldsIn(
  kind: string,
  doc: StoredDocument | undefined,
): Record<string, unknown> {
  const keys = engineKeysOf(kind);
  return Object.fromEntries(Object.entries(doc ?? {}).filter(([key]) => keys.includes(key)));
}

/**
 * What an author's part of a document is called: another one when that is changed, the same while only
 * engines write the document. It serves as `etag` of a schedule, whose revision changes with each slot.
 */
export function authoredEdition(kind: string, { _rev, ...doc }: StoredDocument): string {
  const text = canonical(withoutEngineFields(kind, doc));
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
