import { parseDocument, type StoredDocument } from '../model/parse.js';
import type { ViewRow } from '../store/views.js';
import type { Assembly } from './assembly.js';
import { takeRequest } from './requests.js';

/** So many documents may be under way before more are read. */
export const busyLimit = 1_000;

/** Rows of a view read at a time. */
const pageSize = 500;

/** Reads what is in the database and concerns an engine: engines, requests, unfinished jobs. */
export async function scan(engine: Assembly): Promise<void> {
  const { peers, jobs, desk } = engine;
  for await (const doc of documentsOf(engine, 'engines')) {
    const parsed = parseDocument(doc);
    if (parsed.kind === 'engine' && parsed.ok) peers.update(doc._id, parsed.value);
  }
  for await (const doc of documentsOf(engine, 'requests')) takeRequest(engine, doc);
  for await (const doc of documentsOf(engine, 'unfinished')) {
    jobs.review(doc);
    await desk.room(busyLimit);
  }
}

/** All documents of a view, page by page. */
async function* documentsOf(
  { store, ending }: Assembly,
  view: 'engines' | 'requests' | 'unfinished',
): AsyncGenerator<StoredDocument> {
  let last: ViewRow | undefined;
  while (!ending.signal.aborted) {
    const from = last === undefined ? {} : { startKey: last.key, startKeyDocId: last.id };
    const rows = await store.view(view, { limit: pageSize, includeDocs: true, ...from });
    // The row that a page begins at was read before, unless it has left the view meanwhile.
    for (const { id, doc } of rows) if (doc !== undefined && id !== last?.id) yield doc;
    last = rows.at(-1);
    if (rows.length < pageSize) return;
  }
}
