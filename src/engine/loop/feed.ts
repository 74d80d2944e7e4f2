import { parseDocument } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import type { Change } from '../../store/change.js';
import type { FeedState } from '../../store/feed.js';
import type { Assembly } from '../assembly.js';
import { takeEvent } from '../control/announced-events.js';
import { takeEarly, takeMessage } from '../control/requests.js';
import { busyLimit, scanDatabase } from './scan.js';

/** The loop: every change of the database goes to the part that it concerns. */
export async function follow(engine: Assembly, since: string): Promise<void> {
  const { store, ending, serializer, library, controls } = engine;
  const { onState, reloaded } = createConnectionReporter(engine);
  engine.feed.isFollowed = true;
  for await (const change of store.follow({ since, signal: ending.signal, onState })) {
    const { id, doc, conflicted } = change;
    const isOther = id.startsWith('_design/') || library.held.has(id) || controls.held.has(id);
    if (doc?.['type'] === 'job' && !isOther) takeJob(engine, doc, conflicted);
    else take(engine, change);
    if (serializer.tasks.open >= busyLimit) await serializer.room(busyLimit);
  }
  await reloaded();
}

function take(engine: Assembly, { id, doc, conflicted }: Change): void {
  const { library, peers, controls } = engine;
  if (id.startsWith('_design/')) return reportDesign(engine, id, doc);
  if (library.update(id, doc)) return wakeWaiting(engine);
  if (controls.update(id, doc)) return;
  if (doc === undefined) {
    if (id.startsWith('engine:')) return peers.update(id, undefined);
    return engine.jobs.gone(id);
  }
  switch (doc['type']) {
    case 'job':
      return takeJob(engine, doc, conflicted);
    case 'engine':
      return takeEngine(engine, doc);
    case 'request':
    case 'signal':
      return takeMessage(engine, doc);
    case 'event':
      return takeEvent(engine, doc);
    default:
      return engine.logUnknown(doc);
  }
}

function takeEngine({ id: me, meters, now, peers }: Assembly, doc: StoredDocument): void {
  // Of our own document we know by our own clock when it was written.
  const { _id: id, renewed } = doc;
  if (id === me && typeof renewed === 'number') meters?.feedLag(Math.max(0, now() - renewed));
  const parsed = parseDocument(doc);
  if (parsed.kind === 'engine' && parsed.ok) peers.update(id, parsed.value);
}

function takeJob(engine: Assembly, doc: StoredDocument, conflicted: boolean | undefined): void {
  const { jobs, replicas, earlySignals, serializer } = engine;
  const { _id: id, _rev: rev } = doc;
  if (earlySignals.has(id)) takeEarly(engine, id);
  if (conflicted === true) replicas.suspect(id);
  if (replicas.suspects.has(id)) return jobs.review(doc);
  // What we wrote comes round again; a job that is done with must not be kept again.
  if (serializer.seen.get(id)?.rev !== rev) jobs.take(doc);
}

/** Every engine sees that the design document was changed; one reports it. */
function reportDesign(
  { events, isReporter, store }: Assembly,
  id: string,
  doc: StoredDocument | undefined,
): void {
  if (id !== `_design/${store.connection.app}` || !isReporter(`${id}:${doc?._rev ?? ''}`)) return;
  events.emit({ type: 'design.changed', id, ...(doc === undefined ? {} : { rev: doc._rev }) });
}

/** A changed definition may be what some jobs wait for. */
function wakeWaiting({ waitQueue, jobs }: Assembly): void {
  for (const id of waitQueue.waiting()) jobs.rouse(id);
}

type ConnectionReporter = {
  readonly onState: (state: FeedState) => void;
  /** Resolves when whatever was begun when the database came back has ended (E5). */
  readonly reloaded: () => Promise<void>;
};

/** Says once that the database is away and once that it is back; then looks for what was missed. */
function createConnectionReporter(engine: Assembly): ConnectionReporter {
  const { log, serializer, store, retry, library, replicas, events } = engine;
  const { database } = store.connection;
  let away = false;
  const reloads = createReloads(() =>
    retry(async () => {
      await library.load();
      await scanDatabase(engine);
    }),
  );
  const onState = (state: FeedState): void => {
    if (state.kind === 'lost') {
      const { cause } = state;
      const level = away ? 'debug' : 'warn';
      log[level]({ cause }, `The connection to ${database} is lost (${cause}); trying again.`);
      if (!away) events.emit({ type: 'database.lost', database, cause });
      away = true;
      serializer.forget();
      library.doubt();
      return;
    }
    // The database may be another one of the same name.
    replicas.setCount(state.copies);
    if (away) {
      away = false;
      log.info({}, `The connection to ${database} is back.`);
      events.emit({
        type: 'database.back',
        database,
        ...(state.other === true ? { other: true } : {}),
      });
      reloads.want();
    }
  };
  return { onState, reloaded: reloads.ended };
}

/** Work that is asked for more often than it can be done: one run at a time, and one more after it. */
export type Reloads = {
  /** Has it run, once more if it runs already. */
  readonly want: () => void;
  /** Resolves when none is under way and none is wanted. */
  readonly ended: () => Promise<void>;
};

/** `reload` must not reject. */
export function createReloads(reload: () => Promise<unknown>): Reloads {
  let isWanted = false;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false;
      await reload();
    }
    running = undefined;
  };
  return {
    want: () => {
      isWanted = true;
      running ??= run();
    },
    ended: async () => {
      await running;
    },
  };
}
