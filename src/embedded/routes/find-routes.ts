import { isDatabaseAdmin } from '../auth/security.js';
import { isServerAdmin, USERS } from '../auth/users.js';
import type { Database } from '../databases/database.js';
import { readJsonObject, requireJsonType } from '../http/body.js';
import { refuse } from '../http/couch-error.js';
import { sendJson, type Exchange } from '../http/exchange.js';
import { explainFind, find } from '../mango/find.js';
import { parseFind, type FindRequest } from '../mango/find-request.js';
import { createIndex, removeIndex, describeIndex, listIndexes } from '../mango/indexes.js';

/** POST of `_find`. */
export async function postFind(x: Exchange, database: Database): Promise<void> {
  sendJson(x, 200, await find(database, x.context.pool, await readFind(x, database)));
}

/** POST of `_explain`. */
export async function postExplain(x: Exchange, database: Database): Promise<void> {
  sendJson(x, 200, await explainFind(database, await readFind(x, database)));
}

async function readFind(x: Exchange, database: Database): Promise<FindRequest> {
  if (database.name === USERS && !isServerAdmin(x.user)) {
    throw refuse.forbidden('Only administrators can view docs in this database.');
  }
  requireJsonType(x.request);
  return parseFind(await readJsonObject(x.request));
}

/** GET of `_index`. */
export async function getIndexes(x: Exchange, database: Database): Promise<void> {
  const indexes = await listIndexes(database);
  sendJson(x, 200, { total_rows: indexes.length, indexes: indexes.map(describeIndex) });
}

/** POST of `_index`, and of `_index/_bulk_delete`. */
export async function postIndex(x: Exchange, database: Database): Promise<void> {
  requireJsonType(x.request);
  requireAdmin(x, database);
  const body = await readJsonObject(x.request);
  if (x.path[2] !== '_bulk_delete') {
    return sendJson(x, 200, await createIndex(database, body, x.user));
  }
  const success: object[] = [];
  const fail: object[] = [];
  for (const id of Array.isArray(body['docids']) ? (body['docids'] as unknown[]) : []) {
    await removeIndex(database, String(id), undefined, x.user).then(
      () => success.push({ id, ok: true }),
      (error: unknown) => fail.push({ id, error: (error as Error).message }),
    );
  }
  sendJson(x, 200, { success, fail });
}

/** DELETE of `_index/{design document}/json/{name}`. */
export async function deleteIndex(x: Exchange, database: Database): Promise<void> {
  requireAdmin(x, database);
  const [, , ...rest] = x.path;
  const [ddoc = '', type, name] = rest[0] === '_design' ? rest.slice(1) : rest;
  if (type !== 'json' || name === undefined) throw refuse.missing();
  await removeIndex(database, `_design/${ddoc.replace(/^_design\//, '')}`, name, x.user);
  sendJson(x, 200, { ok: true });
}

function requireAdmin({ user }: Exchange, database: Database): void {
  if (isDatabaseAdmin(user, database.security())) return;
  throw refuse.forbidden('You are not a db or server admin.');
}
