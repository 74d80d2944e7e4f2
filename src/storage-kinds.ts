/** What the embedded server can keep a database in, with the names that people know. */
export const storageNames = { leveldb: 'LevelDB', sqlite: 'SQLite' } as const;

/** What a database can be kept in. */
export type StorageKind = keyof typeof storageNames;

/** All of them, as options and settings write them. */
export const storageKinds = Object.keys(storageNames) as readonly StorageKind[];

/** Whether a text names one. */
export function isStorageKind(text: string): text is StorageKind {
  return storageKinds.some((kind) => kind === text);
}
