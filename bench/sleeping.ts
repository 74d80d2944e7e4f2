import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bulkSender } from '../src/store/batch.js';
import type { Connection } from '../src/store/connection.js';
import type { StoredDocument } from '../src/model/document.js';
import { openStore, type Store } from '../src/store/store.js';
import type { Bench } from './bench.js';
import type { Usage } from './engine-messages.js';
import { startEngines } from './engines.js';
import { definitions, newJobs, revisionsOf, storeAll } from './project.js';

const weekMs = 7 * 24 * 3_600_000;
const hourMs = 3_600_000;
/** So long the processor time of an engine is watched that has nothing to do, ms. */
const idleMs = 3_000;

/**
 * What an engine process needs more when jobs sleep in its database: memory against an engine on
 * the same database before they came, and processor time while it does nothing.
 */
export async function sleeping({ server, options, say }: Bench): Promise<void> {
  const connection = await server.database('project');
  await storeAll(connection, definitions(3));
  const store = openStore(connection);
  const start = { connection, size: 1, slots: options.slots, profile: options.profile };

  const first = await startEngines(start);
  const template = await sleepingJob(connection, store);
  const [empty] = await first.usage('collect');
  await first.stop();
  await fill(connection, template, options.sleeping);
  const viewsMs = await timeOf(() => store.view('unfinished', { limit: 1 }));

  const second = await startEngines(start);
  const [full] = await second.usage('collect');
  const [before] = await second.usage();
  await sleep(idleMs);
  const [later] = await second.usage();
  await second.stop();
  await store.close();
  await server.remove(connection);

  const conditions = { jobs: options.sleeping };
  const grown = (part: 'rss' | 'heap'): number => megabytes(full, part) - megabytes(empty, part);
  say({ figure: 'memory grown by sleeping jobs', value: grown('rss'), unit: 'MB', ...conditions });
  say({ figure: 'heap grown by sleeping jobs', value: grown('heap'), unit: 'MB', ...conditions });
  say({ figure: 'start of an engine', value: second.bootMs[0] ?? NaN, unit: 'ms', ...conditions });
  say({ figure: 'building the views', value: viewsMs, unit: 'ms', ...conditions });
  const cpuMs = (later?.cpuMs ?? NaN) - (before?.cpuMs ?? NaN);
  say({ figure: 'cpu while all sleep', value: cpuMs / idleMs, unit: '', ...conditions });
}

/** A job as an engine leaves it that sleeps until next week. */
async function sleepingJob(connection: Connection, store: Store): Promise<StoredDocument> {
  const [job] = newJobs(1, 3, { exec_after: Date.now() + weekMs });
  const id = String(job?._id);
  if (job !== undefined) await storeAll(connection, [job]);
  for (let tries = 0; tries < 100; tries += 1) {
    const doc = await store.get(id);
    if (doc?.['next_due'] !== undefined) return doc;
    await sleep(100);
  }
  throw new Error('No engine put the job to sleep.');
}

async function fill(
  connection: Connection,
  template: StoredDocument,
  count: number,
): Promise<void> {
  const { _rev, ...job } = template;
  const due = Number(job['exec_after']);
  const send = bulkSender(connection);
  for (let made = 0; made < count; made += 1_000) {
    const docs = Array.from({ length: Math.min(1_000, count - made) }, (_, i) => {
      const at = due + Math.floor((hourMs * (made + i)) / count);
      return { ...job, _id: randomUUID(), exec_after: at, next_due: at };
    });
    revisionsOf(await send(JSON.stringify({ docs })));
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function megabytes(usage: Usage | undefined, part: 'rss' | 'heap'): number {
  return (usage?.[part] ?? NaN) / 1_000_000;
}
