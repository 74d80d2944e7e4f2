import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { PluginFacts } from '../decide/world.js';
import { rankAmong } from '../decide/compete/turn.js';
import type { TwsError } from '../errors.js';
import { usualLeaseMs } from '../model/engine.js';
import { defaultQueue, type Job } from '../model/job.js';
import { createKeyring } from '../secrets/keyring.js';
import { cancelChildren } from './children/cancel-children.js';
import { createBlockWatch } from './watch/blocking.js';
import { createBreaker } from './loop/breaker.js';
import { createResultAttachments } from './attachments/contents.js';
import { createControls } from './control/controls.js';
import { createReplicas } from '../replicas/replicas.js';
import { createDecider, type Standpoint, type Surroundings } from './loop/decision.js';
import { createSerializer } from './loop/serializer.js';
import { renderParams } from './evaluate/expressions.js';
import { createJobTree, usualDescendants } from './children/job-tree.js';
import { createRunningAttempts, type RunningAttemptsOptions } from './attempts/running-attempts.js';
import { createJobs } from './loop/jobs.js';
import { createLibrary } from './loop/library.js';
import { lockIdOf } from '../lock-id.js';
import { createLocks } from './locks/locks.js';
import { ofEngine } from './log.js';
import { noMeters } from './meters.js';
import { createNotifications } from './events/notifications.js';
import type { StoredDocument } from '../model/document.js';
import { createOpenSecrets } from './attempts/open-secrets.js';
import { createLogOnce } from './events/log-once.js';
import { createCount, createWaitQueue, inLineOf } from './waiting/wait-queue.js';
import { createPermitQueues, permitFlowOf } from './locks/permit-queues.js';
import { backOff, createRetry } from './retry.js';
import { createPeers } from './peers/peers.js';
import { createPresence, version } from './peers/presence.js';
import { createParsedJobs } from './loop/parsed-jobs.js';
import { createEarlySignals } from './control/early-signals.js';
import { createUnknownDocumentLog } from './events/unknown-documents.js';
import { createSystemEvents } from './events/system-events.js';
import { createSystemWebhooks } from './events/system-webhooks.js';
import { createTimers } from './waiting/timers.js';
import { usualSweepMs, type EngineOptions } from './options.js';

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
  const once = createLogOnce(log);
  const feed = { isFollowed: false };
  const retry = createRetry({
    signal: life.signal,
    report: (reason) => log.warn({}, `${reason} Trying again.`),
    isAwayReported: () => feed.isFollowed,
  });
  const events = createSystemEvents(id, { now, log });
  if (options.onEvent !== undefined) events.subscribe(options.onEvent);
  const peers = createPeers(id, leaseMs, () => performance.now());
  const isReporter = (of: string): boolean => rankAmong(of, peers.alive(), id) === 0;
  const library = createLibrary(store, (doc, problems) => {
    if (!isReporter(`${doc._id}:${doc._rev}`)) return;
    const kind = String(doc['type']);
    events.emit({ type: 'definition.malformed', id: doc._id, kind, problems });
  });
  const count = createCount();
  const waitQueue = createWaitQueue(count);
  const serializer = createSerializer((document, error) => {
    if (life.signal.aborted) return;
    log.error({ document, error: String(error) }, `Something unexpected happened to ${document}.`);
  }, now);
  const timers = createTimers((job) => jobs.wake(job), now);
  const onFree = (): void => jobs.fillSlots();
  const onEnded: RunningAttemptsOptions['onEnded'] = (job, step, outcome, report) =>
    jobs.settle(job, step, outcome, report);
  const onReport: RunningAttemptsOptions['onReport'] = (job, step, report) =>
    jobs.report(job, step, report);
  const graceMs = options.graceMs ?? 5_000;
  const { onSecret, reportMs = 5_000 } = options;
  const keyring = createKeyring(options.cryptoKey, options.olderSecrets);
  const webhooks = createSystemWebhooks({
    ...{ keyring, onSecret, log, egress: options.egress },
    webhooks: options.webhooks ?? [],
    database: store.connection.database,
  });
  events.subscribe(webhooks.take);
  const contents = createResultAttachments({
    ...{ store, retry, log, copies: () => replicas.count },
    rest: (tries) => backOff(tries, life.signal),
  });
  const { egress } = options;
  const openSecrets = createOpenSecrets(library, keyring);
  const given = { cwd, openSecrets, onSecret, contents, egress };
  const runner = { ...given, log, graceMs, now, reportMs };
  const blocking = createBlockWatch({ log, onBegin: options.onCall });
  const { meters = noMeters } = options;
  const attempts = createRunningAttempts({
    ...runner,
    blocking,
    plugins,
    slots,
    meters,
    count,
    onFree,
    onEnded,
    onReport,
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
    me: { ...me, freeSlots: attempts.freeSlots() },
    seenAt,
    peers: peers.alive(),
  });
  /** Free slots that are not for jobs which go before this one. */
  const freeFor = (job: Job, ended?: readonly string[]): number => {
    const facts = { hasRoom: attempts.hasRoom, use: () => attempts.use(ended) };
    return waitQueue.slotsFor(inLineOf(job), attempts.freeSlots(ended), facts);
  };
  const linkOf = (job: string): string | undefined => options.linkOf?.(job);
  const { crashLimit = 3, onDecide } = options;
  const surroundings = ({ job, ended, seenAt }: Standpoint): Surroundings => ({
    seenAt,
    peers: peers.alive(),
    me: {
      ...me,
      freeSlots: freeFor(job, ended),
      runningOf: (task: string) => attempts.runningOf(task, ended),
      stopping: attempts.stopping,
      unbegun: replicas.unbegun,
      ended: replicas.ended,
      running: ended === undefined ? attempts.claims : without(attempts.claims, ended),
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
    claimsOf: attempts.of,
    onRead: (doc) => void serializer.put(doc),
    giveUp: (children) => cancelChildren({ store, retry, once }, children),
    patienceMs: leaseMs / 2,
  });
  const permitQueues = createPermitQueues((job) => jobs.recall(job));
  const locks = createLocks({
    ...{ store, retry, log, now, life: life.signal, before: permitQueues.before },
    ...{ copies: () => replicas.count, run: replicas.run },
  });
  const { rule, mostDescendants = usualDescendants } = options;
  const jobTree = createJobTree({ store, now, mostDescendants });
  const decider = createDecider({
    ...{ store, library, attachments: contents, locks, jobTree, retry },
    ...{ life: life.signal, onDecide, once },
    ...(rule === undefined ? {} : { rule }),
  });
  // Two sweeps ahead, so that a sweep that fails makes nobody late.
  const horizonMs = 2 * (options.sweepMs ?? usualSweepMs);
  let fail = (_reason: TwsError): void => undefined;
  const failed = new Promise<TwsError>((resolve) => {
    fail = (reason) => {
      attempts.close();
      resolve(reason);
    };
  });
  const watch = { horizonMs, crashLimit, timers, now, retry, life, log, once, fail };
  const documentLimit = { bytes: options.documentLimit ?? Infinity };
  const notifications = createNotifications({ store, library, retry, documentLimit, linkOf, once });
  const views = { surroundings, bystanders };
  const parts = {
    store,
    serializer,
    parsedJobs: createParsedJobs(onDecide),
    attempts,
    waitQueue,
    permitQueues,
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
  const presenceFacts = { id, pid: process.pid, version, ...able, renew_ms: renewMs };
  const presence = createPresence(store, presenceFacts, now);
  const onChange = (enabled: boolean): void => {
    const now = enabled ? 'takes work again' : 'takes no new work: it was disabled';
    log.info({ engine: id }, `Engine ${id} ${now}.`);
    attempts.enable(enabled);
    void serializer.queue(id, () => presence.enable(enabled));
  };
  const controls = createControls({ me: id, log, isReporter, onChange });
  const ends = { failed, ending, meters, webhooks, isReporter, feed };
  const logUnknown = createUnknownDocumentLog(log);
  const others = {
    earlySignals: createEarlySignals(),
    logUnknown,
    library,
    peers,
    jobs,
    presence,
    controls,
  };
  return { ...parts, ...ends, ...others, renewMs, options, id };
}

function without(claims: ReadonlySet<string>, ended: readonly string[]): ReadonlySet<string> {
  return new Set([...claims].filter((claim) => !ended.includes(claim)));
}
