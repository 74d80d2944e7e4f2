import { ADMINS_ONLY, type Security } from '../auth/security.js';
import type { UserContext } from '../auth/users.js';
import { formatSequence, parseSequence } from '../feeds/sequence.js';
import { createDatabaseHub, type DatabaseHub } from '../feeds/hub.js';
import type { FunctionPool } from '../functions/pool.js';
import type { Doc, DocumentStore, DocWriteResult, LeavesById } from '../storage/storage.js';
import { createViewIndexes, type ViewIndexes } from '../views/view-indexes.js';
import { createCatalog, type Catalog } from './catalog.js';
import { writeDocs } from './writes.js';

/** An open database: its documents and everything that follows them. */
export type Database = {
  readonly name: string;
  readonly store: DocumentStore;
  readonly hub: DatabaseHub;
  readonly catalog: Catalog;
  readonly views: ViewIndexes;
  security(): Security;
  setSecurity(security: Security): Promise<void>;
  /** Writes on behalf of a user, with all checks; answers in the order of the documents. */
  write(
    docs: readonly Doc[],
    options: { readonly user: UserContext; readonly newEdits?: boolean },
  ): Promise<DocWriteResult[]>;
  /** Forgets leaf revisions; resolves with those that there were. */
  purge(wanted: LeavesById): Promise<LeavesById>;
  formatSeq(seq: number): string;
  /** @throws CouchError 400 */
  parseSeq(text: string): number;
  close(): Promise<void>;
  destroy(): Promise<void>;
};

type Options = {
  readonly name: string;
  readonly store: DocumentStore;
  readonly pool: FunctionPool;
  /** Called after documents were written. */
  readonly updated: () => void;
};

export function databaseOf({ name, store, pool, updated }: Options): Database {
  const hub = createDatabaseHub(store);
  const catalog = createCatalog(store, pool);
  const views = createViewIndexes(store);
  const security = (): Security =>
    (store.setting('security') as Security | undefined) ?? ADMINS_ONLY;
  return {
    name,
    store,
    hub,
    catalog,
    views,
    security,
    setSecurity: (next) => store.saveSetting('security', next),
    async write(docs, { user, newEdits = true }) {
      const context = { name, store, catalog, pool, security: security(), user };
      const results = await writeDocs(context, docs, newEdits);
      updated();
      return results;
    },
    async purge(wanted) {
      if (wanted.size === 0) return wanted;
      const purged = await store.purge(wanted);
      hub.forget();
      await catalog.refresh([...purged.keys()].filter((id) => id.startsWith('_design/')));
      updated();
      return purged;
    },
    formatSeq: (seq) => formatSequence(seq, store.instance),
    parseSeq: (text) => parseSequence(text, store.instance),
    async close() {
      hub.close();
      await views.close();
      await store.close();
    },
    async destroy() {
      hub.close();
      await views.close();
      await store.destroy();
    },
  };
}
