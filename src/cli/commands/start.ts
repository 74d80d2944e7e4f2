import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { open } from '../../client.js';
import { command, listFlag, numberFlag } from '../command.js';
import {
  endEngine,
  startProjectEngine,
  stopping,
  untilStopped,
  waitForDatabase,
} from '../engine-run.js';
import { createLog } from '../log.js';
import { startProcesses } from '../processes.js';
import { aborted } from '../signals.js';

const flags = z.object({
  engines: numberFlag(1, 64),
  slots: numberFlag(1),
  labels: listFlag,
  name: z.string().optional(),
});

/** How long the last writes may take, in ms. */
const closeMs = 10_000;

/**
 * `tws start`: an engine until SIGINT or SIGTERM, which lets its steps finish; a second signal ends
 * it at once. With `--engines` it starts so many processes of itself and ends with them.
 */
export const start = command(flags, async ({ flags: said, config: read }, io) => {
  const config = read();
  const log = createLog({ level: config.logLevel, name: said.name }, io);
  if ((await waitForDatabase(config, log, io.stop)) === undefined) return 0;
  if (said.engines !== undefined && said.engines > 1) {
    return startProcesses({ config, count: said.engines, name: said.name, log }, io);
  }
  const opened = open(config, { log });
  try {
    const { name } = said;
    const engine = await startProjectEngine({ config, opened, log, name, signal: io.stop });
    const failure = await untilStopped(engine, io.stop);
    io.say(stopping);
    const ended = await endEngine(engine, io.force);
    if (failure !== undefined) throw failure;
    return ended === 'drained' ? 0 : 130;
  } finally {
    // The engine has waited for what matters; a server that answers no more is not waited for.
    const late = sleep(closeMs, undefined, { ref: false });
    await Promise.race([opened.close(), aborted(io.force), late]);
  }
});
