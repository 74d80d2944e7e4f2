import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore, type Store } from '../../src/store/store.js';
import type { NewDocument } from '../../src/store/writer.js';
import { between, chanceFrom, oneOf } from './chance.js';
import { openDatabase, type Database, type Place } from './database.js';
import { openFleet, type Fleet, type Patience } from './fleet.js';
import { createMischief, planDeeds, type Deed } from './mischief.js';
import { watch, type Watch } from './watch.js';
import { isClean, judge, type Verdict } from './verdict.js';
import { definitions, jobNumber } from './flows.js';
import { moment, plugins, readWitness } from './witness.js';

export type ChaosOptions = Place & {
  readonly engines: number;
  readonly jobs: number;
  readonly kills: number;
  /** The same seed makes the same plan; how the processes meet it differs. */
  readonly seed: number;
  /** Processes of the nodes, in their order, for stalls. */
  readonly pids?: readonly number[];
  /** Keeps folder and database of a run that is not clean. */
  readonly keep?: boolean;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
};

export type Report = {
  readonly verdict: Verdict;
  readonly done: ReadonlyMap<Deed, number>;
  readonly processes: number;
  readonly tookMs: number;
  /** Where logs and witness are, when they were kept. */
  readonly kept?: string;
};

/** Short, so that a run need not wait for it; long enough for a busy machine. */
const leaseMs = 2_000;
/** When so long no job has moved, those that are left are lost. */
const patienceMs = 60_000;

/**
 * Submits jobs, does mischief until the plan is through, waits for the jobs, and judges. Whatever
 * it started is ended when it resolves or rejects.
 */
export async function runChaos(options: ChaosOptions): Promise<Report> {
  const began = Date.now();
  const folder = await mkdtemp(join(tmpdir(), 'tws-chaos-'));
  const chance = chanceFrom(options.seed);
  const database = await openDatabase(options);
  const { connection, nodes } = database;
  const store = openStore(connection);
  const watching = watch(store);
  let fleet: Fleet | undefined;
  let keep = options.keep === true;
  try {
    await makeProject(folder, store);
    fleet = await openFleet({ seats: options.engines, folder, connection, nodes, chance });
    const parts: Parts = { options, chance, database, store, watching, fleet };
    const { submitted, done } = await disturb(parts);
    await settle(parts);
    await healed(parts);
    await fleet.drain({ longestMs: 60_000, signal: options.signal });
    const documents = await database.documents();
    const verdict = judge({
      submitted,
      documents,
      lines: readWitness(folder),
      lives: fleet.lives,
      beats: watching.beats,
      leaseMs,
    });
    keep &&= !isClean(verdict);
    if (keep) await writeFile(join(folder, 'documents.json'), JSON.stringify(documents, null, 1));
    const processes = fleet.lives.length;
    const report = { verdict, done, processes, tookMs: Date.now() - began };
    return keep ? { ...report, kept: folder } : report;
  } finally {
    await fleet?.close();
    await watching.stop();
    await store.close();
    await database.close(keep);
    if (!keep) await rm(folder, { recursive: true, force: true });
  }
}

type Parts = {
  readonly options: ChaosOptions;
  readonly chance: () => number;
  readonly database: Database;
  readonly store: Store;
  readonly watching: Watch;
  readonly fleet: Fleet;
};

/** A project folder with the witness, and its definitions in the database. */
async function makeProject(folder: string, store: Store): Promise<void> {
  const { database } = store.connection;
  await mkdir(join(folder, 'plugins'));
  for (const [name, text] of Object.entries(plugins)) {
    await writeFile(join(folder, 'plugins', name), text);
  }
  await writeFile(join(folder, 'tws.json'), JSON.stringify({ database, lease: leaseMs }));
  for (const doc of definitions) await submit(store, doc);
}

/** Stores a document, however often it takes. */
async function submit(store: Store, doc: NewDocument, signal?: AbortSignal): Promise<void> {
  while (signal?.aborted !== true) {
    const result = await store.write(doc);
    // A conflict: an earlier attempt was stored, and only its answer was lost.
    if (result.kind === 'written' || result.kind === 'conflict') return;
    if (result.kind === 'refused') throw new Error(`${doc._id} is refused: ${result.reason}`);
    await sleep(200);
  }
}

/** Goes through the plan; the jobs are submitted along the way, so that there is always work. */
async function disturb(parts: Parts) {
  const { options, chance, database, store, watching, fleet } = parts;
  const { jobs, kills, say, signal } = options;
  for (const seat of fleet.seats) fleet.start(seat);
  const stalls = database.nodes.length > 1 ? kills : 0;
  const plan = planDeeds(kills, stalls, chance);
  const mischief = createMischief({
    ...{ fleet, database, leaseMs, chance, signal, pids: options.pids ?? [] },
    spared: watching.fragile,
  });
  const submitted: string[] = [];
  const submitUpTo = async (count: number): Promise<void> => {
    const from = submitted.length;
    const ids = Array.from({ length: count - from }, (_, i) => `job-${from + i}`);
    submitted.push(...ids);
    await Promise.all(ids.map((_id, i) => submit(store, jobNumber(from + i), signal)));
  };
  try {
    for (const [i, deed] of plan.entries()) {
      const due = Math.ceil((jobs * (i + 3)) / (plan.length + 2));
      await submitUpTo(Math.min(jobs, due));
      const enough = (jobs * (i - 1)) / (plan.length + 2);
      await until(() => watching.final.size >= enough, { longestMs: 5_000, signal });
      await pause(between(200, 1_200, chance), signal);
      while (!signal.aborted && !mischief.do(deed)) await pause(100, signal);
      if (signal.aborted) break;
      await editOne(store, watching, chance);
      say(`${i + 1}/${plan.length} ${deed}, ${watching.final.size} of ${jobs} jobs final`);
    }
    await submitUpTo(jobs);
  } finally {
    await mischief.over();
  }
  signal.throwIfAborted();
  return { submitted, done: mischief.done };
}

/** Waits for the jobs as long as any of them moves. */
async function settle({ options, watching, fleet }: Parts): Promise<void> {
  const { jobs, say, signal } = options;
  const since = moment();
  const stuck = (): boolean => moment() - Math.max(watching.movedAt(), since) > patienceMs;
  say(`no more mischief; ${watching.final.size} of ${jobs} jobs are final`);
  const isOver = (): boolean => watching.final.size >= jobs && watching.open.size === 0;
  await until(() => isOver() || stuck(), { longestMs: Infinity, signal });
  signal.throwIfAborted();
  say(`${watching.final.size} of ${jobs} jobs final; ${fleet.lives.length} engines were started`);
}

/** With several copies the last conflicts are healed when engines come upon them. */
async function healed({ database, options }: Parts): Promise<void> {
  if (database.copies === 1) return;
  const from = moment();
  while (!options.signal.aborted && moment() - from < patienceMs) {
    const documents = await database.documents();
    if (!documents.some((doc) => '_conflicts' in doc)) return;
    await pause(500, options.signal);
  }
}

/** Somebody edits a job that has not ended by hand; who is too late has lost. */
async function editOne(store: Store, watching: Watch, chance: () => number): Promise<void> {
  const open = [...watching.open];
  if (open.length === 0) return;
  try {
    const doc = await store.get(oneOf(open, chance));
    if (doc !== undefined) await store.write({ ...doc, edited: moment() });
  } catch {
    // The database is away: so is the edit.
  }
}

async function until(done: () => boolean, { longestMs, signal }: Patience): Promise<void> {
  const from = moment();
  while (!done() && !signal.aborted && moment() - from < longestMs) await pause(50, signal);
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);
