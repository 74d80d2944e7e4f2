import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { PluginFacts } from '../decide/intent.js';
import { rankAmong } from '../decide/turn.js';
import type { TwsError } from '../errors.js';
import { usualLeaseMs } from '../model/engine.js';
import { defaultQueue, type Job } from '../model/job.js';
import type { PluginRegistry } from '../plugin/loader.js';
import { createKeyring } from '../secrets/keyring.js';
import type { OlderFormat } from '../secrets/older-format.js';
import type { Store } from '../store/store.js';
import { giveUp } from './children/cancel-children.js';
import { createBlockWatch, type BlockWatchOptions } from './watch/blocking.js';
import { createBreaker } from './loop/breaker.js';
import { createContents } from './attachments/contents.js';
import { createControls } from './control/controls.js';
import { createReplicas } from '../replicas/replicas.js';
import {
  createDecider,
  type DeciderParts,
  type Standpoint,
  type Surroundings,
} from './loop/decision.js';
import type { OnDecide } from './watch/current-job.js';
import { createDesk } from './loop/serializer.js';
import { renderParams } from './evaluate/expressions.js';
import { createFamily, usualDescendants } from './children/job-tree.js';
import { createHands, type HandsOptions } from './attempts/running-attempts.js';
import { createJobs } from './loop/jobs.js';
import { createLibrary } from './loop/library.js';
import { lockIdOf } from '../lock-id.js';
import { createLocks } from './locks/locks.js';
import { ofEngine, type Log } from './log.js';
import { noMeters, type EngineMeters } from './meters.js';
import { createNotifications } from './events/notifications.js';
import type { StoredDocument } from '../model/document.js';
import type { EgressPolicy } from '../plugin/egress.js';
import { createOpenSecrets } from './attempts/open-secrets.js';
import { createOnce } from './events/log-once.js';
import { createCount, createParking, inLineOf } from './waiting/wait-queue.js';
import { permitFlowOf } from './locks/permit-queues.js';
import { createPermitLines } from './locks/permit-queues.js';
import { createRetry, pause } from './retry.js';
import { createPeers } from './peers/peers.js';
import { createPresence } from './peers/presence.js';
import { createReading } from './loop/parsed-jobs.js';
import { createEarly } from './control/early-signals.js';
import { createStrangers } from './events/unknown-documents.js';
import { createSystemEvents, type EngineListener } from './events/system-events.js';
import { createSystemWebhooks, type SystemWebhook } from './events/system-webhooks.js';
import { createTimers } from './waiting/timers.js';
import { version } from './peers/presence.js';

/** What an engine needs. Durations in ms. */
export type EngineOptions = {
  readonly store: Store;
  readonly plugins: PluginRegistry;
  readonly log: Log;
  /** The project's folder: where plugins look for files. */
  readonly cwd: string;
  /** As in TWS_CRYPTO_KEY: one key, or a JSON list of which the first encrypts. */
  readonly cryptoKey?: string | undefined;
  /** How values that an earlier project encrypted are read. */
  readonly olderSecrets?: OlderFormat | undefined;
  /** Starts without a key, too: the steps that need it fail, each with the reason. */
  readonly keyless?: boolean | undefined;
  /** Attempts at the same time; default 10. */
  readonly slots?: number | undefined;
  readonly labels?: readonly string[] | undefined;
  /** The queues whose steps it takes; default: "default" alone. */
  readonly queues?: readonly string[] | undefined;
  /** A name that stays over restarts (`engine:<name>`); default: a new uuid. */
  readonly name?: string | undefined;
  readonly renewMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  readonly sweepMs?: number | undefined;
  /** Ends the wait for a database that is not there yet; a running engine is ended by `stop`. */
  readonly signal?: AbortSignal | undefined;
  /** Told each text that was decrypted, so that what plugins leave behind can be told without it. */
  readonly onSecret?: ((clear: string) => void) | undefined;
  /** How long running attempts may take to end when the engine stops. */
  readonly drainMs?: number | undefined;
  /** How long a plugin may take to end after its signal was aborted. */
  readonly graceMs?: number | undefined;
  /** What running attempts tell of themselves is written that often at most; default 5000. */
  readonly reportMs?: number | undefined;
  /** The wait before a retry where neither task nor flow nor job says one; default 0. */
  readonly retryDelayMs?: number | undefined;
  readonly crashLimit?: number | undefined;
  /** Told what can be measured. */
  readonly meters?: EngineMeters | undefined;
  /** How long a document may be, bytes; default: what the server says, else CouchDB's default. */
  readonly documentLimit?: number | undefined;
  /** The address of a job's page, for those who are told of its end; default: none is told. */
  readonly linkOf?: ((job: string) => string) | undefined;
  /** Told of each call in this process; the answer is called when it has ended. */
  readonly onCall?: BlockWatchOptions['onBegin'];
  /** Told about which job this process decides; a decision takes no turn of the event loop. */
  readonly onDecide?: OnDecide | undefined;
  /** Told what happens to the engine, from its start on. */
  readonly onEvent?: EngineListener | undefined;
  /** Addresses that are told the same. */
  readonly webhooks?: readonly SystemWebhook[] | undefined;
  /** So many jobs may be made for one root job; another number only in tests. */
  readonly mostDescendants?: number | undefined;
  /** The rules that decide; other ones only in tests. */
  readonly rule?: DeciderParts['rule'] | undefined;
  /** Which addresses plugins and webhooks may reach. */
  readonly egress?: EgressPolicy | undefined;
};

