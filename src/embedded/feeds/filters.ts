import type { UserContext } from '../auth/users.js';
import type { Database } from '../databases/database.js';
import type { JsonObject } from '../http/body.js';
import { refuse } from '../http/couch-error.js';
import type { RequestQuery } from '../http/query.js';
import type { FunctionPool } from '../functions/pool.js';
import { compileSelector, usesRegex } from '../mango/selector.js';
import type { FeedChange } from '../storage/storage.js';

/** Which of these changes a feed shows. */
export type ChangeFilter = (changes: readonly FeedChange[]) => Promise<boolean[]>;

type Options = {
  readonly database: Database;
  readonly pool: FunctionPool;
  readonly query: RequestQuery;
  readonly body: JsonObject;
  readonly user: UserContext;
};

/** The filter that a request for changes names; undefined when it wants all. @throws CouchError */
export async function openFilter(options: Options): Promise<ChangeFilter | undefined> {
  const { query, body } = options;
  const name = query.text('filter');
  switch (name) {
    case undefined:
    case '':
      return undefined;
    case '_doc_ids':
      return docIdsFilter(body['doc_ids'] ?? query.json('doc_ids'));
    case '_selector':
      return selectorFilter(body['selector'], options.pool);
    case '_design':
      return (changes) => Promise.resolve(changes.map(({ id }) => id.startsWith('_design/')));
    case '_view':
      return functionFilter(options, query.text('view'), 'view_filter');
    default:
      return functionFilter(options, name, 'filter');
  }
}

function docIdsFilter(ids: unknown): ChangeFilter {
  if (!Array.isArray(ids))
    throw refuse.badRequest('`doc_ids` filter parameter is not a list of ids.');
  const wanted = new Set(ids as unknown[]);
  return (changes) => Promise.resolve(changes.map(({ id }) => wanted.has(id)));
}

function selectorFilter(selector: unknown, pool: FunctionPool): ChangeFilter {
  const matches = compileSelector(selector);
  if (!usesRegex(selector)) {
    return (changes) => Promise.resolve(changes.map(({ doc }) => matches(doc)));
  }
  return async (changes) => {
    const docs = changes.map(({ doc }) => JSON.stringify(doc));
    const { results, failure } = await pool.select(JSON.stringify(selector), docs);
    if (failure !== undefined) throw refuse.badRequest(`The selector failed: ${failure.message}`);
    return results.map((result) => 'ok' in result && result.ok === 'true');
  };
}

/** `design/function`; the design document is read again for each batch, as it may change. */
async function functionFilter(
  { database, query, user }: Options,
  name: string | undefined,
  kind: 'filter' | 'view_filter',
): Promise<ChangeFilter> {
  const [ddoc, fn] = (name ?? '').split('/');
  if (ddoc === undefined || fn === undefined || fn === '') {
    throw refuse.badRequest(
      kind === 'filter'
        ? '`filter` must be of the form `designname/filtername`'
        : '`view` must be of the form `designname/viewname`',
    );
  }
  const request = {
    query: query.all(),
    method: 'GET',
    userCtx: { db: database.name, ...user },
    secObj: database.security(),
    info: { db_name: database.name },
  };
  const run: ChangeFilter = async (changes) => {
    const design = await database.catalog.get(`_design/${ddoc}`);
    return design.filter(
      fn,
      kind,
      changes.map(({ doc }) => doc),
      request,
    );
  };
  // A function that is not there is told before the answer begins.
  const design = await database.catalog.get(`_design/${ddoc}`);
  await design.filter(fn, kind, [], request);
  return run;
}
