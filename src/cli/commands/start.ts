import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { openDatabase } from '../../client.js';
import { createCleanup } from '../cleanup.js';
import { defineCommand, numberFlag } from '../command.js';
import {
  endEngine,
  startProjectEngine,
  stopping,
  untilStopped,
  waitForDatabase,
} from '../engine-run.js';
import { engineFlags } from '../engine-settings.js';
import { apiLine, httpFlag, keepFigures, startApi, type ApiStart } from '../http-run.js';
import { createLog } from '../log.js';
import { startProcesses } from '../processes.js';
import { startSeveral } from '../several-databases.js';
import { aborted } from '../signals.js';

const flags = z.object({
  engines: numberFlag(1, 64),
  ...engineFlags,
  name: z.string().optional(),
  http: httpFlag,
});

/** How long the last writes may take, in ms. */
const closeMs = 10_000;

/**
 * `tws start`: an engine until SIGINT or SIGTERM, which lets its steps finish; a second signal ends
 * it at once. With `--engines` it starts so many processes of itself and ends with them; with
 * `--http` it serves the HTTP API, too. With several databases it runs an engine for each.
 */
export const start = defineCommand(flags, async (called, io) => {
  const { flags: said, config: read } = called;
  const config = read();
  const databases = called.databases ?? [];
  if (databases.length > 1) return startSeveral({ ...said, configs: databases.map(read) }, io);
  const log = createLog({ level: config.logLevel, name: said.name }, io);
  if ((await waitForDatabase(config, log, io.stop)) === undefined) return 0;
  const serves = said.http !== undefined && said.http !== false;
  const figures = serves ? keepFigures() : undefined;
  const opened = openDatabase(config, { log, ...figures?.store });
  const cleanup = createCleanup();
  const serve = async (parts: Pick<ApiStart, 'engine' | 'plugins'>): Promise<void> => {
    if (figures === undefined) return;
    const api = await startApi({ config, opened, log, figures, ...parts });
    cleanup.add(api.close);
    io.block(apiLine(api));
  };
  try {
    if (said.engines !== undefined && said.engines > 1) {
      await serve({});
      const of = { config, databases: [config.database], count: said.engines };
      return await startProcesses({ ...of, name: said.name, log }, io);
    }
    const { name } = said;
    const meters = figures?.meters;
    const { stop: signal, ownsProcess } = io;
    const isTerminal = io.isTerminal && io.mode !== 'json';
    const begun = { config, opened, log, name, meters, signal, ownsProcess, isTerminal };
    const engine = await startProjectEngine(begun);
    if (engine === undefined) return 0;
    const isRunning = (): boolean => !io.stop.aborted;
    await serve({ engine: { id: engine.id, isRunning }, plugins: engine.plugins });
    const failure = await untilStopped(engine, io.stop);
    io.say(stopping);
    const ended = await endEngine(engine, io.force);
    if (failure !== undefined) throw failure;
    return ended === 'drained' ? 0 : 130;
  } finally {
    await cleanup.run();
    // The engine has waited for what matters; a server that answers no more is not waited for.
    const late = sleep(closeMs, undefined, { ref: false });
    await Promise.race([opened.close(), aborted(io.force), late]);
  }
});
