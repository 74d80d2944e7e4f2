import { openStore } from '../src/store/store.js';
import { preciseNow, type Bench } from './bench.js';
import { startEngines, type Engines } from './engines.js';
import { sum } from './figure.js';
import { definitions, newJobs, storeAll } from './project.js';
import { documentsOf, replay } from './raw.js';
import type { Connection } from '../src/store/connection.js';

const steps = 3;

/** Jobs and steps per second of a backlog, and which share of what the store can do that is. */
export async function throughput(bench: Bench): Promise<void> {
  const { server, options } = bench;
  for (const size of options.engines) {
    const connection = await server.database('project');
    await storeAll(connection, definitions(steps));
    const { slots, profile } = options;
    const engines = await startEngines({ connection, size, slots, profile });
    await runBacklog(engines, connection, Math.min(50, options.jobs));
    await measure(bench, engines, connection);
    await server.remove(connection);
  }
}

async function measure(bench: Bench, engines: Engines, connection: Connection): Promise<void> {
  const { server, options, say } = bench;
  const { jobs } = options;
  await engines.counts(true);
  const before = await engines.usage();
  const { ms, ids } = await runBacklog(engines, connection, jobs);
  const after = await engines.usage();
  const counts = await engines.counts(false);
  const perJob = await revisionsPerJob(connection, ids);
  await engines.stop();

  const conditions = { engines: engines.size, slots: options.slots, jobs };
  const revisions = sum(counts.map((count) => count.revisions));
  const perSecond = (count: number): number => (count / ms) * 1000;
  const raw = await replay(
    server,
    counts.map(({ bodies }) => bodies),
  );
  const rawPerSecond = (raw.documents / raw.ms) * 1000;
  const share = perSecond(revisions) / rawPerSecond;
  const cpuMs = sum(after.map((use, i) => use.cpuMs - (before[i]?.cpuMs ?? 0)));
  say({ figure: 'jobs', value: perSecond(jobs), unit: '1/s', share, ...conditions });
  say({ figure: 'steps', value: perSecond(jobs * steps), unit: '1/s', share, ...conditions });
  say({ figure: 'revisions', value: perSecond(revisions), unit: '1/s', share, ...conditions });
  const requestMs = sum(counts.map((count) => count.requestMs));
  const bodies = counts.flatMap((count) => count.bodies);
  const sizes = { ...conditions, ...sizesOf(bodies) };
  say({ figure: 'raw documents', value: rawPerSecond, unit: '1/s', ...sizes });
  say({ figure: 'share of raw', value: share, unit: '', ...conditions });
  say({ figure: 'revisions per job after the submit', value: perJob, unit: '', ...conditions });
  const requests = sum(counts.map((count) => count.requests));
  const rawMs = (raw.ms * engines.size) / bodies.length;
  say({ figure: 'request', value: requestMs / requests, unit: 'ms', rawMs, ...conditions });
  const inFlight = requestMs / ms / engines.size;
  say({ figure: 'time with a request in flight', value: inFlight, unit: '', ...conditions });
  say({ figure: 'cpu of engines per job', value: cpuMs / jobs, unit: 'ms', ...conditions });
}

/** Stores jobs and waits until all have ended; the time begins before the first is stored. */
export async function runBacklog(
  engines: Engines,
  connection: Connection,
  count: number,
): Promise<{ readonly ms: number; readonly ids: readonly string[] }> {
  const docs = newJobs(count, steps);
  const ended = engines.ends(count);
  const began = preciseNow();
  await storeAll(connection, docs);
  const ms = (await ended) - began;
  return { ms, ids: docs.map(({ _id }) => _id) };
}

/** How the writes came: documents in a request, bytes of a document. */
function sizesOf(bodies: readonly string[]) {
  const documents = sum(bodies.map((body) => documentsOf(body).length));
  const bytes = sum(bodies.map((body) => Buffer.byteLength(body)));
  return { batch: documents / bodies.length, bytes: bytes / documents };
}

async function revisionsPerJob(connection: Connection, ids: readonly string[]): Promise<number> {
  const store = openStore(connection);
  const docs = [...(await store.getMany(ids)).values()];
  await store.close();
  const failed = docs.filter((doc) => doc['exit'] !== 0);
  if (docs.length < ids.length || failed.length > 0) {
    throw new Error(
      `${ids.length} jobs were stored, ${docs.length} are there, ${failed.length} failed.`,
    );
  }
  return sum(docs.map(({ _rev }) => Number.parseInt(_rev, 10) - 1)) / docs.length;
}
