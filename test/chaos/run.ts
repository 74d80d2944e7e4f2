import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredDocument } from '../../src/model/parse.js';
import { openStore, type Store } from '../../src/store/store.js';
import { between, chanceFrom } from './chance.js';
import { openDatabase, type Database } from './database.js';
import { openFleet, type Fleet } from './fleet.js';
import { createMischief, planDeeds, type Deed } from './mischief.js';
import { watch, type Watch } from './watch.js';
import { judge, type Verdict } from './verdict.js';
import { readWitness, witnessPlugin } from './witness.js';

export type ChaosOptions = {
  readonly engines: number;
  readonly jobs: number;
  readonly kills: number;
  /** The same seed makes the same plan; how the processes meet it differs. */
  readonly seed: number;
  /** A server with its admin's credentials; without, an embedded server of the run's own. */
  readonly url?: string | undefined;
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
  const database = await openDatabase(options.url);
  const { connection } = database;
  const store = openStore(connection);
  const watching = watch(store);
  let fleet: Fleet | undefined;
  let keep = options.keep === true;
  try {
    await makeProject(folder, store);
    fleet = await openFleet({ seats: options.engines, folder, connection, chance });
    const parts: Parts = { options, chance, database, store, watching, fleet };
    const { submitted, done } = await disturb(parts);
    await settle(parts);
    await fleet.drain(45_000);
    const verdict = judge({
      submitted,
      documents: await allDocuments(store),
      lines: readWitness(folder),
      lives: fleet.lives,
      beats: watching.beats,
      leaseMs,
    });
    keep &&= !isQuiet(verdict);
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
