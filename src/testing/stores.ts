import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../embedded/start.js';
import { createMemoryStore } from '../memory/store.js';
import { createDatabase } from '../store/database.js';
import { installDesign } from '../store/design.js';
import { openStore, type Store } from '../store/store.js';

/** Where the documents of a test are kept. */
export type TestStoreKind = 'memory' | 'embedded';

/** A database for one test. */
export type TestStore = { readonly open: () => Store; readonly close: () => Promise<void> };

export async function openTestStore(kind: TestStoreKind): Promise<TestStore> {
  switch (kind) {
    case 'memory':
      return { ...(await createMemoryStore()), close: () => Promise.resolve() };
    case 'embedded':
      return openEmbedded();
  }
}

async function openEmbedded(): Promise<TestStore> {
  const dir = await mkdtemp(join(tmpdir(), 'tws-testing-'));
  const server = await startEmbedded({ dir });
  const { url, user, password } = server;
  const connection = { url, user, password, database: 'test', app: 'tws' };
  await createDatabase(connection);
  await installDesign(connection);
  return {
    open: () => openStore(connection),
    close: async () => {
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
