import type { Database } from './databases/database.js';
import { refuse } from './http/couch-error.js';
import type { Exchange } from './http/exchange.js';
import { allDocs, allDocsQueries, designDocs, localDocs } from './routes/all-docs-routes.js';
import { deleteAttachment, getAttachment, putAttachment } from './routes/attachment-routes.js';
import { bulkDocs, bulkGet, missingRevs, revsDiff } from './routes/bulk-routes.js';
import { getChanges } from './routes/changes-routes.js';
import * as db from './routes/database-routes.js';
import {
  copyDocument,
  deleteDocument,
  getDocument,
  postDocument,
  putDocument,
} from './routes/document-routes.js';
import { fauxton } from './routes/fauxton-routes.js';
import * as find from './routes/find-routes.js';
import { getPurgedInfosLimit, postPurge, putPurgedInfosLimit } from './routes/purge-routes.js';
import { postReplicate } from './routes/replication-routes.js';
import {
  methodHandler,
  requireDatabaseRight,
  requireRight,
  type DatabaseHandler,
  type DatabaseRight,
  type DatabaseRoute,
  type Methods,
  type ServerRoute,
} from './routes/route.js';
import * as server from './routes/server-routes.js';
import { deleteSession, getSession, postSession } from './routes/session-routes.js';
import { dbUpdates } from './routes/updates-routes.js';
import { designInfo, getView, viewQueries } from './routes/view-routes.js';

const SYSTEM_DATABASES = new Set(['_users', '_replicator', '_global_changes']);

/** Finds what a request is for, checks that its sender may, and answers it. */
export async function answerRequest(x: Exchange): Promise<void> {
  const [first] = x.path;
  if (first === undefined) return serve(x, { right: 'nobody', methods: { GET: server.welcome } });
  if (first.startsWith('_') && !SYSTEM_DATABASES.has(first)) {
    const known = Object.hasOwn(serverRoutes, first) ? serverRoutes[first] : undefined;
    if (known !== undefined) return serve(x, known);
  }
  if (x.path.length === 1 && x.method === 'PUT') {
    requireRight(x, 'server_admin');
    return db.putDatabase(x, first);
  }
  if (x.user.name === null) {
    throw refuse.unauthorized('You are not authorized to access this db.');
  }
  return routeInDatabase(x, await x.context.databases.get(first));
}

async function serve(x: Exchange, endpoint: ServerRoute): Promise<void> {
  requireRight(x, endpoint.right);
  await methodHandler(endpoint, x.method)(x);
}

const serverRoutes: Readonly<Record<string, ServerRoute>> = {
  _up: { right: 'nobody', methods: { GET: server.up } },
  _session: {
    right: 'nobody',
    methods: { GET: getSession, POST: postSession, DELETE: deleteSession },
  },
  _utils: { right: 'nobody', methods: { GET: fauxton } },
  _uuids: { right: 'user', methods: { GET: server.uuids }, headless: true },
  _all_dbs: { right: 'server_admin', methods: { GET: server.allDbs } },
  _dbs_info: { right: 'server_admin', methods: { GET: server.dbsInfo, POST: server.dbsInfo } },
  _active_tasks: { right: 'server_admin', methods: { GET: server.activeTasks } },
  _membership: { right: 'server_admin', methods: { GET: server.membership } },
  _cluster_setup: { right: 'server_admin', methods: { GET: server.clusterSetup } },
  _db_updates: { right: 'server_admin', methods: { GET: dbUpdates } },
  _scheduler: { right: 'server_admin', methods: { GET: server.scheduler } },
  _replicate: { right: 'server_admin', methods: { POST: postReplicate } },
  _node: {
    right: 'server_admin',
    methods: { GET: server.node, PUT: server.nodeReadOnly, DELETE: server.nodeReadOnly },
  },
};

async function routeInDatabase(x: Exchange, database: Database): Promise<void> {
  const [, second, ...rest] = x.path;
  if (second === undefined) return serveDatabase(x, database, databaseRoute);
  if (second === '_design' || second === '_local') {
    const [name, ...below] = rest;
    if (name !== undefined) return routeDocument(x, database, `${second}/${name}`, below);
  } else if (second.startsWith('_') && !/^_(design|local)\//.test(second)) {
    const name = rest.length > 0 && second === '_all_docs' ? `${second}/${rest.join('/')}` : second;
    const known = Object.hasOwn(databaseRoutes, name) ? databaseRoutes[name] : undefined;
    if (known !== undefined) return serveDatabase(x, database, known);
  }
  return routeDocument(x, database, second, rest);
}

