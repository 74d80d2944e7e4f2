import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { ownerOf } from '../model/task.js';
import type { Connection } from '../store/connection.js';
import { assertMayErase, eraseDocuments } from '../store/erase.js';
import { recordAccess, type Accessor } from './accesses.js';
import type { SubjectOf, VaultParts } from './parts.js';

/** The two databases. */
export type VaultPlaces = { readonly values: Connection; readonly keys: Connection };

/** Who purges, and why. `isDue`: whether values that are stored are still meant; absent: they are. */
export type Purging = Accessor & { readonly isDue?: (stored: StoredDocument) => boolean };

/**
 * Destroys the keys of subjects, then their values; resolves with those that there were. Each is on record before.
 * What was stored anew meanwhile, so that it is not due any more, stays.
 * @throws TwsError `sensitive_purge_refused`
 */
export async function purgeSubjects(
  parts: VaultParts,
  at: VaultPlaces,
  given: readonly SubjectOf[],
  { isDue = () => true, ...by }: Purging,
): Promise<readonly SubjectOf[]> {
  await mayPurgeAt(at);
  const subjects = await ownedOf(parts, given);
  for (const of of subjects) await recordAccess(parts, { ...of, ...by, names: [] }, 'purge');
  const ids = await dueIn(
    parts,
    subjects.map(({ subject }) => subject),
    isDue,
  );
  const gone = new Set(await eraseDocuments(at.keys, ids));
  // Values that were stored since then have a key of their own.
  const left = await dueIn(parts, ids, isDue);
  for (const id of await eraseDocuments(at.values, left)) gone.add(id);
  return subjects.filter(({ subject }) => gone.has(subject));
}

/** Those of the subjects whose values are still meant, or are gone. */
async function dueIn(
  { values }: VaultParts,
  ids: readonly string[],
  isDue: NonNullable<Purging['isDue']>,
): Promise<readonly string[]> {
  const docs = await values.getMany(ids);
  return ids.filter((id) => {
    const doc = docs.get(id);
    return doc === undefined || isDue(doc);
  });
}

async function mayPurgeAt({ keys, values }: VaultPlaces): Promise<void> {
  try {
    await assertMayErase(keys);
    await assertMayErase(values);
  } catch (error) {
    const isRefused = error instanceof TwsError && error.code === 'couch_not_admin';
    throw isRefused ? problem('sensitive_purge_refused', {}) : error;
  }
}

/** Without those whose key or values belong to another owner; a purge that was interrupted leaves nothing that tells. */
async function ownedOf(
  { values, keys }: VaultParts,
  subjects: readonly SubjectOf[],
): Promise<readonly SubjectOf[]> {
  const ids = subjects.map(({ subject }) => subject);
  const there = [await keys.getMany(ids), await values.getMany(ids)];
  return subjects.filter(({ owner, subject }) =>
    there.every((docs) => {
      const doc = docs.get(subject);
      return doc === undefined || ownerOf(doc) === owner;
    }),
  );
}
