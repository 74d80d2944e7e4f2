import { z } from 'zod';
import { openDatabase } from '../../client.js';
import { defineCommand } from '../command.js';
import { waitForDatabase } from '../engine-run.js';
import { apiLine, httpFlag, keepFigures, startApi } from '../http-run.js';
import { createLog } from '../log.js';
import { aborted } from '../signals.js';

const flags = z.object({ http: httpFlag });

/** `tws serve`: the HTTP API and no engine, until SIGINT or SIGTERM. */
export const serve = defineCommand(flags, async ({ config: read }, io) => {
  const config = read();
  const log = createLog({ level: config.logLevel }, io);
  if ((await waitForDatabase(config, log, io.stop)) === undefined) return 0;
  const figures = keepFigures();
  const opened = openDatabase(config, { log, ...figures.store });
  try {
    const api = await startApi({ config, opened, log, figures });
    io.block(apiLine(api));
    io.json({ url: api.url });
    await aborted(io.stop);
    await api.close();
    return 0;
  } finally {
    await opened.close();
  }
});
