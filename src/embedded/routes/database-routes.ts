import { readJsonBody, requireJsonType } from '../http/body.js';
import { parseSecurity } from '../auth/security.js';
import type { Database } from '../databases/database.js';
import { refuse } from '../http/couch-error.js';
import { sendJson, type Exchange } from '../http/exchange.js';
import { purgedInfosLimit } from './purge-routes.js';
import { USERS } from '../auth/users.js';

/** The figures of a database as `GET /{db}` shows them. Sizes are bytes. */
export async function databaseInfo(database: Database): Promise<object> {
  const { docCount, deletedCount, updateSeq, fileBytes } = await database.store.info();
  return {
    instance_start_time: '0',
    db_name: database.name,
    purge_seq: database.formatSeq(await database.store.purgeSeq()),
    update_seq: database.formatSeq(updateSeq),
    sizes: { file: fileBytes, external: fileBytes, active: fileBytes },
    props: {},
    doc_del_count: deletedCount,
    doc_count: docCount,
    disk_format_version: 8,
    compact_running: compacting.has(database),
    ...compactionTold(database),
    cluster: { q: 1, n: 1, w: 1, r: 1 },
  };
}

export async function getDatabase(x: Exchange, database: Database): Promise<void> {
  sendJson(x, 200, await databaseInfo(database));
}

/** PUT of a database. */
export async function putDatabase(x: Exchange, name: string): Promise<void> {
  if (x.query.text('partitioned') === 'true') throw refuse.notOffered('A partitioned database');
  await x.context.databases.create(name);
  sendJson(x, 201, { ok: true }, { location: `/${encodeURIComponent(name)}` });
}

/** DELETE of a database. */
export async function deleteDatabase(x: Exchange, { name }: Database): Promise<void> {
  if (x.query.has('rev')) {
    throw refuse.badRequest(
      'You tried to DELETE a database with a ?rev= parameter. Did you mean to DELETE a document instead?',
    );
  }
  if (name === USERS) throw refuse.forbidden('_users is needed for signing in.');
  await x.context.databases.remove(name);
  sendJson(x, 200, { ok: true });
}

export const getSecurity = (x: Exchange, database: Database): void =>
  sendJson(x, 200, database.security());

export async function putSecurity(x: Exchange, database: Database): Promise<void> {
  await database.setSecurity(parseSecurity(await readJsonBody(x.request)));
  sendJson(x, 200, { ok: true });
}

export const getRevsLimit = (x: Exchange, { store }: Database): void =>
  sendJson(x, 200, store.revsLimit());

export async function putRevsLimit(x: Exchange, { store }: Database): Promise<void> {
  const limit = await readJsonBody(x.request);
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1) {
    throw refuse.badRequest('Rev limit has to be an integer');
  }
  await store.setRevsLimit(limit);
  sendJson(x, 200, { ok: true });
}

/** POST of `_compact`, also of one design document's views; it goes on after the answer. */
export async function compact(x: Exchange, database: Database): Promise<void> {
  requireJsonType(x.request);
  const ddoc = x.path[2];
  if (ddoc === undefined) {
    void compactAll(database);
  } else {
    const index = await database.views.of(await database.catalog.get(`_design/${ddoc}`));
    index.compact().catch(() => undefined);
  }
  sendJson(x, 202, { ok: true });
}

/** What goes wrong leaves the database as it is, with what was replaced and purged in its files; its figures tell. */
async function compactAll(database: Database): Promise<void> {
  if (compacting.has(database)) return;
  compacting.add(database);
  uncompacted.delete(database);
  try {
    await compactFiles(database);
    compacted.set(database, (compactions += 1));
  } catch (error) {
    uncompacted.set(database, error instanceof Error ? error.message : String(error));
  } finally {
    compacting.delete(database);
  }
}

/** Databases that are being compacted. */
const compacting = new WeakSet<Database>();
/** The number of the newest compaction that succeeded; those of a server that was started later are higher. */
let compactions = Date.now();
/** The number of the last one of a database since the server was started. */
const compacted = new WeakMap<Database, number>();
/** Why the last compaction of a database failed. */
const uncompacted = new WeakMap<Database, string>();

/** How compactions ended; CouchDB writes that into its log only. */
function compactionTold(database: Database) {
  const reason = uncompacted.get(database);
  const told = { compacted: compacted.get(database) ?? 0 };
  return reason === undefined ? told : { ...told, compact_error: reason };
}

async function compactFiles(database: Database): Promise<void> {
  // What a view cannot take in is remembered for longer.
  await forgetPurges(database).catch(() => undefined);
  await database.store.compact();
}

/** Forgets purges that no index needs any more. */
async function forgetPurges(database: Database): Promise<void> {
  const { store, views, catalog } = database;
  const reached = await views.takeOutPurged(await catalog.all());
  const until = reached - purgedInfosLimit(database);
  if (until > 0) await store.forgetPurges(until);
}

export async function viewCleanup(x: Exchange, database: Database): Promise<void> {
  requireJsonType(x.request);
  await database.views.cleanup(await database.catalog.all());
  sendJson(x, 202, { ok: true });
}

/** Every write is on disk when it is answered: there is nothing left to do. */
export function ensureFullCommit(x: Exchange): void {
  requireJsonType(x.request);
  sendJson(x, 201, { ok: true, instance_start_time: '0' });
}

/** GET of `_shards` and the like of a single node. */
export const shards = (x: Exchange): void =>
  sendJson(x, 200, { shards: { '00000000-ffffffff': ['nonode@nohost'] } });

export function notOffered(what: string): () => never {
  return () => {
    throw refuse.notOffered(what);
  };
}
