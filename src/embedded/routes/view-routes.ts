import type { Database } from '../databases/database.js';
import type { Design, DesignView } from '../databases/design.js';
import { refuse } from '../http/couch-error.js';
import { sendJson, type Exchange } from '../http/exchange.js';
import { parseViewQuery, queryView } from '../views/view-query.js';
import { readQueries, readQuery } from './all-docs-routes.js';

/** GET and POST of a view. */
export async function getView(
  x: Exchange,
  database: Database,
  ddoc: string,
  name: string,
): Promise<void> {
  const { design, view } = await findView(database, ddoc, name);
  const query = parseViewQuery(await readQuery(x), view);
  sendJson(x, 200, await queryView(database, design, view, query));
}

/** POST of a view's `queries`. */
export async function viewQueries(
  x: Exchange,
  database: Database,
  ddoc: string,
  name: string,
): Promise<void> {
  const { design, view } = await findView(database, ddoc, name);
  const queries = (await readQueries(x)).map((query) => parseViewQuery(query, view));
  const results = await Promise.all(
    queries.map((query) => queryView(database, design, view, query)),
  );
  sendJson(x, 200, { results });
}

async function findView(
  { catalog }: Database,
  ddoc: string,
  name: string,
): Promise<{ design: Design; view: DesignView }> {
  const design = await catalog.get(`_design/${ddoc}`);
  const view = design.views.get(name);
  if (view === undefined) throw refuse.missing('missing_named_view');
  return { design, view };
}

/** GET of a design document's `_info`. */
export async function designInfo(x: Exchange, database: Database, ddoc: string): Promise<void> {
  const design = await database.catalog.get(`_design/${ddoc}`);
  const index = await database.views.of(design);
  const bytes = await index.bytes();
  sendJson(x, 200, {
    name: ddoc,
    view_index: {
      signature: design.signature,
      language: design.doc['language'] ?? 'javascript',
      sizes: { file: bytes, external: bytes, active: bytes },
      updater_running: false,
      compact_running: false,
      waiting_commit: false,
      waiting_clients: 0,
      update_seq: index.seq(),
      purge_seq: index.purged(),
      updates_pending: { minimum: 0, preferred: 0, total: 0 },
    },
  });
}
