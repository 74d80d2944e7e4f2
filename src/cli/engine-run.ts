import { setTimeout as sleep } from 'node:timers/promises';
import { inspectServer, type Opened, type ServerReport } from '../client.js';
import type { Config } from '../config.js';
import { problem, type ProblemCode, type TwsError } from '../errors.js';
import { startEngine, type Engine, type EngineOptions } from '../engine/engine.js';
import { startUnderSavedId } from '../engine/own-name.js';
import { usualLeaseMs } from '../model/engine.js';
import { guardProcess } from '../engine/guard.js';
import { startWatchdog } from '../engine/watchdog.js';
import { pagesPrefix } from '../http/pages.js';
import type { Log } from '../engine/log.js';
import type { EngineMeters } from '../engine/meters.js';
import { allMeters } from '../metrics/all.js';
import { createSpans } from '../metrics/spans.js';
import type { PluginRegistry } from '../plugin/loader.js';
import { savedEngineId } from './engine-id.js';
import { loadProjectPlugins } from './plugins.js';
import { aborted } from './signals.js';
import { lacksKey, lookAtSecrets, secretsProblem } from './stored-secrets.js';

export type EngineStart = {
  readonly config: Config;
  readonly opened: Opened;
  readonly log: Log;
  /**
   * A name of its own that stays over restarts; two engines must never share one. Without it the engine
   * has the id that its project keeps, or the next one when that is in use.
   */
  readonly name?: string | undefined;
  /** Ends the wait for a database that went away before the engine had begun. */
  readonly signal: AbortSignal;
  /** Starts although tasks or flows hold encrypted values and there is no key; it is told. */
  readonly keyless?: boolean;
  /** Whether people read the log. */
  readonly isTerminal?: boolean;
  /** Told what can be measured; spans of OpenTelemetry are made in any case. */
  readonly meters?: EngineMeters | undefined;
};

/** An engine and the plugins of its process. */
export type ProjectEngine = Engine & { readonly plugins: PluginRegistry };

/**
 * Loads the plugins and starts an engine, to which this process belongs from now on: what plugins
 * leave behind is reported and does not end it. Encrypted values that cannot be read are told.
 * @throws TwsError `stored_without_key` unless `keyless`
 */
export async function startProjectEngine(start: EngineStart): Promise<ProjectEngine> {
  const { config, opened, log, name, signal, keyless = false, meters } = start;
  const secrets = await lookAtSecrets(opened.client, config);
  const unreadable = secretsProblem(secrets);
  if (unreadable !== undefined) {
    if (lacksKey(secrets) && !keyless) throw unreadable;
    log.warn({}, `${unreadable.message} ${unreadable.hint}`);
  }
  const started: { engine?: Engine; broken?: TwsError } = {};
  const onBroken = (reason: string): void => {
    started.broken = problem('engine_broken', { reason });
    started.engine?.fail(started.broken);
  };
  const onSecret = guardProcess({ log, onBroken });
  const watchdog = startWatchdog({
    connection: opened.store.connection,
    leaseMs: config.leaseMs ?? usualLeaseMs,
    isTerminal: start.isTerminal === true,
    name,
  });
  const plugins = await loadProjectPlugins(config.plugins, (message, data) =>
    log.warn(data ?? {}, message),
  );
  const { cryptoKey, olderSecrets, slots, labels, queues, leaseMs, drainMs, retryDelayMs, root } =
    config;
  const spans = await createSpans();
  const listening = [meters, spans].filter((one) => one !== undefined);
  const settings: EngineOptions = {
    store: opened.store,
    plugins,
    log,
    cwd: root,
    cryptoKey,
    olderSecrets,
    keyless: true,
    slots,
    labels,
    queues,
    leaseMs,
    renewMs: leaseMs === undefined ? undefined : leaseMs / 3,
    drainMs,
    retryDelayMs,
    signal,
    webhooks: config.webhooks,
    egress: config.egress,
    linkOf: linkOf(config.http.public_url),
    onSecret,
    onCall: watchdog.onCall,
    meters: allMeters(listening),
  };
  const id = name === undefined ? await savedEngineId(config.embedded.dir) : undefined;
  const engine = await (id === undefined
    ? startEngine({ ...settings, name })
    : startUnderSavedId(id, settings));
  watchdog.watch(engine.id);
  if (started.broken !== undefined) engine.fail(started.broken);
  started.engine = engine;
  return { ...engine, plugins };
}

/** The admin page of a job, where the settings say how browsers reach it. */
function linkOf(publicUrl: string | undefined): ((job: string) => string) | undefined {
  if (publicUrl === undefined) return undefined;
  const base = publicUrl.replace(/\/+$/, '');
  return (job) => `${base}${pagesPrefix}/jobs/${encodeURIComponent(job)}`;
}

/** Waits until `stop` aborts, or until the engine has to stop by itself: then it answers why. */
export function untilStopped(engine: Engine, stop: AbortSignal): Promise<TwsError | undefined> {
  return Promise.race([aborted(stop).then(() => undefined), engine.failed]);
}

/** What is said at the first signal. */
export const stopping = 'stopping: steps may finish; a second signal ends them at once';

/** Lets an engine finish its steps, or ends it at once when `force` aborts. */
export async function endEngine(engine: Engine, force: AbortSignal): Promise<'drained' | 'killed'> {
  const drained = engine.stop().then(() => 'drained' as const);
  const first = await Promise.race([drained, aborted(force).then(() => 'forced' as const)]);
  if (first === 'drained') return first;
  await engine.kill();
  return 'killed';
}

/** Longest wait between two looks at a server that does not answer, in ms. */
const longestWaitMs = 30_000;

/**
 * Waits until the database is ready: an engine may be started before its CouchDB is, and before
 * somebody has run `tws init`. Undefined when
 * `stop` came first. @throws TwsError for what waiting does not mend
 */
export async function waitForDatabase(
  config: Config,
  log: Log,
  stop: AbortSignal,
): Promise<ServerReport | undefined> {
  let waitMs = 1_000;
  let told = '';
  const stopped = aborted(stop);
  while (!stop.aborted) {
    const report = await Promise.race([inspectServer(config), stopped]);
    if (report === undefined) return undefined;
    const trouble = troubleOf(report, config);
    if (trouble === undefined) return ready(report, config, log);
    if (!mayPass(trouble)) throw trouble;
    if (trouble.message !== told)
      log.warn({}, `${trouble.message} ${trouble.hint} Waiting for it.`);
    told = trouble.message;
    await sleep(waitMs, undefined, { signal: stop }).catch(() => undefined);
    waitMs = Math.min(longestWaitMs, waitMs * 2);
  }
  return undefined;
}

/** What keeps an engine from starting now. */
function troubleOf(report: ServerReport, { database }: Config): TwsError | undefined {
  if (report.problem !== undefined) return report.problem;
  return report.design === 'missing' ? problem('database_not_ready', { database }) : undefined;
}

/** A server may come back, and somebody may run `tws init` yet. */
const passing: readonly ProblemCode[] = [
  'couch_unreachable',
  'couch_failed',
  'database_missing',
  'database_not_ready',
];

const mayPass = ({ code }: TwsError): boolean => passing.includes(code);

function ready(report: ServerReport, { database }: Config, log: Log): ServerReport {
  if (report.design === 'old') {
    log.warn({}, `The design document of ${database} is of another version; run \`tws init\`.`);
  }
  return report;
}
