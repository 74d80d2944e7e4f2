import { parseDocument } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import { isRateId } from '../../model/rate.js';
import { leftToOthersMs } from '../../decide/compete/ranks.js';
import { withoutConflicts, type Change } from '../../store/change.js';
import { problem } from '../../errors.js';
import { designId } from '../../store/design.js';
import { movedId } from '../../store/moved.js';
import type { FeedState } from '../../store/feed.js';
import type { Assembly } from '../assembly.js';
import { takeEvent } from '../control/announced-events.js';
import { reportHook } from '../control/hook-reports.js';
import { takeEarly, takeMessage } from '../control/requests.js';
import { createFetcher, type Delay, type Fetcher, type SeenRevision } from './fetch.js';
import { busyLimit, scanDatabase } from './scan.js';
import { writesBetween } from './serializer.js';

/**
 * The loop: every change of the database goes to the part that it concerns. Changes come without their
 * documents; those that this engine may have to deal with are read.
 */
export async function follow(engine: Assembly, since: string): Promise<void> {
  const { store, ending, serializer, feed } = engine;
  const { onState, reloaded } = createConnectionReporter(engine);
  const fetcher = createFetcherOf(engine);
  feed.isFollowed = true;
  feed.isBehind = fetcher.isBehind;
  feed.hurry = fetcher.hurry;
  const options = { since, signal: ending.signal, onState, documents: false };
  const takeChange = unlessBusy(engine, (change) => see(engine, fetcher, change));
  for await (const change of store.follow(options)) {
    takeChange(change);
    if (serializer.tasks.open >= busyLimit) await serializer.room(busyLimit);
  }
  fetcher.stop();
  await reloaded();
}

function createFetcherOf(engine: Assembly): Fetcher {
  const { store, retry, serializer, library, replicas, attempts, waitQueue, now, clock } = engine;
  const { schedules, eventTriggers, gatherings } = engine;
  return createFetcher({
    read: (ids) => retry(() => readDocuments(engine, ids)),
    written: (id) => (replicas.many ? undefined : store.written(id)),
    // Whether this engine has read or written that revision, or a later one.
    isKnown: ({ id, rev, isConflicting = false }) => {
      if (isConflicting || replicas.suspects.has(id)) return false;
      const known =
        serializer.seen.get(id)?.rev ??
        library.held.get(id)?._rev ??
        schedules.seen.get(id)?.rev ??
        eventTriggers.seen.get(id)?.rev ??
        gatherings.seen.get(id)?.rev;
      return known !== undefined && (known === rev || writesBetween(rev, known) > 0);
    },
    delayOf: (seen) => delayOf(engine, seen),
    isFull: () => waitQueue.tickets.size > 0 || attempts.freeSlots() === 0,
    take: (doc, at) => takeDocument(engine, doc, at),
    room: () => serializer.room(busyLimit),
    now,
    // What it waits for is short, and most of it the renewal of leases.
    wait: clock.upkeep.after,
  });
}