async function serveDatabase(
  x: Exchange,
  database: Database,
  endpoint: DatabaseRoute,
): Promise<void> {
  const { right } = endpoint;
  const handler = methodHandler(endpoint, x.method);
  requireDatabaseRight(x, database, typeof right === 'string' ? right : right(x.method));
  await handler(x, database);
}

const databaseRoute: DatabaseRoute = {
  right: (method) => (method === 'DELETE' ? 'server_admin' : 'member'),
  methods: { GET: db.getDatabase, POST: postDocument, DELETE: db.deleteDatabase },
};

const read = (handler: DatabaseHandler): DatabaseRoute => ({
  right: 'member',
  methods: { GET: handler, POST: handler },
});
const post = (handler: DatabaseHandler, right: DatabaseRight = 'member'): DatabaseRoute => ({
  right,
  methods: { POST: handler },
});
const missing501 = (what: string): DatabaseRoute => {
  const handler = db.notOffered(what);
  return {
    right: 'member',
    methods: { GET: handler, POST: handler, PUT: handler, DELETE: handler },
  };
};
const settings = (get: DatabaseHandler, put: DatabaseHandler): DatabaseRoute => ({
  right: (method) => (method === 'PUT' ? 'database_admin' : 'member'),
  methods: { GET: get, PUT: put },
  headless: true,
});

const databaseRoutes: Readonly<Record<string, DatabaseRoute>> = {
  _all_docs: read(allDocs),
  '_all_docs/queries': post(allDocsQueries),
  _design_docs: read(designDocs),
  _local_docs: read(localDocs),
  _bulk_docs: post(bulkDocs),
  _bulk_get: post(bulkGet),
  _revs_diff: post(revsDiff),
  _missing_revs: post(missingRevs),
  _changes: read(getChanges),
  _find: post(find.postFind),
  _explain: post(find.postExplain),
  _index: {
    right: 'member',
    methods: { GET: find.getIndexes, POST: find.postIndex, DELETE: find.deleteIndex },
  },
  _security: settings(db.getSecurity, db.putSecurity),
  _revs_limit: settings(db.getRevsLimit, db.putRevsLimit),
  _compact: post(db.compact, 'database_admin'),
  _view_cleanup: post(db.viewCleanup, 'database_admin'),
  _ensure_full_commit: post(db.ensureFullCommit),
  _shards: { right: 'member', methods: { GET: db.shards } },
  _purge: post(postPurge, 'server_admin'),
  _purged_infos_limit: {
    right: 'server_admin',
    methods: { GET: getPurgedInfosLimit, PUT: putPurgedInfosLimit },
    headless: true,
  },
  _purged_infos: missing501('_purged_infos'),
  _partition: missing501('A partition'),
  _temp_view: missing501('_temp_view'),
};

async function routeDocument(
  x: Exchange,
  database: Database,
  id: string,
  rest: readonly string[],
): Promise<void> {
  const isDesign = id.startsWith('_design/');
  if (isDesign && rest[0]?.startsWith('_')) {
    return serveDatabase(x, database, designRoute(id.slice('_design/'.length), rest));
  }
  if (id.startsWith('_') && !/^_(design|local)\/./.test(id)) {
    requireDatabaseRight(x, database, 'member');
    if (x.method === 'GET' || x.method === 'HEAD') throw refuse.missing();
  }
  const methods = rest.length === 0 ? documentMethods(id) : attachmentMethods(id, rest.join('/'));
  return serveDatabase(x, database, { right: 'member', methods });
}

const documentMethods = (id: string): Methods<DatabaseHandler> => ({
  GET: (x, database) => getDocument(x, database, id),
  PUT: (x, database) => putDocument(x, database, id),
  DELETE: (x, database) => deleteDocument(x, database, id),
  COPY: (x, database) => copyDocument(x, database, id),
  POST: db.notOffered('A form of attachments'),
});

const attachmentMethods = (id: string, name: string): Methods<DatabaseHandler> => ({
  GET: (x, database) => getAttachment(x, database, id, name),
  PUT: (x, database) => putAttachment(x, database, id, name),
  DELETE: (x, database) => deleteAttachment(x, database, id, name),
});

/** What lies below a design document. */
function designRoute(ddoc: string, [what = '', name = '', more]: readonly string[]): DatabaseRoute {
  switch (what) {
    case '_view':
      return more === 'queries'
        ? post((x, database) => viewQueries(x, database, ddoc, name))
        : read((x, database) => getView(x, database, ddoc, name));
    case '_info':
      return { right: 'member', methods: { GET: (x, database) => designInfo(x, database, ddoc) } };
    case '_show':
    case '_list':
    case '_update':
    case '_rewrite':
      return missing501(`The design document function ${what}`);
    default:
      throw refuse.missing();
  }
}