/** How often the scan is repeated, ms. */
export const usualSweepMs = 30_000;

/** The parts of one engine, put together; nothing runs yet. */
export type Assembly = ReturnType<typeof assemble>;

export function assemble(options: EngineOptions) {
  const { store, plugins, cwd, slots = 10, leaseMs = usualLeaseMs } = options;
  const id = `engine:${options.name ?? randomUUID()}`;
  const log = ofEngine(options.log, id);
  const now = (): number => Date.now();
  /** `ending` stops what watches and follows, `life` also what still wants to write. */
  const ending = new AbortController();
  const life = new AbortController();
  // Every job that is under way may listen to them.
  setMaxListeners(0, ending.signal, life.signal);
  const once = createOnce(log);
  const feed = { isFollowed: false };
  const retry = createRetry({
    signal: life.signal,
    tell: (reason) => log.warn({}, `${reason} Trying again.`),
    isAwayTold: () => feed.isFollowed,
  });
  const events = createSystemEvents(id, { now, log });
  if (options.onEvent !== undefined) events.subscribe(options.onEvent);
  const peers = createPeers(id, leaseMs, () => performance.now());
  const isTeller = (of: string): boolean => rankAmong(of, peers.alive(), id) === 0;
  const library = createLibrary(store, (doc, problems) => {
    if (!isTeller(`${doc._id}:${doc._rev}`)) return;
    const kind = String(doc['type']);
    events.emit({ type: 'definition.malformed', id: doc._id, kind, problems });
  });
  const count = createCount();
  const parking = createParking(count);
  const desk = createDesk((document, error) => {
    if (life.signal.aborted) return;
    log.error({ document, error: String(error) }, `Something unexpected happened to ${document}.`);
  }, now);
  const timers = createTimers((job) => jobs.wake(job), now);
  const onFree = (): void => jobs.fillSlots();
  const onEnded: HandsOptions['onEnded'] = (job, step, outcome, told) =>
    jobs.settle(job, step, outcome, told);
  const onTold: HandsOptions['onTold'] = (job, step, told) => jobs.report(job, step, told);
  const graceMs = options.graceMs ?? 5_000;
  const { onSecret, reportMs = 5_000 } = options;
  const keyring = createKeyring(options.cryptoKey, options.olderSecrets);
  const webhooks = createSystemWebhooks({
    ...{ keyring, onSecret, log, egress: options.egress },
    webhooks: options.webhooks ?? [],
    database: store.connection.database,
  });
  events.subscribe(webhooks.take);
  const contents = createContents({
    ...{ store, retry, log, copies: () => replicas.count },
    rest: (tries) => pause(tries, life.signal),
  });
  const { egress } = options;
  const openSecrets = createOpenSecrets(library, keyring);
  const given = { cwd, openSecrets, onSecret, contents, egress };
  const runner = { ...given, log, graceMs, now, reportMs };
  const blocking = createBlockWatch({ log, onBegin: options.onCall });
  const { meters = noMeters } = options;
  const hands = createHands({
    ...runner,
    blocking,
    plugins,
    slots,
    meters,
    count,
    onFree,
    onEnded,
    onTold,
  });
  const labels = [...(options.labels ?? [])];
  const queues = [...(options.queues ?? [defaultQueue])];
  const mine = {
    plugins: new Set(plugins.names()),
    labels: new Set(labels),
    queues: new Set(queues),
  };
  const facts = (name: string): PluginFacts => {
    const plugin = plugins.get(name);
    if (plugin === undefined) return { templates: [] };
    return { templates: plugin.module.templates ?? [], hash: plugin.hash };
  };
  const me = { ...mine, id, pid: process.pid, facts };
  const bystanders = (seenAt: number) => ({
    me: { ...me, freeSlots: hands.freeSlots() },
    seenAt,
    peers: peers.alive(),
  });
  /** Free slots that are not for jobs which go before this one. */
  const freeFor = (job: Job, ended?: readonly string[]): number => {
    const facts = { hasRoom: hands.hasRoom, use: () => hands.use(ended) };
    return parking.slotsFor(inLineOf(job), hands.freeSlots(ended), facts);
  };
  const linkOf = (job: string): string | undefined => options.linkOf?.(job);
  const { crashLimit = 3, onDecide } = options;
  const surroundings = ({ job, ended, seenAt }: Standpoint): Surroundings => ({
    seenAt,
    peers: peers.alive(),
    me: {
      ...me,
      freeSlots: freeFor(job, ended),
      runningOf: (task: string) => hands.runningOf(task, ended),
      stopping: hands.stopping,
      unbegun: replicas.unbegun,
      ended: replicas.ended,
      running: ended === undefined ? hands.claims : without(hands.claims, ended),
    },
    nonce: randomUUID(),
    lease: peers.lease,
    lockId: lockIdOf,
    render: renderParams,
    linkOf,
    retryDelayMs: options.retryDelayMs ?? 0,
    crashLimit,
  });
  const replicas = createReplicas({
    ...{ store, retry, log, once, me: id, lease: peers.lease, life: life.signal },
    claimsOf: hands.of,
    onRead: (doc) => void desk.put(doc),
    giveUp: (children) => giveUp({ store, retry, once }, children),
    patienceMs: leaseMs / 2,
  });
  const lines = createPermitLines((job) => jobs.recall(job));
  const locks = createLocks({
    ...{ store, retry, log, now, life: life.signal, before: lines.before },
    ...{ copies: () => replicas.count, run: replicas.run },
  });
  const { rule, mostDescendants = usualDescendants } = options;
  const family = createFamily({ store, now, mostDescendants });
  const decider = createDecider({
    ...{ store, library, attachments: contents, locks, family, retry },
    ...{ life: life.signal, onDecide, once },
    ...(rule === undefined ? {} : { rule }),
  });
  // Two sweeps ahead, so that a sweep that fails makes nobody late.
  const horizonMs = 2 * (options.sweepMs ?? usualSweepMs);
  let fail = (_reason: TwsError): void => undefined;
  const failed = new Promise<TwsError>((resolve) => {
    fail = (reason) => {
      hands.close();
      resolve(reason);
    };
  });
  const watch = { horizonMs, crashLimit, timers, now, retry, life, log, once, fail };
  const documentLimit = { bytes: options.documentLimit ?? Infinity };
  const notifications = createNotifications({ store, library, retry, documentLimit, linkOf, once });
  const views = { surroundings, bystanders };
  const parts = {
    store,
    desk,
    reading: createReading(onDecide),
    hands,
    parking,
    lines,
    permitFlow: (job: StoredDocument) => permitFlowOf(job, library),
    replicas,
    decider,
    breaker: createBreaker(() => performance.now()),
    locks,
    notifications,
    events,
    documentLimit,
    ...views,
    ...watch,
  };
  const jobs = createJobs(parts);
  const renewMs = options.renewMs ?? usualLeaseMs / 3;
  const able = { plugins: [...plugins.names()], labels, queues, slots };
  const told = { id, pid: process.pid, version, ...able, renew_ms: renewMs };
  const presence = createPresence(store, told, now);
  const onChange = (enabled: boolean): void => {
    const now = enabled ? 'takes work again' : 'takes no new work: it was disabled';
    log.info({ engine: id }, `Engine ${id} ${now}.`);
    hands.enable(enabled);
    void desk.queue(id, () => presence.enable(enabled));
  };
  const controls = createControls({ me: id, log, isTeller, onChange });
  const ends = { failed, ending, meters, webhooks, isTeller, feed };
  const strangers = createStrangers(log);
  const others = { early: createEarly(), strangers, library, peers, jobs, presence, controls };
  return { ...parts, ...ends, ...others, renewMs, options, id };
}

function without(claims: ReadonlySet<string>, ended: readonly string[]): ReadonlySet<string> {
  return new Set([...claims].filter((claim) => !ended.includes(claim)));
}
