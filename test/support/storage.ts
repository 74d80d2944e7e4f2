import { isStorageKind, storageKinds, type StorageKind } from '../../src/storage-kinds.js';

/**
 * What the embedded servers of tests keep their databases in: `TWS_TESTS_STORAGE`, else what they take by
 * themselves. Throws for any other value.
 */
export function storageOfTests(): { readonly storage?: StorageKind } {
  const storage = process.env['TWS_TESTS_STORAGE'] ?? '';
  if (storage === '') return {};
  if (isStorageKind(storage)) return { storage };
  throw new Error(`TWS_TESTS_STORAGE is one of ${storageKinds.join(', ')}, not ${storage}.`);
}
