import { z } from 'zod';
import { createPulse, inspectServer, type Opened, type StoreOptions } from '../client.js';
import type { Config } from '../config/load.js';
import type { Log } from '../log.js';
import { TwsError } from '../errors.js';
import { areDocsBuilt, docsPrefix } from '../http/docs.js';
import { pagesPrefix } from '../http/pages.js';
import { startHttp, type HttpServer, type ServerOptions } from '../http/server.js';
import { addressForm } from '../config/address.js';
import { createPrometheus, type Prometheus } from '../metrics/prometheus.js';
import { hookOpener } from './hooks/open.js';
import { lateVaultOf } from './sensitive-values.js';
import { assertClock } from './server-clock.js';
import { openAnswerLinks } from '../secrets/answer-links.js';
import { packageVersion } from '../package.js';

/** `--http [host:port]` and `--no-http`. */
export const httpFlag = z
  .union([
    z.boolean(),
    z.string().regex(addressForm, { error: 'must be host:port, or one of them' }),
  ])
  .optional();

/** What has to be there before the database is opened and an engine starts: their figures. */
export type ApiFigures = {
  readonly prometheus: Prometheus;
  readonly meters: Prometheus['meters'];
  readonly store: StoreOptions;
};

/** Begins to keep figures. */
export function keepFigures(): ApiFigures {
  const prometheus = createPrometheus();
  return { prometheus, meters: prometheus.meters, store: { onBatch: prometheus.onBatch } };
}

export type ApiStart = Pick<ServerOptions, 'engine' | 'plugins'> & {
  readonly config: Config;
  readonly opened: Opened;
  readonly log: Log;
  readonly figures: ApiFigures;
  /** A port that is taken and was not asked for gives way to a free one. */
  readonly mayMove?: boolean;
};

/**
 * Serves the HTTP API of a project.
 * @throws TwsError `http_port_taken`, `setting_invalid`
 */
export async function startApi(given: ApiStart): Promise<HttpServer> {
  const { config, opened, log, figures, mayMove = false, engine, plugins } = given;
  const { prometheus } = figures;
  const { client } = opened;
  const sensitive = lateVaultOf(config);
  prometheus.watch(client, createPulse(config.leaseMs));
  const options: ServerOptions = {
    client,
    inspect: () => inspectServer(config),
    settings: config.http,
    root: config.root,
    retain: config.retain,
    notify: config.notify,
    log,
    version: packageVersion(),
    leaseMs: config.leaseMs,
    metrics: prometheus,
    engine,
    plugins,
    scriptOwners: config.code.script,
    openHook: hookOpener(config),
    answerLinks: await openAnswerLinks(config.cryptoKey),
    sensitive,
    checkClock: () => assertClock(config),
  };
  const start = async (): Promise<HttpServer> => {
    try {
      return await startHttp(options);
    } catch (error) {
      const isTaken = error instanceof TwsError && error.code === 'http_port_taken';
      if (!isTaken || !mayMove || config.http.port !== undefined) throw error;
      return startHttp({ ...options, settings: { ...config.http, port: 0 } });
    }
  };
  const server = await start();
  return {
    ...server,
    close: async () => {
      await server.close();
      await sensitive.close();
    },
  };
}

/** What is said of a running API. */
export function apiLine({ url }: HttpServer): string {
  return [
    `HTTP API:     ${url}/_tws`,
    `admin pages:  ${url}${pagesPrefix}/`,
    areDocsBuilt()
      ? `docs:         ${url}${docsPrefix}/`
      : 'docs:         not built; `npm run docs` where tws is installed builds them',
  ].join('\n');
}
