import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { problem, type TwsError } from '../errors.js';
import { parseDocument } from '../reading/parse.js';
import type { StoredDocument } from '../model/document.js';
import { encryptedIn } from '../model/encrypted-values.js';
import type { Change } from '../store/change.js';
import type { FeedState } from '../store/feed.js';
import { assemble, type Assembly, type EngineOptions } from './assembly.js';
import { renewLease, sweep, watchPeers, watchPermits } from './duties.js';
import { takeEvent } from './events.js';
import { isNameTaken, takeOverName } from './name.js';
import { takeEarly, takeMessage } from './requests.js';
import { createReloads } from './reloads.js';
import { busyLimit, scan } from './scan.js';
import type { EngineListener } from './system-events.js';

export type { EngineOptions } from './assembly.js';

export type Engine = {
  readonly id: string;
  /** Ends in order: no new claims, running attempts end or are handed back, the lease is given up. */
  readonly stop: () => Promise<void>;
  /** Ends at once; others take over when the lease is over. */
  readonly kill: () => Promise<void>;
  /** Resolves with the reason when the engine had to stop by itself; `stop` awaits its end. */
  readonly failed: Promise<TwsError>;
  /** Has it stop by itself for that reason. */
  readonly fail: (reason: TwsError) => void;
  /** Has a listener told what happens from now on (`onEvent` hears the start, too); answers its end. */
  readonly subscribe: (listener: EngineListener) => () => void;
};

/**
 * Starts an engine: it follows the feed and takes part in every job of the database.
 *
 * E1 Every write is a compare-and-set on the revision that was decided upon; a lost one is dropped.
 * E2 In one process one thing at a time happens to a job.
 * E3 A plugin is called only after the store confirmed the claim.
 * E4 Repeated, missed and reordered events change nothing: all that counts is in the documents.
 * E5 Whatever was started is awaited before `stop` resolves, unless the database answers no more.
 *
 * Rejects with `crypto_key_missing` when definitions hold encrypted values and there is no key, unless
 * `keyless`, and with `engine_name_taken` when another engine of its name runs. An engine whose
 * `signal` aborts while it waits for the database has nothing to stop.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const engine = assemble(options);
  const { ending, life, store, library, presence, retry, log, id } = engine;
  const giveUp = (): void => {
    ending.abort();
    life.abort();
  };
  if (options.signal?.aborted === true) giveUp();
  options.signal?.addEventListener('abort', giveUp);
  const info = await retry(() => store.info());
  engine.replicas.setCount(info?.copies ?? 1);
  await retry(() => library.load());
  await learnLimit(engine);
  refuseWithoutKey(options, library.documents());
  await appear(engine);
  // The scan of many jobs outlasts a lease: it is renewed from the beginning.
  const running = [renewLease(engine), watchPeers(engine)];
  options.signal?.removeEventListener('abort', giveUp);
  const scanning = retry(() => scan(engine));
  await Promise.race([scanning, aborted(options.signal)]);
  const wasEnded = options.signal?.aborted === true;
  if (wasEnded) ending.abort();
  const since = info?.updateSeq ?? '0';
  running.push(scanning.then(() => undefined));
  running.push(follow(engine, since), sweep(engine), watchPermits(engine));
  if (!wasEnded) {
    log.info({ engine: id }, `Engine ${id} follows ${store.connection.database}.`);
    engine.events.emit({ type: 'engine.started', host: hostname(), pid: process.pid });
  }

  const end = async (waitMs: number): Promise<void> => {
    engine.timers.stop();
    engine.hands.close();
    ending.abort();
    await within(engine.desk.idle(), waitMs);
    life.abort();
    await within(Promise.all([...running, engine.desk.idle()]), waitMs);
  };
  const drain = async (): Promise<void> => {
    engine.hands.close();
    // One that was ended before it had begun may never have been answered.
    if (wasEnded && engine.hands.claims.size === 0) {
      await end(killMs);
      await within(presence.leave(), killMs);
      return engine.webhooks.close(0);
    }
    await within(presence.drain(), handBackMs);
    await within(engine.hands.empty(), options.drainMs ?? 30_000);
    engine.hands.stopAll('released');
    await within(engine.hands.empty(), handBackMs);
    await end(handBackMs);
    await within(presence.leave(), handBackMs);
    log.info({ engine: id }, `Engine ${id} has stopped.`);
    engine.events.emit({ type: 'engine.stopped', ...why });
    await engine.webhooks.close(lastEventsMs);
  };
  const kill = async (): Promise<void> => {
    life.abort();
    engine.hands.stopAll('fenced');
    await end(killMs);
    await engine.webhooks.close(0);
  };
  let why: { readonly reason?: string } = {};
  let drained: Promise<void> | undefined;
  const stop = (): Promise<void> => (drained ??= drain());
  void engine.failed.then((reason) => {
    log.error({ engine: id }, reason.message);
    why = { reason: reason.message };
    return stop();
  });
  const { failed, fail, events } = engine;
  return { id, stop, kill, failed, fail, subscribe: events.subscribe };
}

/** Resolves when the signal is aborted; at once when it is already. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Unless a setting says so, the database tells how long a document may be. */
async function learnLimit({ options, store, retry, documentLimit }: Assembly): Promise<void> {
  if (options.documentLimit !== undefined) return;
  const limit = await retry(() => store.documentLimit());
  if (limit !== undefined) documentLimit.bytes = limit;
}