/** One document that may not be in conflict is read by the shortest way. */
async function readDocuments(
  { store, replicas }: Assembly,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredDocument>> {
  const [only, ...others] = ids;
  const isPlain = only !== undefined && others.length === 0 && !replicas.many;
  if (!isPlain) return store.getMany(ids, { conflicts: replicas.many });
  const doc = await store.get(only);
  return new Map(doc === undefined ? [] : [[only, doc]]);
}

const atOnce: Delay = { ms: 0, for: 'more' };

/** The ids that commands give to definitions and controls: they concern every engine. */
const forAll = /^(?:flow|task|engine-control|queue-control|notify):/;

/** How long a changed document is left to other engines before this one reads it. */
function delayOf(engine: Assembly, seen: SeenRevision): Delay {
  const {
    attempts,
    library,
    controls,
    queueControls,
    notifyLists,
    peers,
    replicas,
    renewMs,
    self,
  } = engine;
  const { id } = seen;
  const isForAll =
    forAll.test(id) || [library, queueControls, notifyLists].some(({ held }) => held.has(id));
  if (isForAll) return { ms: 0, for: 'all' };
  const isOurs = attempts.ofJob.has(id) || controls.held.has(id);
  if (isOurs || replicas.suspects.has(id)) return atOnce;
  // Leases that are renewed at about the same time are read together.
  if (id.startsWith('engine:')) return { ms: renewMs / 20, for: 'more' };
  // A job that needs a permit has its place in the line of every engine, in the order of the feed.
  if (library.limiting.size > 0) return atOnce;
  const others = peers.alive;
  return others.length === 0 ? atOnce : { ms: leftToOthersMs(seen, self, others), for: 'others' };
}

/**
 * Puts the changes of a document off while something is under way about it here: its revision may be
 * the one that is being written. Of several the last one counts.
 */
function unlessBusy(
  { serializer }: Pick<Assembly, 'serializer'>,
  take: (change: Change) => void,
): (change: Change) => void {
  const last = new Map<string, Change>();
  const takeLater = async (id: string): Promise<void> => {
    while (serializer.isBusy(id)) await serializer.queue(id, () => Promise.resolve());
    const change = last.get(id);
    last.delete(id);
    if (change !== undefined) take(change);
  };
  return (change) => {
    const { id } = change;
    if (!serializer.isBusy(id)) return take(change);
    const isWaiting = last.has(id);
    last.set(id, change);
    if (!isWaiting) void takeLater(id);
  };
}

/** Takes one change. */
function see(engine: Assembly, fetcher: Fetcher, change: Change): void {
  const { id, deleted, revs } = change;
  const { earlySignals } = engine;
  const [rev = ''] = revs;
  if (id.startsWith('_design/')) return seeDesign(engine, id, deleted ? undefined : rev);
  if (id.startsWith('rate:') && isRateId(id))
    return engine.rates.saw(id, deleted ? undefined : rev);
  if (deleted) {
    fetcher.forget(id);
    engine.rates.leave(id);
    return take(engine, id, undefined);
  }
  if (id === engine.id) return seeOwnLease(engine);
  if (id.startsWith('lock:')) return;
  if (earlySignals.has(id)) takeEarly(engine, id);
  const isConflicting = revs.length > 1;
  const seen = { id, rev, at: engine.now(), ...(isConflicting ? { isConflicting } : {}) };
  if (id.startsWith('engine:') && !engine.peers.moved(id, rev)) return;
  // Also what comes late: an older revision takes nothing from a newer one.
  if (fetcher.saw(seen)) dropOld(engine, id);
}

/** Somebody else has changed a job: what is held of it is old, and its place in the line, too. */
function dropOld({ serializer, attempts, waitQueue, rates }: Assembly, id: string): void {
  if (attempts.ofJob.has(id)) return;
  if (rates.concerned.has(id)) rates.leave(id);
  serializer.drop(id);
  if (waitQueue.tickets.has(id)) waitQueue.leave(id);
}

/** Of our own document we know by our own clock when it was written. */
function seeOwnLease({ id, meters, now, peers, presence }: Assembly): void {
  meters?.feedLag?.(Math.max(0, now() - presence.renewedAt()));
  peers.update(id, undefined);
}

/** Takes a document that was read; `at`: when its change was seen, epoch ms. */
function takeDocument(engine: Assembly, given: StoredDocument, at: number): void {
  const { library, controls, queueControls, notifyLists, jobs, replicas, serializer } = engine;
  const { schedules, eventTriggers, gatherings } = engine;
  const { doc, conflicted } = withoutConflicts(given);
  const { _id: id, _rev: rev } = doc;
  const isHeld = [library, controls, queueControls, notifyLists].some(({ held }) => held.has(id));
  if (doc['type'] !== 'job' || isHeld) {
    if (doc['type'] !== 'job' && serializer.seen.get(id) !== undefined) jobs.estranged(doc);
    if (doc['type'] === 'schedule') {
      // It may have been a definition, or a control.
      const isNews = library.update(id, doc);
      if (queueControls.update(id, doc) || isNews) wakeWaiting(engine);
      controls.update(id, doc);
      notifyLists.update(id, doc);
      return schedules.take(doc, { at, conflicted });
    }
    if (doc['type'] === 'event') eventTriggers.take(doc, { at, conflicted });
    if (doc['type'] === 'gathering') gatherings.take(doc, { at, conflicted });
    return take(engine, id, doc);
  }
  if (conflicted === true) replicas.suspect(id);
  if (replicas.suspects.has(id)) return jobs.review(doc);
  // What we wrote comes round again; a job that is done with must not be kept again.
  if (serializer.seen.get(id)?.rev !== rev) jobs.take(doc, at);
}

/** Takes what is no job, or was none so far; undefined: the document is gone. */
function take(engine: Assembly, id: string, doc: StoredDocument | undefined): void {
  const { library, peers, controls, queueControls, notifyLists, jobs } = engine;
  const { schedules, eventTriggers, gatherings } = engine;
  const isNews = library.update(id, doc);
  if (queueControls.update(id, doc) || isNews) return wakeWaiting(engine);
  if (controls.update(id, doc) || notifyLists.update(id, doc)) return;
  if (doc === undefined) {
    if (id.startsWith('engine:')) return peers.update(id, undefined);
    schedules.gone(id);
    eventTriggers.gone(id);
    gatherings.gone(id);
    return jobs.gone(id);
  }
  switch (doc['type']) {
    case 'job':
      return jobs.take(doc);
    case 'engine':
      return takeEngine(engine, doc);
    case 'request':
    case 'signal':
      return takeMessage(engine, doc);
    case 'event':
      return takeEvent(engine, doc);
    case 'hook':
      return reportHook(engine, doc);
    default:
      return engine.logUnknown(doc);
  }
}

function takeEngine({ peers }: Assembly, doc: StoredDocument): void {
  const parsed = parseDocument(doc);
  if (parsed.kind === 'engine' && parsed.ok) peers.update(doc._id, parsed.value);
}

/** `rev`: undefined when the design document was deleted. */
function seeDesign(engine: Assembly, id: string, rev: string | undefined): void {
  if (id !== movedId) return reportDesign(engine, id, rev);
  if (rev !== undefined) void stopIfMoved(engine);
}

/** In a database that has moved nothing can be stored any more: the engine stops by itself. */
async function stopIfMoved({ store, retry, fail }: Assembly): Promise<void> {
  const to = await retry(() => store.movedTo());
  if (to !== undefined)
    fail(problem('database_moved', { database: store.connection.database, to }));
}

/** Every engine sees that the design document, or the guard, was changed; one reports it. */
function reportDesign(
  { events, isReporter, store }: Assembly,
  id: string,
  rev: string | undefined,
): void {
  const watched = (['design', 'guard'] as const).map((name) => designId(store.connection, name));
  if (!watched.includes(id) || !isReporter(`${id}:${rev ?? ''}`)) return;
  events.emit({ type: 'design.changed', id, ...(rev === undefined ? {} : { rev }) });
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
  const { schedules, eventTriggers, gatherings } = engine;
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
      schedules.forget();
      eventTriggers.forget();
      gatherings.forget();
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
