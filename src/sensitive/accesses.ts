import { randomUUID } from 'node:crypto';
import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { ownerOf } from '../model/task.js';
import { stored, type SubjectOf, type VaultParts } from './parts.js';

/** Who does something with values, and why. */
export type Accessor = { readonly who: string; readonly why?: string | undefined };

/** Which records of accesses are wanted. */
export type AccessFilter = {
  readonly owners?: readonly string[] | undefined;
  readonly subject?: string | undefined;
  /** Epoch ms. */
  readonly since?: number | undefined;
  /** Id of a record: only those after it. */
  readonly after?: string | undefined;
  readonly most?: number | undefined;
};

const prefix = 'access:';
/** The last moment whose year has four digits: as texts, later ones would come before. */
const lastMoment = Date.UTC(10_000, 0) - 1;

/** Stores a record of what is about to be done. */
export async function recordAccess(
  { values, now }: VaultParts,
  { who, why, owner, subject, names }: SubjectOf & Accessor & { readonly names: readonly string[] },
  how: 'get' | 'put' | 'purge',
): Promise<void> {
  const at = now();
  const _id = `${prefix}${new Date(at).toISOString()}:${randomUUID()}`;
  const more = why === undefined ? {} : { why };
  const about = { type: 'sensitive-access', who, at, owner, subject, names, how, ...more };
  if (!(await stored(values, { _id, ...about }))) throw problem('document_conflict', { id: _id });
}

/** The records, the oldest first. */
export async function readAccesses(
  { values }: VaultParts,
  { owners, subject, since = 0, after = '', most = Infinity }: AccessFilter,
): Promise<readonly StoredDocument[]> {
  const begin =
    since === 0 ? prefix : `${prefix}${new Date(Math.min(since, lastMoment)).toISOString()}`;
  const found: StoredDocument[] = [];
  for await (const doc of values.rangePages(prefix, after > begin ? after : begin)) {
    if (found.length >= most) break;
    const isMeant =
      doc._id !== after &&
      (owners === undefined || owners.includes(ownerOf(doc))) &&
      (subject === undefined || doc['subject'] === subject);
    if (isMeant) found.push(doc);
  }
  return found;
}
