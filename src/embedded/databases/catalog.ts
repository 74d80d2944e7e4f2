import type { FunctionPool } from '../functions/pool.js';
import { refuse } from '../http/couch-error.js';
import { Absent, type DocumentStore } from '../storage/storage.js';
import { openDesign, type Design } from './design.js';

/** The design documents of a database, kept ready. */
export type Catalog = {
  /** By id, `_design/…`. @throws CouchError 404 */
  get(id: string): Promise<Design>;
  all(): Promise<readonly Design[]>;
  /** Reads these design documents again. */
  refresh(ids: readonly string[]): Promise<void>;
};

export function createCatalog(store: DocumentStore, pool: FunctionPool): Catalog {
  let loaded: Promise<Map<string, Design>> | undefined;
  const load = async (): Promise<Map<string, Design>> => {
    const rows = await store.range({ startkey: '_design/', endkey: '_design0', includeDocs: true });
    const designs = new Map<string, Design>();
    for (const { id, doc } of rows) if (doc != null) put(designs, id, () => openDesign(doc, pool));
    return designs;
  };
  const designs = (): Promise<Map<string, Design>> =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    }));

  return {
    async get(id) {
      const design = (await designs()).get(id);
      if (design !== undefined) return design;
      const stored = await store.get(id);
      throw refuse.missing(stored instanceof Absent ? stored.why : 'missing');
    },
    all: async () => [...(await designs()).values()],
    async refresh(ids) {
      const known = await designs();
      for (const id of ids) {
        const doc = await store.get(id);
        known.delete(id);
        if (!(doc instanceof Absent)) put(known, id, () => openDesign(doc, pool));
      }
    },
  };
}

/** A replicated design document may be anything: one that is no good has no views. */
function put(designs: Map<string, Design>, id: string, open: () => Design): void {
  try {
    designs.set(id, open());
  } catch {
    designs.delete(id);
  }
}
