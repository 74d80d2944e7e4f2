import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

import { openDatabasesFolder } from '../../src/embedded/storage/databases-folder.js';
import { hasSqlite } from '../../src/embedded/storage/sqlite/node-sqlite.js';
import type { DocumentStore } from '../../src/embedded/storage/storage.js';
import { storageKinds, type StorageKind } from '../../src/storage-kinds.js';

/** The kinds of storage that this Node can have; Node 20 has no SQLite. */
export const kinds: readonly StorageKind[] = storageKinds.filter(
  (kind) => kind !== 'sqlite' || hasSqlite(),
);

/** Says in the title of a test that is skipped why it is. */
export const needsSqlite = hasSqlite() ? '' : ' (not here: this Node has no node:sqlite)';

/** A directory that is removed after the test. */
export async function testDirectory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'tws-storage-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A database of a kind, in a directory of its own unless one is given; closed after the test. */
export async function openKind(kind: StorageKind, dir?: string): Promise<DocumentStore> {
  const home = dir ?? (await testDirectory());
  const storage = await openDatabasesFolder(home, kind);
  const store = await storage.open('db', { create: !(await storage.exists('db')) });
  onTestFinished(() => store.close());
  return store;
}
