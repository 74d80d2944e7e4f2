import { problem, TwsError } from '../errors.js';
import { ownerOf } from '../model/task.js';
import type { Connection } from '../store/connection.js';
import { assertMayErase, eraseDocuments } from '../store/erase.js';
import { recordAccess, type Accessor } from './accesses.js';
import type { SubjectOf, VaultParts } from './parts.js';

/** The two databases. */
export type VaultPlaces = { readonly values: Connection; readonly keys: Connection };

/**
 * Destroys the keys of subjects, then their values; resolves with those that there were. Each is on record before.
 * @throws TwsError `sensitive_purge_refused`
 */
export async function purgeSubjects(
  parts: VaultParts,
  at: VaultPlaces,
  given: readonly SubjectOf[],
  by: Accessor,
): Promise<readonly SubjectOf[]> {
  await mayPurgeAt(at);
  const subjects = await ownedOf(parts, given);
  for (const of of subjects) await recordAccess(parts, { ...of, ...by, names: [] }, 'purge');
  const ids = subjects.map(({ subject }) => subject);
  const gone = new Set([
    ...(await eraseDocuments(at.keys, ids)),
    ...(await eraseDocuments(at.values, ids)),
  ]);
  return subjects.filter(({ subject }) => gone.has(subject));
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
