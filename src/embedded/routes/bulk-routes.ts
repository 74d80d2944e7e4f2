import { prepareAttachments } from '../databases/attachments.js';
import type { Database } from '../databases/database.js';
import { checkId, checkRev, parseDoc } from '../databases/writes.js';
import { isJsonObject, readJsonObject, requireJsonType } from '../http/body.js';
import { CouchError, refuse } from '../http/couch-error.js';
import { sendJson, type Exchange } from '../http/exchange.js';
import type { OpenRev, ReadOptions, DocWriteResult } from '../storage/storage.js';
import { checkSize, isSmall } from './document-routes.js';

/** `_bulk_docs`: each document has its own outcome, in the order of the request. */
export async function bulkDocs(x: Exchange, database: Database): Promise<void> {
  requireJsonType(x.request);
  const body = await readJsonObject(x.request);
  const { docs: given, new_edits: edits } = body;
  if (!Array.isArray(given)) throw refuse.badRequest('POST body must include `docs` parameter.');
  const docs = (given as unknown[]).map((doc) => parseDoc(doc));
  if (!isSmall(x.request)) for (const doc of docs) checkSize(doc);
  await prepareAttachments(docs);
  const newEdits = edits !== false;
  const results = await database.write(docs, { user: x.user, newEdits });
  sendJson(x, 201, results.map(withoutStatus));
}

const withoutStatus = (result: DocWriteResult): object => {
  if ('ok' in result) return result;
  const { id, error, reason } = result;
  return { id, error, reason };
};

/** `_bulk_get`: the documents or revisions asked for, each with its own outcome. */
export async function bulkGet(x: Exchange, { store }: Database): Promise<void> {
  requireJsonType(x.request);
  const { docs: wanted } = await readJsonObject(x.request);
  if (!Array.isArray(wanted)) throw refuse.badRequest('Missing JSON list of `docs`.');
  const options: ReadOptions = {
    revs: x.query.flag('revs') === true,
    latest: x.query.flag('latest') === true,
    attachments: x.query.flag('attachments') === true,
  };
  const results = await Promise.all(
    (wanted as unknown[]).map(async (each) => {
      const { id, rev } = isJsonObject(each) ? each : {};
      if (typeof id !== 'string') throw refuse.badRequest('document id missed');
      const illegal = illegalId(id);
      if (illegal !== undefined) return { id, docs: [illegal] };
      checkRev(rev);
      const revs =
        typeof rev === 'string'
          ? await store.openRevs(id, [rev], options)
          : await newest(store, id, options);
      return { id, docs: revs.map((found) => asBulkGet(id, found)) };
    }),
  );
  sendJson(x, 200, { results });
}

/** What is answered for an id that no document can have; undefined for any other. */
function illegalId(id: string): object | undefined {
  try {
    checkId(id);
    return undefined;
  } catch (refusal) {
    if (!(refusal instanceof CouchError)) throw refusal;
    const { error, reason } = refusal;
    return { error: { id, rev: null, error, reason } };
  }
}

async function newest(
  store: Database['store'],
  id: string,
  options: ReadOptions,
): Promise<OpenRev[]> {
  const revs = await store.openRevs(id, 'all', options);
  return revs.length === 0 ? [{ missing: 'undefined' }] : revs;
}

const asBulkGet = (id: string, found: OpenRev): object =>
  'ok' in found
    ? found
    : { error: { id, rev: found.missing, error: 'not_found', reason: 'missing' } };

/** `_revs_diff`: which of these revisions are not here. */
export async function revsDiff(x: Exchange, { store }: Database): Promise<void> {
  sendJson(x, 200, await store.revsDiff(await readRevs(x)));
}

/** `_missing_revs`, the older form of `_revs_diff`. */
export async function missingRevs(x: Exchange, { store }: Database): Promise<void> {
  const missing = await store.revsDiff(await readRevs(x));
  const revs = Object.entries(missing).map(([id, diff]) => [id, diff.missing]);
  sendJson(x, 200, { missing_revs: Object.fromEntries(revs) as object });
}

async function readRevs(x: Exchange): Promise<Record<string, string[]>> {
  requireJsonType(x.request);
  const body = await readJsonObject(x.request);
  for (const revs of Object.values(body)) {
    if (!Array.isArray(revs)) throw refuse.badRequest('Revisions must be a JSON array');
    for (const rev of revs as unknown[]) checkRev(rev ?? '');
  }
  return body as Record<string, string[]>;
}
