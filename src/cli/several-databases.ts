import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../client.js';
import type { Config } from '../config/load.js';
import { problem, TwsError } from '../errors.js';
import { withFields, type Log } from '../log.js';
import {
  endEngine,
  openProcess,
  startProjectEngine,
  stopping,
  untilStopped,
  waitForDatabase,
  type EngineProcess,
} from './engine-run.js';
import type { Io } from './io.js';
import { createLog } from './log.js';
import { startProcesses } from './processes.js';
import { aborted } from './signals.js';

export type Several = {
  /** The settings for each database. */
  readonly configs: readonly Config[];
  readonly engines?: number | undefined;
  readonly name?: string | undefined;
  readonly http?: string | boolean | undefined;
};

/** How long the last writes may take, ms. */
const closeMs = 10_000;

/**
 * Runs an engine for each of several databases in this process until all have ended. They share its
 * plugins and its slots. Each waits for its own database, and one that has to stop by itself is logged
 * and stops no other. The exit status is the first one that is not 0.
 * @throws TwsError `usage` with `http`: an API serves one database
 */
export async function startSeveral(several: Several, io: Io): Promise<number> {
  const { configs, engines, name, http } = several;
  const [config] = configs as readonly [Config, ...Config[]];
  if (http !== undefined && http !== false) {
    const reason = '--http serves one database: run tws serve for each, beside tws start.';
    throw problem('usage', { reason });
  }
  const log = createLog({ level: config.logLevel, name }, io);
  if (engines !== undefined && engines > 1) {
    const databases = configs.map(({ database }) => database);
    return startProcesses({ config, databases, count: engines, name, log }, io);
  }
  const { ownsProcess } = io;
  const process = await openProcess({ config, log, ownsProcess, isShared: true });
  void aborted(io.stop).then(() => io.say(stopping));
  const statuses = await Promise.all(
    configs.map((one) =>
      runOne(one, { name, process, log: withFields(log, { database: one.database }) }, io),
    ),
  );
  return statuses.find((status) => status !== 0) ?? 0;
}

type One = {
  readonly name: string | undefined;
  readonly process: EngineProcess;
  readonly log: Log;
};

/** Runs the engine of one database; what ends it is logged, and gives the exit status. */
async function runOne(config: Config, one: One, io: Io): Promise<number> {
  try {
    return await follow(config, one, io);
  } catch (error) {
    if (!(error instanceof TwsError)) throw error;
    one.log.error({ error: error.code }, `${error.message} ${error.hint}`);
    return error.exit;
  }
}

async function follow(config: Config, { name, process, log }: One, io: Io): Promise<number> {
  if ((await waitForDatabase(config, log, io.stop)) === undefined) return 0;
  const opened = openDatabase(config, { log });
  try {
    const { stop: signal, ownsProcess } = io;
    const isTerminal = io.isTerminal && io.mode !== 'json';
    const begun = { config, opened, log, name, signal, ownsProcess, isTerminal, process };
    const engine = await startProjectEngine(begun);
    if (engine === undefined) return 0;
    const failure = await untilStopped(engine, io.stop);
    const ended = await endEngine(engine, io.force);
    if (failure !== undefined) throw failure;
    return ended === 'drained' ? 0 : 130;
  } finally {
    const late = sleep(closeMs, undefined, { ref: false });
    await Promise.race([opened.close(), aborted(io.force), late]);
  }
}
