import { setTimeout as sleep } from 'node:timers/promises';
import { inspectServer, type Opened, type ServerReport } from '../client.js';
import type { Config } from '../config/load.js';
import { problem, TwsError, type ProblemCode } from '../errors.js';
import {
  createSlotPool,
  startEngine,
  startUnderSavedId,
  usualSlots,
  type Engine,
  type EngineOptions,
  type SlotPool,
} from '../engine/engine.js';
import { createRetry, type Retry } from '../engine/retry.js';
import { usualLeaseMs } from '../model/engine.js';
import { guardProcess } from '../engine/watch/guard.js';
import { startWatchdog, type Watchdog } from '../engine/watch/watchdog.js';
import { pagesPrefix } from '../http/pages.js';
import { answerPath } from '../http/route.js';
import { openAnswerLinks } from '../secrets/answer-links.js';
import type { Log } from '../log.js';
import type { EngineMeters } from '../engine/meters.js';
import { allMeters } from '../metrics/all.js';
import { createSpans } from '../metrics/spans.js';
import type { PluginContext } from '../plugin/api.js';
import type { PluginRegistry } from '../plugin/loader.js';
import { savedEngineId } from './engine-id.js';
import { loadProjectPlugins } from './plugins.js';
import { subjectRetention } from './overdue-subjects.js';
import { assertClock } from './server-clock.js';
import { keepRetention } from './retention-run.js';
import { aborted } from './signals.js';
import { lateVaultOf } from './sensitive-values.js';
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
  /** Ends the start, also while it waits for a database that went away. */
  readonly signal: AbortSignal;
  /** Guards the process against plugins: what they leave behind, and loops that never end. */
  readonly ownsProcess: boolean;
  /** Starts although tasks or flows hold encrypted values and there is no key; it is told. */
  readonly keyless?: boolean;
  /** Whether people read the log. */
  readonly isTerminal?: boolean;
  /** Whether plugins can be loaded again (`PluginRegistry.reload`). */
  readonly watched?: boolean;
  /** Receives what is measured; spans of OpenTelemetry are made in any case. */
  readonly meters?: EngineMeters | undefined;
  /** What this engine shares with others of this process; without it, it is the only one. */
  readonly process?: EngineProcess | undefined;
  /** Where the API of this process is: links lead there, unless the settings say how browsers reach it. */
  readonly served?: (() => string) | undefined;
};

/** What the engines of one process share. */
export type EngineProcess = {
  readonly plugins: PluginRegistry;
  /** The slots of its only engine, or those that its engines share. */
  readonly slots: number | SlotPool;
  /** Takes the texts that must not be shown, when the process is guarded. */
  readonly onSecret?: ((clear: string) => void) | undefined;
  /** Calls back when the state of the process is not known any more, also when it is so already. */
  readonly onBroken: (hear: (reason: TwsError) => void) => void;
};

/**
 * Loads the plugins of a process of engines; `isShared`: several of them share its slots. With `ownsProcess` the process belongs to them from now on:
 * what plugins leave behind is reported and does not end it.
 */
export async function openProcess({
  config,
  log,
  ownsProcess,
  isShared = false,
  watched = false,
}: Pick<EngineStart, 'config' | 'log' | 'ownsProcess' | 'watched'> & {
  readonly isShared?: boolean;
}): Promise<EngineProcess> {
  const listeners: ((reason: TwsError) => void)[] = [];
  let broken: TwsError | undefined;
  const onSecret = !ownsProcess
    ? undefined
    : guardProcess({
        log,
        onBroken: (reason) => {
          const why = (broken = problem('engine_broken', { reason }));
          for (const hear of listeners) hear(why);
        },
      });
  const tell: PluginContext['log'] = (message, data) => log.warn(data ?? {}, message);
  const plugins = await loadProjectPlugins(config.plugins, tell, watched);
  const onBroken: EngineProcess['onBroken'] = (hear) => {
    listeners.push(hear);
    if (broken !== undefined) hear(broken);
  };
  const { slots = usualSlots } = config;
  return { plugins, slots: isShared ? createSlotPool(slots) : slots, onSecret, onBroken };
}

/** An engine and the plugins of its process. */
export type ProjectEngine = Engine & { readonly plugins: PluginRegistry };

/**
 * Loads the plugins and starts an engine. With `ownsProcess` this process belongs to it from now on:
 * what plugins leave behind is reported and does not end it. Encrypted values that cannot be read are told. A
 * database that fails meanwhile is waited for, however it fails. Undefined when `signal` came first.
 * @throws TwsError `stored_without_key` unless `keyless`, `engine_name_taken`
 */
