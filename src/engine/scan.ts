import { parseDocument, type StoredDocument } from '../model/parse.js';
import type { ViewName, ViewQuery, ViewRow } from '../store/views.js';
import type { Assembly } from './assembly.js';
import { releaseWaiting } from './events.js';
import { takeMessage } from './requests.js';

/** So many documents may be under way before more are read. */
export const busyLimit = 1_000;

/** Rows of a view read at a time. */
const pageSize = 500;

/**
 * Reads what is in the database and concerns an engine now: engines, requests, jobs that are awake
 * or whose time has come. Sleeping jobs cost nothing until their time is near.
 */
export async function scan(engine: Assembly): Promise<void> {
  const { peers, jobs, desk, copies, controls } = engine;
  const told: StoredDocument[] = [];
  for await (const doc of documentsOf(engine, 'engines')) {
    const parsed = parseDocument(doc);
    if (parsed.kind === 'engine' && parsed.ok) peers.update(doc._id, parsed.value);
    if (doc['type'] === 'engine-control') told.push(doc);
  }
  controls.replace(told);
  for (const view of ['requests', 'signals'] as const) {
    for await (const doc of documentsOf(engine, view)) takeMessage(engine, doc);
  }
  const now = engine.now();
  for (const [view, query] of [
    ['awake', {}],
    ['due', { endKey: now }],
  ] as const) {
    const asked = copies.many ? { ...query, conflicts: true } : query;
    for await (const { doc, conflicted } of rowsOf(engine, view, { ...asked, includeDocs: true })) {
      if (doc === undefined) continue;
      if (conflicted === true) copies.suspect(doc._id);
      jobs.review(doc);
      await desk.room(busyLimit);
    }
  }
  await releaseWaiting(
    engine,
    rowsOf(engine, 'waiting', { startKey: ['event'], endKey: ['event', {}] }),
  );
  const near = { startKey: now, endKey: now + engine.horizonMs };
  for await (const { id, key } of rowsOf(engine, 'due', near)) engine.timers.set(id, key);
}

/** All documents of a view, page by page. */
async function* documentsOf(
  engine: Assembly,
  view: ViewName,
  query: ViewQuery = {},
): AsyncGenerator<StoredDocument> {
  for await (const { doc } of rowsOf(engine, view, { ...query, includeDocs: true })) {
    if (doc !== undefined) yield doc;
  }
}

/** All rows of a view, page by page. */
export async function* rowsOf<N extends ViewName>(
  { store, ending }: Pick<Assembly, 'store' | 'ending'>,
  view: N,
  query: ViewQuery,
): AsyncGenerator<ViewRow<N>> {
  let last: ViewRow<N> | undefined;
  while (!ending.signal.aborted) {
    const from = last === undefined ? {} : { startKey: last.key, startKeyDocId: last.id };
    const rows: readonly ViewRow<N>[] = await store.view(view, {
      ...query,
      limit: pageSize,
      ...from,
    });
    // The row that a page begins at was read before, unless it has left the view meanwhile.
    for (const row of rows) if (row.id !== last?.id) yield row;
    last = rows.at(-1);
    if (rows.length < pageSize) return;
  }
}
