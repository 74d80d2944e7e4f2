import type { Database } from '../databases/database.js';
import { readJsonBody, readJsonObject, requireJsonType } from '../http/body.js';
import { checkRev } from '../databases/writes.js';
import { refuse } from '../http/couch-error.js';
import { sendJson, type Exchange } from '../http/exchange.js';

/** CouchDB's default of `max_document_id_number`. */
const MOST_DOCUMENTS = 100;
const USUAL_LIMIT = 1_000;
const LIMIT = 'purged_infos_limit';

/** `_purge`: forgets leaf revisions as if they had never been there. */
export async function postPurge(x: Exchange, database: Database): Promise<void> {
  requireJsonType(x.request);
  const body = await readJsonObject(x.request);
  const wanted = new Map<string, readonly string[]>();
  for (const [id, revs] of Object.entries(body)) {
    if (!Array.isArray(revs)) throw refuse.badRequest('Invalid list of revisions');
    for (const rev of revs as unknown[]) checkRev(rev ?? '');
    wanted.set(id, revs as string[]);
  }
  if (wanted.size > MOST_DOCUMENTS) {
    throw refuse.badRequest('Exceeded maximum number of documents.');
  }
  const purged = await database.purge(wanted);
  sendJson(x, 201, { purge_seq: null, purged: Object.fromEntries(purged) as object });
}

export const getPurgedInfosLimit = (x: Exchange, database: Database): void =>
  sendJson(x, 200, purgedInfosLimit(database));

export async function putPurgedInfosLimit(x: Exchange, { store }: Database): Promise<void> {
  const limit = await readJsonBody(x.request);
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1) {
    throw refuse.badRequest('`purged_infos_limit` must be positive integer');
  }
  await store.saveSetting(LIMIT, limit);
  sendJson(x, 200, { ok: true });
}

/** So many purges are remembered when a compaction has ended. */
export function purgedInfosLimit({ store }: Database): number {
  return Number(store.setting(LIMIT) ?? USUAL_LIMIT);
}
