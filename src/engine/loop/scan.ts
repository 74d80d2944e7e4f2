import { isAmongFirst } from '../../decide/compete/ranks.js';
import { parseDocument } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import type { ViewName, ViewQuery, ViewRow } from '../../store/views.js';
import type { Assembly } from '../assembly.js';
import { releaseWaiting, takeEvent } from '../control/announced-events.js';
import { reportHook } from '../control/hook-reports.js';
import { takeMessage } from '../control/requests.js';

/** So many documents may be under way before more are read. */
export const busyLimit = 1_000;

/** A part of the scan. None waits for another one, and none is held up by one. */
export type ScanPart = (engine: Assembly) => Promise<void>;

/**
 * Reads what is in the database and concerns an engine now: engines, requests, jobs that are awake
 * or whose time has come. Sleeping jobs cost nothing until their time is near. What the others are
 * is known before their jobs are looked at. Rejects when a part did, after all have ended.
 */
export async function scanDatabase(engine: Assembly): Promise<void> {
  await scanEngines(engine);
  const ends = await Promise.allSettled(scanParts.map((part) => part(engine)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Reads the leases of the engines, the controls of engines and queues, the notify lists, and hooks. */
export async function scanEngines(engine: Assembly): Promise<void> {
  const { peers, controls, queueControls, notifyLists, waitQueue, jobs } = engine;
  const found: StoredDocument[] = [];
  const ofQueues: StoredDocument[] = [];
  const lists: StoredDocument[] = [];
  const marks = { queues: queueControls.mark(), lists: notifyLists.mark() };
  for await (const doc of documentsOf(engine, 'engines')) {
    const parsed = parseDocument(doc);
    if (parsed.kind === 'engine' && parsed.ok) peers.update(doc._id, parsed.value);
    if (doc['type'] === 'engine-control') found.push(doc);
    if (doc['type'] === 'queue-control') ofQueues.push(doc);
    if (doc['type'] === 'notify') lists.push(doc);
    if (doc['type'] === 'hook') reportHook(engine, doc);
  }
  controls.replace(found);
  notifyLists.replace(lists, marks.lists);
  if (queueControls.replace(ofQueues, marks.queues)) waitQueue.waiting().forEach(jobs.rouse);
}

/** What is read beside the engines. */
export const scanParts: readonly ScanPart[] = [
  (engine) => scanMessages(engine, 'requests'),
  (engine) => scanMessages(engine, 'signals'),
  (engine) => scanJobs(engine, 'awake', {}),
  (engine) => scanJobs(engine, 'due', { endKey: engine.now() }),
  ({ gatherings }) => gatherings.regather(),
  (engine) => releaseWaiting(engine, rowsOf(engine, 'waiting', waitingForEvents)),
  scanTimers,
];

const waitingForEvents: ViewQuery = { startKey: ['event'], endKey: ['event', {}] };

async function scanMessages(engine: Assembly, view: 'requests' | 'signals'): Promise<void> {
  for await (const doc of documentsOf(engine, view)) takeMessage(engine, doc);
}

async function scanJobs(engine: Assembly, view: 'awake' | 'due', query: ViewQuery): Promise<void> {
  const { jobs, schedules, eventTriggers, gatherings, serializer, replicas } = engine;
  const asked = replicas.many ? { ...query, conflicts: true } : query;
  for await (const { doc, conflicted } of rowsOf(engine, view, { ...asked, includeDocs: true })) {
    if (doc === undefined) continue;
    if (doc['type'] === 'schedule') schedules.take(doc, { conflicted });
    else if (doc['type'] === 'gathering') gatherings.take(doc, { conflicted });
    else if (doc['type'] === 'event') {
      eventTriggers.take(doc, { conflicted });
      // The feed brings no revision that was seen here.
      takeEvent(engine, doc);
    } else {
      if (conflicted === true) replicas.suspect(doc._id);
      jobs.review(doc);
    }
    await serializer.room(busyLimit);
  }
}

/** Each sleeping job is woken by the engines that look at its changes first. */
async function scanTimers(engine: Assembly): Promise<void> {
  const { timers, schedules, gatherings, horizonMs, self, peers } = engine;
  const now = engine.now();
  const near = { startKey: now, endKey: now + horizonMs() };
  for await (const { id, key, value } of rowsOf(engine, 'due', near)) {
    if (!isAmongFirst(id, self, peers.alive)) continue;
    if (value === 'schedule') schedules.wakeAt(id, key);
    else if (value === 'gathering') gatherings.wakeAt(id, key);
    else timers.set(id, key);
  }
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

/** All rows of a view, until the engine ends. */
export function rowsOf<N extends ViewName>(
  { store, ending }: Pick<Assembly, 'store' | 'ending'>,
  view: N,
  query: ViewQuery,
): AsyncIterable<ViewRow<N>> {
  return store.rows(view, query, ending.signal);
}
