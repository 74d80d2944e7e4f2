import { openStore } from '../src/store/store.js';
import { preciseNow, type Bench } from './bench.js';
import { startEngines, type Engines } from './engines.js';
import { sum } from './figure.js';
import { definitions, newJobs, storeAll } from './project.js';
import type { Counts } from './engine-messages.js';
import { documentsOf, replay, replayRevisions, type RawRate } from './raw.js';
import type { Connection } from '../src/store/connection.js';

const steps = 3;
/** Jobs that are not measured: only then everything is compiled. */
const warmUp = 1_000;

/** Jobs and steps per second of a backlog, and which share of what the store can do that is. */
export async function throughput(bench: Bench): Promise<void> {
  const { server, options } = bench;
  for (const size of options.engines) {
    const connection = await server.database('project');
    await storeAll(connection, definitions(steps));
    const { slots, profile } = options;
    const engines = await startEngines({ connection, size, slots, profile });
    await runBacklog(engines, connection, warmUp);
    const rounds: Round[] = [];
    for (let n = 0; n < options.repeat; n += 1) {
      rounds.push(await runRound(bench, engines, connection));
    }
    await engines.stop();
    await server.remove(connection);
    report(bench, size, rounds);
  }
}

/** One backlog, and what it sent sent again; processor times in ms, NaN where they cannot be told. */
type Round = {
  readonly ms: number;
  readonly revisions: number;
  /** Of the documents of all jobs, the submitted ones not counted. */
  readonly revisionsOfJobs: number;
  readonly requests: number;
  readonly requestMs: number;
  readonly bytes: number;
  readonly raw: RawRate;
  /** The same as revisions, validated. */
  readonly validated: RawRate;
  readonly enginesCpuMs: number;
  readonly serverCpuMs: number;
  readonly rawServerCpuMs: number;
};

/** Backlog and raw writes alternate, so that both see the same machine. */
async function runRound(
  { server, options }: Bench,
  engines: Engines,
  connection: Connection,
): Promise<Round> {
  await engines.counts(true);
  const cpuOfEngines = async (): Promise<number> =>
    sum((await engines.usage()).map(({ cpuMs }) => cpuMs));
  const [enginesBefore, serverBefore] = [await cpuOfEngines(), server.cpuMs()];
  const { ms, ids } = await runBacklog(engines, connection, options.jobs);
  const [enginesAfter, serverAfter] = [await cpuOfEngines(), server.cpuMs()];
  const counts = await engines.counts(false);
  const revisionsOfJobs = await revisionsOf(connection, ids);
  const bodies = counts.map((count) => count.bodies.filter(isOfJobs));
  const rawBefore = server.cpuMs();
  const raw = await replay(server, bodies);
  const rawAfter = server.cpuMs();
  const of = (pick: (count: Counts) => number): number => sum(counts.map(pick));
  return {
    ms,
    revisions: of((count) => count.revisions),
    revisionsOfJobs,
    requests: of((count) => count.requests),
    requestMs: of((count) => count.requestMs),
    bytes: of(({ bodies }) => sum(bodies.map((body) => Buffer.byteLength(body)))),
    raw,
    validated: await replayRevisions(server, bodies),
    enginesCpuMs: enginesAfter - enginesBefore,
    serverCpuMs: serverAfter - serverBefore,
    rawServerCpuMs: rawAfter - rawBefore,
  };
}

/** Engines tell that they are alive now and then; that is no work. */
function isOfJobs(body: string): boolean {
  return documentsOf(body).every(({ type }) => type === 'job');
}

function report({ options, say }: Bench, size: number, rounds: readonly Round[]): void {
  const of = (pick: (round: Round) => number): number => sum(rounds.map(pick));
  const jobs = options.jobs * rounds.length;
  const conditions = { engines: size, slots: options.slots, jobs };
  const ms = of((round) => round.ms);
  const [revisions, requests] = [of((round) => round.revisions), of((round) => round.requests)];
  const [documents, rawMs] = [of(({ raw }) => raw.documents), of(({ raw }) => raw.ms)];
  const perSecond = (count: number): number => (count / ms) * 1000;
  const raw = rateOf(rounds.map((round) => round.raw));
  const share = perSecond(revisions) / raw;
  const tell = (figure: string, value: number, unit: string, more: object = {}): void =>
    say({ figure, value, unit, ...more, ...conditions });
  tell('jobs', perSecond(jobs), '1/s', { share });
  tell('steps', perSecond(jobs * steps), '1/s', { share });
  tell('revisions', perSecond(revisions), '1/s', { share });
  const sizes = { batch: documents / requests, bytes: of(({ bytes }) => bytes) / documents };
  tell('raw documents', raw, '1/s', sizes);
  tell('share of raw', share, '', { rounds: rounds.map(shareOf) });
  const validated = rateOf(rounds.map((round) => round.validated));
  tell('raw revisions', validated, '1/s', { share: perSecond(revisions) / validated });
  const perJob = of((round) => round.revisionsOfJobs) / jobs;
  tell('revisions per job after the submit', perJob, '');
  const requestMs = of((round) => round.requestMs);
  tell('request', requestMs / requests, 'ms', { rawMs: (rawMs * size) / requests });
  tell('time with a request in flight', requestMs / ms / size, '');
  tell('cpu of engines per job', of((round) => round.enginesCpuMs) / jobs, 'ms');
  const serverCpuMs = of((round) => round.serverCpuMs);
  if (Number.isNaN(serverCpuMs)) return;
  const perRawDocument = of((round) => round.rawServerCpuMs) / documents;
  tell('cpu of server per revision', serverCpuMs / revisions, 'ms', { perRawDocument });
}

/** Documents per second of all together. */
function rateOf(rates: readonly RawRate[]): number {
  return (sum(rates.map(({ documents }) => documents)) / sum(rates.map(({ ms }) => ms))) * 1000;
}

function shareOf({ ms, revisions, raw }: Round): number {
  return revisions / ms / (raw.documents / raw.ms);
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

/** How many revisions the engines made of these jobs. @throws Error when one of them failed */
async function revisionsOf(connection: Connection, ids: readonly string[]): Promise<number> {
  const store = openStore(connection);
  const docs = [...(await store.getMany(ids)).values()];
  await store.close();
  const failed = docs.filter((doc) => doc['exit'] !== 0);
  if (docs.length < ids.length || failed.length > 0) {
    throw new Error(
      `${ids.length} jobs were stored, ${docs.length} are there, ${failed.length} failed.`,
    );
  }
  return sum(docs.map(({ _rev }) => Number.parseInt(_rev, 10) - 1));
}
