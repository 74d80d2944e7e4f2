import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../src/store/connection.js';
import { openStore, type Store } from '../src/store/store.js';
import type { Bench } from './bench.js';
import { percentile } from './figure.js';
import { newJobs, storeAll } from './project.js';

/** So far apart are the writes, ms. */
const everyMs = 10;
/** The busy database takes so many documents at once besides. */
const loadBatch = 100;

/** How long after a write was confirmed the feed brings it: alone, and while others write. */
export async function feed({ server, options, say }: Bench): Promise<void> {
  for (const load of ['idle', 'busy'] as const) {
    const connection = await server.database('plain');
    const over = new AbortController();
    const others = load === 'busy' ? writeOn(connection, over.signal) : Promise.resolve();
    const store = openStore(connection);
    const lags = await measureLags(store, options.changes);
    over.abort();
    await others;
    await store.close();
    await server.remove(connection);
    for (const share of [0.5, 0.99]) {
      const figure = `feed lag ${load} p${share * 100}`;
      say({ figure, value: percentile(lags, share), unit: 'ms', changes: lags.length, everyMs });
    }
  }
}

/** Lags in ms; 0 where the feed was faster than the answer to the write. */
async function measureLags(store: Store, count: number): Promise<readonly number[]> {
  const over = new AbortController();
  const arrived = new Map<string, number>();
  const confirmed = new Map<string, number>();
  const { updateSeq: since } = await store.info();
  const docs = newJobs(count, 3);
  const wanted = new Set(docs.map(({ _id }) => _id));
  const listening = (async () => {
    for await (const { id } of store.follow({ since, signal: over.signal })) {
      if (wanted.delete(id)) arrived.set(id, performance.now());
      if (wanted.size === 0) return;
    }
  })();
  await Promise.all(
    docs.map(async (doc, i) => {
      await sleep(200 + i * everyMs);
      await store.write(doc);
      confirmed.set(doc._id, performance.now());
    }),
  );
  await Promise.race([listening, sleep(10_000, undefined, { signal: over.signal })]).catch(
    () => undefined,
  );
  over.abort();
  return [...confirmed].map(([id, at]) => Math.max(0, (arrived.get(id) ?? NaN) - at));
}

async function writeOn(connection: Connection, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await storeAll(connection, newJobs(loadBatch, 3));
    await sleep(1);
  }
}
