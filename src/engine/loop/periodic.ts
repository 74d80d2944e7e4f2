import type { Waits } from '../../clock/clock.js';
import { sweepsIn } from '../../decide/compete/ranks.js';
import { uniqueUntil } from '../../model/lock.js';
import { usualLeaseMs } from '../../model/engine.js';
import type { Assembly } from '../assembly.js';
import { usualSweepMs } from '../options.js';
import { createOldRates } from '../locks/old-rates.js';
import { isNameTaken } from '../peers/name.js';
import { rowsOf, scanEngines, scanParts, type ScanPart } from './scan.js';

/** Renews the lease of this engine until it ends; another engine of its name makes it stop. */
export async function keepLease(engine: Assembly): Promise<void> {
  const { presence, ending, renewMs, log, fail, clock } = engine;
  const renew = async (): Promise<void> => {
    try {
      await presence.renew();
    } catch (error) {
      if (isNameTaken(error)) return fail(error);
      // Most often the database is away, which the feed reports; the next renewal makes up for it.
      log.debug({ error: String(error) }, 'The lease was not renewed.');
    }
  };
  // The first comes early: the others read it, also those that took the beginning for a renewal (P4).
  await clock.upkeep.sleep(renewMs / 2, ending.signal);
  if (!ending.signal.aborted) await renew();
  await every(renewMs, ending.signal, renew, clock);
}

/** Looks for engines whose lease is over and takes up their jobs. */
export async function watchPeers({
  peers,
  waitQueue,
  jobs,
  ending,
  options,
  events,
  feed,
  isReporter,
  clock,
}: Assembly): Promise<void> {
  const tickMs = Math.min(1_000, (options.leaseMs ?? usualLeaseMs) / 5);
  await every(
    tickMs,
    ending.signal,
    async () => {
      const lost = new Set(peers.lost());
      const died = peers.died();
      for (const engine of died) {
        // Every engine sees that; one reports it.
        if (lost.has(engine) && isReporter(`lost:${engine}`)) {
          events.emit({ type: 'engine.lost', lost: engine });
        }
        const ids = waitQueue.takeOf(engine);
        // A line about another engine.
        if (ids.length > 0) {
          options.log.warn({ engine, jobs: ids.length }, `${engine} is gone; taking over.`);
        }
        ids.forEach(jobs.rouse);
      }
      // Once for all that died: many may do so in the same moment.
      if (died.length > 0) {
        waitQueue.waiting().forEach(jobs.rouse);
        feed.hurry();
      }
      // A slot that was kept for another engine of this process, which did not take it after all.
      jobs.fillSlots();
    },
    clock,
  );
}

/**
 * Calls the jobs that wait for a permit of a limit, should the feed not have shown that one is free, and
 * reports how many jobs wait for what.
 */
export async function watchPermits({
  jobs,
  ending,
  meters,
  permitQueues,
  waitQueue,
  clock,
}: Assembly): Promise<void> {
  await every(
    500,
    ending.signal,
    async () => {
      const { size: forSlot } = waitQueue.tickets;
      meters?.waiting?.('permit', permitQueues.waiting());
      meters?.waiting?.('slot', forSlot);
      meters?.waiting?.('change', Math.max(0, waitQueue.waiting().length - forSlot));
      await jobs.callForPermits();
    },
    clock,
  );
}

/**
 * Repeats the scan of the start, for whatever the feed did not bring. Each part has its own pace: one
 * whose answer takes long, or that fails, holds up no other. Of many engines only some scan at a time,
 * in turn: what all of them read together does not grow with their number. Definitions are read by
 * each of them, every time.
 */
export async function sweep(engine: Assembly): Promise<void> {
  const { options, ending, library, log, self, peers, waitQueue, jobs, clock } = engine;
  const removeOldRates = createOldRates();
  const removeOld: ScanPart = ({ store, now }) => removeOldRates(store, now());
  const parts: readonly ScanPart[] = [scanEngines, ...scanParts, removeOrphans, removeOld];
  const repeat = (part: ScanPart, isTurn = (_round: number): boolean => true): Promise<void> => {
    let round = 0;
    return every(
      options.sweepMs ?? usualSweepMs,
      ending.signal,
      async () => {
        round += 1;
        if (!isTurn(round)) return;
        try {
          await part(engine);
        } catch (error) {
          // The feed reports when the database is away; the next sweep makes up for this one.
          log.debug({ error: String(error) }, 'A part of the sweep failed.');
        }
      },
      clock,
    );
  };
  const isTurn = (round: number): boolean => sweepsIn(round, self, peers.alive);
  const loadDefinitions = async (): Promise<void> => {
    if (await library.load()) waitQueue.waiting().forEach(jobs.rouse);
  };
  const ofAll = [loadDefinitions, removeRemains];
  const inTurn = parts.map((part) => repeat(part, isTurn));
  await Promise.all([...ofAll.map((part) => repeat(part)), ...inTurn]);
}

/** Removes locks of no use; those of a key whose period goes on are not read. */
function removeOrphans(engine: Assembly): Promise<void> {
  // Such locks come last in the view.
  const due = { endKey: ['unique', uniqueUntil(engine.now())], includeDocs: true };
  return engine.locks.removeOrphans(rowsOf(engine, 'locks', due));
}

/** Deletes the documents of dead engines; one that lives after all writes a new one. */
async function removeRemains({ peers, store, isReporter }: Assembly): Promise<void> {
  for (const id of peers.remains()) {
    // Every engine sees that they are dead; one removes them.
    if (!isReporter(`remains:${id}`)) continue;
    const doc = await store.get(id);
    if (doc !== undefined && peers.lease(id) === 'dead') await store.remove(id, doc._rev);
  }
}

async function every(
  ms: number,
  signal: AbortSignal,
  duty: () => Promise<void>,
  { upkeep }: { readonly upkeep: Waits },
): Promise<void> {
  while (!signal.aborted) {
    await upkeep.sleep(ms, signal);
    if (!signal.aborted) await duty();
  }
}
