import { setTimeout as sleep } from 'node:timers/promises';
import { usualLeaseMs } from '../../model/engine.js';
import type { Assembly } from '../assembly.js';
import { usualSweepMs } from '../options.js';
import { isNameTaken } from '../peers/name.js';
import { rowsOf, scanEngines, scanParts, type ScanPart } from './scan.js';

/** Renews the lease of this engine until it ends; another engine of its name makes it stop. */
export async function keepLease(engine: Assembly): Promise<void> {
  const { presence, ending, renewMs, log, fail } = engine;
  await every(renewMs, ending.signal, async () => {
    try {
      await presence.renew();
    } catch (error) {
      if (isNameTaken(error)) return fail(error);
      // Most often the database is away, which the feed reports; the next renewal makes up for it.
      log.debug({ error: String(error) }, 'The lease was not renewed.');
    }
  });
}

/** Looks for engines whose lease is over and takes up their jobs. */
export async function watchPeers({
  peers,
  waitQueue,
  jobs,
  ending,
  log,
  options,
  events,
  isReporter,
}: Assembly): Promise<void> {
  const tickMs = Math.min(1_000, (options.leaseMs ?? usualLeaseMs) / 5);
  await every(tickMs, ending.signal, async () => {
    const lost = new Set(peers.lost());
    for (const engine of peers.died()) {
      // Every engine sees that; one reports it.
      if (lost.has(engine) && isReporter(`lost:${engine}`)) {
        events.emit({ type: 'engine.lost', lost: engine });
      }
      const ids = waitQueue.takeOf(engine);
      if (ids.length > 0) log.warn({ engine, jobs: ids.length }, `${engine} is gone; taking over.`);
      ids.forEach(jobs.rouse);
      waitQueue.waiting().forEach(jobs.rouse);
    }
  });
}

/** Calls the jobs that wait for a permit of their flow, should the feed not have shown that one is free. */
export async function watchPermits({ jobs, ending }: Assembly): Promise<void> {
  await every(2_000, ending.signal, jobs.callForPermits);
}

/**
 * Repeats the scan of the start, for whatever the feed did not bring. Each part has its own pace: one
 * whose answer takes long, or that fails, holds up no other.
 */
export async function sweep(engine: Assembly): Promise<void> {
  const { options, ending, library, log } = engine;
  const parts: readonly ScanPart[] = [
    () => library.load(),
    scanEngines,
    ...scanParts,
    removeRemains,
    () => engine.locks.removeOrphans(rowsOf(engine, 'locks', { includeDocs: true })),
  ];
  const repeat = (part: ScanPart): Promise<void> =>
    every(options.sweepMs ?? usualSweepMs, ending.signal, async () => {
      try {
        await part(engine);
      } catch (error) {
        // The feed reports when the database is away; the next sweep makes up for this one.
        log.debug({ error: String(error) }, 'A part of the sweep failed.');
      }
    });
  await Promise.all(parts.map(repeat));
}

/** Deletes the documents of dead engines; one that lives after all writes a new one. */
async function removeRemains({ peers, store }: Assembly): Promise<void> {
  for (const id of peers.remains()) {
    const doc = await store.get(id);
    if (doc !== undefined && peers.lease(id) === 'dead') await store.remove(id, doc._rev);
  }
}

async function every(ms: number, signal: AbortSignal, duty: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await sleep(ms, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await duty();
  }
}
