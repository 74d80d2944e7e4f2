import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../src/client.js';
import type { RetentionDocument } from '../src/model/retention.js';
import type { Connection } from '../src/store/connection.js';
import { openStore, type Store } from '../src/store/store.js';
import type { Bench } from './bench.js';
import { flowName, storeAll } from './project.js';

const dayMs = 86_400_000;
const kept = 1_000;
/** The size of a database is taken when it has not changed for so long, ms. */
const stillMs = 1_500;

/** What it costs to remove all ended jobs but the newest 1,000, and what it gives back. */
export async function retention({ server, options, say }: Bench): Promise<void> {
  const connection = await server.database('project');
  const store = openStore(connection);
  const client = createClient({ store });
  const jobs = options.retained;
  const conditions = { jobs, kept: Math.min(kept, jobs) };
  await fill(connection, jobs);
  await readViews(store);
  const before = { rss: memory(), size: await sizeOf(connection) };

  let most = before.rss;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss() / 1e6)), 50);
  const began = performance.now();
  const usual = { succeeded: { count: kept } };
  const asked = { usual, by: 'bench', everyMs: dayMs, atOnce: true };
  const pass = await client.retention(asked);
  const seconds = (performance.now() - began) / 1000;
  clearInterval(watch);
  if (pass.kind !== 'done') throw new Error(`The pass was not made: ${pass.kind}.`);
  const after = { rss: memory(), size: await sizeOf(connection) };
  const purging = performance.now();
  const next = await client.retention({ ...asked, purgeAfterMs: 0 });
  const purgeSeconds = (performance.now() - purging) / 1000;
  const purged = next.kind === 'done' ? next.purged : 0;
  const sizePurged = await sizeOf(connection);
  const told = (await client.get('retention')) as RetentionDocument | undefined;
  await store.close();
  await server.remove(connection);

  const compacted = told?.last?.compacted === true;
  const removed = pass.result.documents;
  say({ figure: 'jobs removed', value: removed / seconds, unit: '/s', removed, ...conditions });
  say({ figure: 'size before', value: before.size, unit: 'MB', ...conditions });
  say({ figure: 'size after', value: after.size, unit: 'MB', compacted, ...conditions });
  say({
    figure: 'tombstones purged',
    value: purged / purgeSeconds,
    unit: '/s',
    purged,
    ...conditions,
  });
  say({ figure: 'size purged', value: sizePurged, unit: 'MB', ...conditions });
  say({ figure: 'memory before', value: before.rss, unit: 'MB', ...conditions });
  say({ figure: 'memory at most', value: most, unit: 'MB', ...conditions });
  say({ figure: 'memory after', value: after.rss, unit: 'MB', ...conditions });
}

/** Jobs of three steps as engines leave them, one each second. */
async function fill(connection: Connection, count: number): Promise<void> {
  const first = Date.now() - dayMs - count * 1_000;
  const steps = [0, 1, 2].map((i) => ({
    ...{ index: i, path: String(i), name: `step-${i}`, task: 'noop', plugin: 'noop', attempt: 1 },
    ...{ phase: 'main', state: '$$complete', exit: 0, claim: `${randomUUID()}:${i}` },
    ...{ engine: `engine:${randomUUID()}`, params: {}, result: { n: i } },
  }));
  for (let made = 0; made < count; made += 1_000) {
    const docs = Array.from({ length: Math.min(1_000, count - made) }, (_, i) => {
      const start = first + (made + i) * 1_000;
      return {
        ...{ _id: randomUUID(), type: 'job', flow: flowName(3), owner: 'bench', exit: 0 },
        ...{ state: '$$complete', start, end: start + 500, steps },
      };
    });
    await storeAll(connection, docs);
  }
}

async function readViews(store: Store): Promise<void> {
  await store.view('unfinished', { limit: 1 });
  await store.view('search', { limit: 1 });
}

function memory(): number {
  global.gc?.();
  return process.memoryUsage.rss() / 1e6;
}

/** The documents on disk, MB, without views; a compaction goes on after it was asked for. */
async function sizeOf({ url, user, password, database }: Connection): Promise<number> {
  const login = Buffer.from(`${user ?? ''}:${password ?? ''}`).toString('base64');
  const headers: Record<string, string> =
    user === undefined ? {} : { authorization: `Basic ${login}` };
  const read = async (): Promise<number> => {
    const answer = await fetch(`${url}/${encodeURIComponent(database)}`, { headers });
    const { sizes, compact_running: isCompacting } = (await answer.json()) as Info;
    if (!isCompacting) return sizes.file / 1e6;
    await sleep(stillMs);
    return read();
  };
  for (let size = await read(); ;) {
    await sleep(stillMs);
    const next = await read();
    if (Math.abs(next - size) < 0.01) return next;
    size = next;
  }
}

type Info = { readonly sizes: { readonly file: number }; readonly compact_running: boolean };