/** Stores the engine's document; one with a name of its own makes sure first that nobody has it. */
async function appear({ id, options, store, presence, retry, life, renewMs }: Assembly) {
  const watch = { store, retry, renewMs, signal: life.signal };
  const former = options.name === undefined ? undefined : await takeOverName(id, watch);
  // Retrying does not free a name that another engine has.
  await retry(() => presence.begin(former), isNameTaken);
}

/** How long the database may take to answer an engine that stops, ms. */
const handBackMs = 10_000;
/** How long webhooks may take for the last events, ms. */
const lastEventsMs = 5_000;
/** The same for one that is to end at once, ms. */
const killMs = 500;

/** Waits for it, but not longer than so many ms. */
async function within(done: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([done, late]);
  over.abort();
}

/** The loop: every change of the database goes to the part that it concerns. */
async function follow(engine: Assembly, since: string): Promise<void> {
  const { store, ending, desk } = engine;
  const { onState, reloaded } = createTeller(engine);
  engine.feed.isFollowed = true;
  for await (const change of store.follow({ since, signal: ending.signal, onState })) {
    take(engine, change);
    await desk.room(busyLimit);
  }
  await reloaded();
}

function take(engine: Assembly, { id, doc, conflicted }: Change): void {
  const { library, peers, jobs, replicas, controls } = engine;
  if (id.startsWith('_design/')) return tellDesign(engine, id, doc);
  if (library.update(id, doc)) return wakeParked(engine);
  if (controls.update(id, doc)) return;
  if (doc === undefined) {
    if (id.startsWith('engine:')) return peers.update(id, undefined);
    return jobs.gone(id);
  }
  switch (doc['type']) {
    case 'job':
      takeEarly(engine, id);
      if (conflicted === true) replicas.suspect(id);
      return replicas.isSuspect(id) ? jobs.review(doc) : jobs.take(doc);
    case 'engine': {
      // Of our own document we know by our own clock when it was written.
      const { renewed } = doc;
      if (id === engine.id && typeof renewed === 'number') {
        engine.meters.feedLag(Math.max(0, engine.now() - renewed));
      }
      const parsed = parseDocument(doc);
      if (parsed.kind === 'engine' && parsed.ok) peers.update(id, parsed.value);
      return;
    }
    case 'request':
    case 'signal':
      return takeMessage(engine, doc);
    case 'event':
      return takeEvent(engine, doc);
    default:
      return engine.strangers(doc);
  }
}

/** Everybody sees that the design document of the engines was changed; one tells. */
function tellDesign(
  { events, isTeller, store }: Assembly,
  id: string,
  doc: StoredDocument | undefined,
): void {
  if (id !== `_design/${store.connection.app}` || !isTeller(`${id}:${doc?._rev ?? ''}`)) return;
  events.emit({ type: 'design.changed', id, ...(doc === undefined ? {} : { rev: doc._rev }) });
}

/** A changed definition may be what some jobs wait for. */
function wakeParked({ parking, jobs }: Assembly): void {
  for (const id of parking.parked()) jobs.rouse(id);
}

type Teller = {
  readonly onState: (state: FeedState) => void;
  /** Resolves when whatever was begun when the database came back has ended (E5). */
  readonly reloaded: () => Promise<void>;
};

/** Says once that the database is away and once that it is back; then looks for what was missed. */
function createTeller(engine: Assembly): Teller {
  const { log, desk, store, retry, library, replicas, events } = engine;
  const { database } = store.connection;
  let away = false;
  const reloads = createReloads(() =>
    retry(async () => {
      await library.load();
      await scan(engine);
    }),
  );
  const onState = (state: FeedState): void => {
    if (state.kind === 'lost') {
      const { cause } = state;
      const level = away ? 'debug' : 'warn';
      log[level]({ cause }, `The connection to ${database} is lost (${cause}); trying again.`);
      if (!away) events.emit({ type: 'database.lost', database, cause });
      away = true;
      desk.forget();
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

function refuseWithoutKey(options: EngineOptions, documents: readonly StoredDocument[]): void {
  if (options.keyless === true || (options.cryptoKey ?? '') !== '') return;
  const holder = documents.find((doc) => encryptedIn(doc).size > 0);
  if (holder !== undefined) throw problem('crypto_key_missing', { where: holder._id });
}
