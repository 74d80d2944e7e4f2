import { randomBytes } from 'node:crypto';

import type { Databases } from '../databases/databases.js';
import { readJsonObject, requireJsonType } from '../http/body.js';
import { CouchError, refuse } from '../http/couch-error.js';
import { sendJson, type Exchange } from '../http/exchange.js';
import { databaseInfo } from './database-routes.js';

/** The CouchDB version whose protocol is spoken. */
export const COUCH_VERSION = '3.4.3';
const NODE = 'nonode@nohost';

export function welcome(x: Exchange): void {
  sendJson(x, 200, {
    couchdb: 'Welcome',
    version: COUCH_VERSION,
    git_sha: '0000000',
    uuid: x.context.uuid,
    features: ['access-ready', 'pluggable-storage-engines', 'reshard', 'scheduler'],
    vendor: { name: 'TWS embedded server' },
  });
}

export function up(x: Exchange): void {
  if (!x.context.disk.isFull()) return sendJson(x, 200, { status: 'ok', seeds: {} });
  const { error, reason } = refuse.diskFull();
  sendJson(x, 503, { status: 'disk_full', error, reason });
}

/** GET of `_uuids`: random ids, as many as asked for, at most 1000. */
export function uuids(x: Exchange): void {
  const count = x.query.count('count') ?? 1;
  if (count > 1000) throw refuse.badRequest('count parameter too large');
  const made = Array.from({ length: count }, () => randomBytes(16).toString('hex'));
  sendJson(
    x,
    200,
    { uuids: made },
    { 'cache-control': 'must-revalidate, no-cache', pragma: 'no-cache' },
  );
}

/** GET of `_all_dbs`. */
export async function allDbs(x: Exchange): Promise<void> {
  sendJson(x, 200, await listNames(x, x.context.databases));
}

async function listNames({ query }: Exchange, databases: Databases): Promise<string[]> {
  const start = query.json('startkey', 'start_key');
  const end = query.json('endkey', 'end_key');
  const descending = query.flag('descending') === true;
  const [low, high] = descending ? [end, start] : [start, end];
  const exclusive = query.flag('inclusive_end') === false;
  const names = (await databases.names()).filter(
    (name) =>
      (typeof low !== 'string' || name >= low) &&
      (typeof high !== 'string' || name <= high) &&
      !(exclusive && name === end),
  );
  if (descending) names.reverse();
  const skip = query.count('skip') ?? 0;
  return names.slice(skip, skip + (query.count('limit') ?? Infinity));
}

/** GET and POST of `_dbs_info`: the figures of several databases. */
export async function dbsInfo(x: Exchange): Promise<void> {
  const { databases } = x.context;
  let names: unknown;
  if (x.method === 'POST') {
    requireJsonType(x.request);
    names = (await readJsonObject(x.request))['keys'];
    if (!Array.isArray(names)) throw refuse.badRequest('`keys` member must exist.');
    if (names.length > 100) throw refuse.badRequest('`keys` must not be over 100.');
  } else {
    names = await listNames(x, databases);
  }
  const infos = await Promise.all(
    (names as unknown[]).map(async (name) => {
      const database = typeof name === 'string' ? await databases.find(name) : undefined;
      return database === undefined
        ? { key: name, error: 'not_found' }
        : { key: name, info: await databaseInfo(database) };
    }),
  );
  sendJson(x, 200, infos);
}

export const membership = (x: Exchange): void =>
  sendJson(x, 200, { all_nodes: [NODE], cluster_nodes: [NODE] });

export const clusterSetup = (x: Exchange): void =>
  sendJson(x, 200, { state: 'single_node_enabled' });

/** GET of `_active_tasks`: the replications that run. */
export function activeTasks(x: Exchange): void {
  const tasks = x.context.replications.tasks().map((task) => ({
    type: 'replication',
    node: NODE,
    pid: '<0.0.0>',
    replication_id: task.id,
    doc_id: null,
    database: null,
    user: null,
    source: task.source,
    target: task.target,
    continuous: task.continuous,
    started_on: Math.floor(task.startedAt / 1000),
    updated_on: Math.floor(Date.now() / 1000),
    docs_read: task.progress.docs_read,
    docs_written: task.progress.docs_written,
    doc_write_failures: task.progress.doc_write_failures,
    checkpointed_source_seq: task.progress.last_seq,
  }));
  sendJson(x, 200, tasks);
}

/** GET of `_scheduler/jobs` and `_scheduler/docs`, as much as Fauxton asks for. */
export function scheduler(x: Exchange): void {
  const jobs = x.context.replications.tasks().map((task) => ({
    id: task.id,
    database: null,
    doc_id: null,
    source: task.source,
    target: task.target,
    start_time: new Date(task.startedAt).toISOString(),
    history: [],
  }));
  const listed = x.path[1] === 'jobs' ? { jobs } : { docs: [] };
  sendJson(x, 200, { total_rows: x.path[1] === 'jobs' ? jobs.length : 0, offset: 0, ...listed });
}

/** What can be read of `_node/_local`; settings are fixed and cannot be written. */
export function node(x: Exchange): void {
  const [, name, what, section, key] = x.path;
  if (name !== '_local' && name !== NODE) throw refuse.missing('no such node: ' + String(name));
  switch (what) {
    case undefined:
      return sendJson(x, 200, { name: NODE });
    case '_config':
      return sendJson(x, 200, readConfig(x, section, key));
    case '_system':
      return sendJson(x, 200, {
        uptime: Math.floor(process.uptime()),
        memory: process.memoryUsage(),
      });
    case '_stats':
      return sendJson(x, 200, {});
    default:
      throw refuse.missing();
  }
}

export function nodeReadOnly(): never {
  throw refuse.notOffered('Changing the configuration');
}

const CONFIG: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  chttpd: {
    bind_address: '127.0.0.1',
    require_valid_user: 'true',
    max_http_request_size: '268435456',
  },
  chttpd_auth: { authentication_db: '_users', timeout: '600' },
  couchdb: { max_document_size: '8000000', default_security: 'admin_only' },
  cluster: { q: '1', n: '1' },
  features: {},
  feature_flags: {},
};

function readConfig(
  { request }: Exchange,
  section: string | undefined,
  key: string | undefined,
): unknown {
  const port = String(request.socket.localPort);
  const config: typeof CONFIG = { ...CONFIG, chttpd: { ...CONFIG['chttpd'], port } };
  if (section === undefined) return config;
  const values = Object.hasOwn(config, section) ? (config[section] ?? {}) : {};
  if (key === undefined) return values;
  if (!Object.hasOwn(values, key)) throw new CouchError(404, 'not_found', 'unknown_config_value');
  return values[key];
}
