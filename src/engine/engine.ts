import { hostname } from 'node:os';
import type { Waits } from '../clock/clock.js';
import { problem, type TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { encryptedIn } from '../model/encrypted-values.js';
import { assemble, type Assembly } from './assembly.js';
import type { EngineOptions } from './options.js';
import { followPlugins } from './control/offer-plugins.js';
import { follow } from './loop/feed.js';
import { scanDatabase } from './loop/scan.js';
import type { Retry } from './retry.js';
import { keepLease, sweep, watchPeers, watchPermits } from './loop/periodic.js';
import { isLeft, isNameTaken, takeOverName } from './peers/name.js';
import type { EngineListener } from './events/system-events.js';

export { createSlotPool, type SlotPool } from './attempts/slot-pool.js';
export { usualSlots, type EngineOptions } from './options.js';

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
  /** Subscribes a listener to what happens from now on (`onEvent` hears the start, too); returns what ends that. */
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
  const { ending, life, store, library, retry, log, id } = engine;
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
  refuseWithoutKey(options, [...library.held.values()]);
  await appear(engine);
  // The scan of many jobs outlasts a lease: it is renewed from the beginning.
  const running = [keepLease(engine), watchPeers(engine)];
  options.signal?.removeEventListener('abort', giveUp);
  const scanning = retry(() => scanDatabase(engine));
  await Promise.race([scanning, aborted(options.signal)]);
  const wasEnded = options.signal?.aborted === true;
  if (wasEnded) ending.abort();
  const since = info?.updateSeq ?? '0';
  running.push(scanning.then(() => undefined));
  running.push(follow(engine, since), sweep(engine), watchPermits(engine), followPlugins(engine));
  if (!wasEnded) {
    log.info({}, `Engine ${id} follows ${store.connection.database}.`);
    engine.events.emit({ type: 'engine.started', host: hostname(), pid: process.pid });
  }
  const { failed, fail, events } = engine;
  return { id, ...endsOf(engine, running, wasEnded), failed, fail, subscribe: events.subscribe };
}

/** How an engine ends. `wasEnded`: while it waited for the database. */
function endsOf(
  engine: Assembly,
  running: readonly Promise<void>[],
  wasEnded: boolean,
): Pick<Engine, 'stop' | 'kill'> {
  const { attempts, ending, id, life, log, options, presence, serializer, webhooks } = engine;
  const within = (done: Promise<unknown>, ms: number) => endsWithin(engine.clock, done, ms);
  const end = async (waitMs: number): Promise<void> => {
    engine.timers.stop();
    engine.rateTimers.stop();
    engine.schedules.stop();
    engine.eventTriggers.stop();
    engine.gatherings.stop();
    attempts.close();
    ending.abort();
    await within(serializer.idle(), waitMs);
    life.abort();
    await within(Promise.all([...running, serializer.idle()]), waitMs);
  };
  const drain = async (): Promise<void> => {
    attempts.close();
    // One that was ended before it had begun may never have been answered.
    if (wasEnded && attempts.claims.size === 0) {
      await end(killMs);
      await within(presence.leave(), killMs);
      return webhooks.close(0);
    }
    await within(presence.drain(), handBackMs);
    await within(attempts.empty(), options.drainMs ?? 30_000);
    attempts.stopAll('released');
    await within(attempts.empty(), handBackMs);
    await end(handBackMs);
    await within(presence.leave(), handBackMs);
    log.info({}, `Engine ${id} has stopped.`);
    engine.events.emit({ type: 'engine.stopped', ...why });
    await webhooks.close(lastEventsMs);
  };
  const kill = async (): Promise<void> => {
    life.abort();
    attempts.stopAll('fenced');
    await end(killMs);
    await webhooks.close(0);
  };
  let why: { readonly reason?: string } = {};
  let drained: Promise<void> | undefined;
  const stop = (): Promise<void> => (drained ??= drain());
  void engine.failed.then((reason) => {
    log.error({}, reason.message);
    why = { reason: reason.message };
    return stop();
  });
  return { stop, kill };
}

/** Resolves when the signal is aborted; at once when it is already. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Asks the database how long a document may be, unless a setting says it. */
async function learnLimit({ options, store, retry, documentLimit }: Assembly): Promise<void> {
  if (options.documentLimit !== undefined) return;
  const limit = await retry(() => store.documentLimit());
  if (limit !== undefined) documentLimit.bytes = limit;
}

/** Stores the engine's document; one with a name of its own makes sure first that nobody has it. */
async function appear({ id, options, store, presence, retry, life, renewMs, clock }: Assembly) {
  const watch = { store, retry, renewMs, clock, signal: life.signal };
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
async function endsWithin(clock: Waits, done: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([done, clock.sleep(ms, over.signal)]);
  over.abort();
}

function refuseWithoutKey(options: EngineOptions, documents: readonly StoredDocument[]): void {
  if (options.keyless === true || (options.cryptoKey ?? '') !== '') return;
  const holder = documents.find((doc) => encryptedIn(doc).size > 0);
  if (holder !== undefined) throw problem('crypto_key_missing', { where: holder._id });
}

/** So many engines may share one saved id; after them an engine gets a new one. */
const mostOfOne = 100;

/**
 * Starts an engine under a saved id: the first of `ID`, `ID-2`, `ID-3` … that no other engine has. Of
 * two that want one at once the store gives it to one, and the other takes the next. So an engine that
 * is started again has the id it had, and two of one folder have two.
 */
export async function startUnderSavedId(
  id: string,
  options: EngineOptions,
  retry: Retry,
): Promise<Engine> {
  for (let count = 1; count <= mostOfOne; count += 1) {
    const name = count === 1 ? id : `${id}-${count}`;
    const there = await retry(() => options.store.get(`engine:${name}`));
    if (there !== undefined && !isLeft(there)) continue;
    try {
      return await startEngine({ ...options, name });
    } catch (error) {
      if (!isNameTaken(error)) throw error;
    }
  }
  return startEngine(options);
}