export async function startProjectEngine(start: EngineStart): Promise<ProjectEngine | undefined> {
  const { config, opened, log, name, signal, meters } = start;
  const retry = retryUntil(signal, log);
  await checkSecrets(start, retry);
  if (signal.aborted) return undefined;
  const shared = start.process ?? (await openProcess(start));
  const watchdog = start.ownsProcess ? watchdogOf(start) : undefined;
  const { plugins, onSecret, slots } = shared;
  const {
    cryptoKey,
    olderSecrets,
    labels,
    queues,
    leaseMs,
    drainMs,
    retry: retrying,
    root,
  } = config;
  const spans = await createSpans();
  const [only, ...others] = [meters, spans].filter((one) => one !== undefined);
  const { public_url: publicUrl } = config.http;
  const reached = publicUrl === undefined ? start.served : () => publicUrl;
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
    retry: retrying,
    eventTtlMs: config.eventTtlMs,
    signal,
    webhooks: config.webhooks,
    notify: config.notify,
    ...{ egress: config.egress, code: config.code, sensitive: lateVaultOf(config) },
    linkOf: linkOf(reached),
    answerLinks: await answerLinksOf(config, reached),
    onSecret,
    onCall: watchdog?.onCall,
    onDecide: watchdog?.onDecide,
    meters: only === undefined || others.length === 0 ? only : allMeters([only, ...others]),
  };
  const id = name === undefined ? await savedEngineId(config.embedded.dir) : undefined;
  const engine = await (id === undefined
    ? startEngine({ ...settings, name })
    : startUnderSavedId(id, settings, retry));
  watchdog?.watch(engine.id);
  shared.onBroken(engine.fail);
  return { ...withRetention(engine, start), plugins };
}

/** Old jobs are removed beside the engine, until it is told to stop. */
function withRetention(engine: Engine, { config, opened, log, signal }: EngineStart): Engine {
  const over = new AbortController();
  const ended = keepRetention({
    client: opened.client,
    usual: config.retain,
    subjects: subjectRetention(config),
    checkClock: () => assertClock(config),
    root: config.root,
    log,
    by: engine.id,
    signal: AbortSignal.any([signal, over.signal]),
  });
  const end = async (how: () => Promise<void>): Promise<void> => {
    over.abort();
    await how();
    // A database that answers no more is not waited for.
    await Promise.race([ended, sleep(lastRemovalsMs, undefined, { ref: false })]);
  };
  return { ...engine, stop: () => end(engine.stop), kill: () => end(engine.kill) };
}

/** How long removals under way may take when an engine stops, ms. */
const lastRemovalsMs = 5_000;

function watchdogOf({ config, opened, name, isTerminal }: EngineStart): Watchdog {
  return startWatchdog({
    connection: opened.store.connection,
    leaseMs: config.leaseMs ?? usualLeaseMs,
    isTerminal: isTerminal === true,
    name,
  });
}

/** Asks until the database answers or the start is ended; what is wrong is told once. */
function retryUntil(signal: AbortSignal, log: Log): Retry {
  const report = (reason: string): void => log.warn({}, `${reason} Waiting for it.`);
  return createRetry({ signal, report });
}

/** Tells which encrypted values cannot be read. @throws TwsError `stored_without_key` */
async function checkSecrets(start: EngineStart, retry: Retry): Promise<void> {
  const { config, opened, log, keyless = false } = start;
  const secrets = await retry(() => lookAtSecrets(opened.client, config));
  if (secrets === undefined) return;
  const unreadable = secretsProblem(secrets);
  if (unreadable === undefined) return;
  if (lacksKey(secrets) && !keyless) throw unreadable;
  log.warn({}, `${unreadable.message} ${unreadable.hint}`);
}

/** How browsers reach the server; undefined: nobody has said. */
type Reached = (() => string) | undefined;

const baseOf = (url: string): string => url.replace(/\/+$/, '');

/** The admin page of a job, where it is known how browsers reach it. */
function linkOf(reached: Reached): ((job: string) => string) | undefined {
  if (reached === undefined) return undefined;
  return (job) => `${baseOf(reached())}${pagesPrefix}/jobs/${encodeURIComponent(job)}`;
}

/** What makes links by which people answer: it has to be known how browsers reach the server, and there is a key. */
async function answerLinksOf(
  { cryptoKey }: Config,
  reached: Reached,
): Promise<EngineOptions['answerLinks']> {
  if (reached === undefined) return undefined;
  const links = await openAnswerLinks(cryptoKey);
  return links && { links, addressOf: (token) => `${baseOf(reached())}${answerPath}${token}` };
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

/**
 * Waits until the database is ready: an engine may be started before its CouchDB is, and before
 * somebody has run `tws init`. Undefined when `stop` came first.
 * @throws TwsError for what waiting does not mend
 */
export async function waitForDatabase(
  config: Config,
  log: Log,
  stop: AbortSignal,
): Promise<ServerReport | undefined> {
  let isAccepted = false;
  const report = await retryUntil(stop, log)(
    async () => {
      const found = await inspectServer(config);
      isAccepted ||= found.credentials === 'accepted';
      const trouble = troubleOf(found, config);
      if (trouble !== undefined) throw trouble;
      return found;
    },
    (error) => error instanceof TwsError && isFinal(error.code, isAccepted),
  );
  return report && ready(report, config, log);
}

/** What keeps an engine from starting now. */
function troubleOf(report: ServerReport, { database }: Config): TwsError | undefined {
  if (report.problem !== undefined) return report.problem;
  return report.design === 'missing' ? problem('database_not_ready', { database }) : undefined;
}

/**
 * What may pass before name and password were accepted: a server may come back, and somebody may run
 * `tws init` yet. Afterwards everything may pass, but a move.
 */
const passing: readonly ProblemCode[] = [
  'couch_unreachable',
  'couch_failed',
  'database_missing',
  'database_not_ready',
];

function isFinal(code: ProblemCode, isAccepted: boolean): boolean {
  return code === 'database_moved' || (!isAccepted && !passing.includes(code));
}

function ready(report: ServerReport, { database }: Config, log: Log): ServerReport {
  if (report.design === 'old') {
    log.warn({}, `The design document of ${database} is of another version; run \`tws init\`.`);
  }
  return report;
}
