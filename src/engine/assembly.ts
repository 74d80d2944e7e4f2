import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { systemClock } from '../clock/clock.js';
import type { PluginFacts, World } from '../decide/world.js';
import { sweepPace } from '../decide/compete/ranks.js';
import { usualRetry } from '../model/usual-retry.js';
import { usualCrashLimit, usualLeaseMs } from '../model/engine.js';
import { defaultQueue, type Job } from '../model/job.js';
import { packageVersion } from '../package.js';
import { cancelChildren } from './children/cancel-children.js';
import { createBlockWatch } from './watch/blocking.js';
import { createBreaker } from './loop/breaker.js';
import { createResultAttachments, type ResultAttachments } from './attachments/contents.js';
import { createControls } from './control/controls.js';
import { createReplicas, type Replicas } from '../replicas/replicas.js';
import { createDecider, type DeciderParts } from './loop/decision.js';
import { createReadTogether } from './loop/fetch.js';
import { createParsedJobs, createSerializer } from './loop/serializer.js';
import { renderParams } from '../evaluate/expressions.js';
import { createJobTree, usualDescendants } from './children/job-tree.js';
import { createRunningAttempts, type RunningAttempts } from './attempts/running-attempts.js';
import type { JobParts } from './loop/job-parts.js';
import { createJobs, type Jobs } from './loop/jobs.js';
import { lockIdOf } from '../lock-id.js';
import { createFailing } from './failing.js';
import { createEngineRates } from './locks/engine-rates.js';
import { createLocks } from './locks/locks.js';
import { createLogOnce, withFields } from './log.js';
import { createNotifications } from './events/notifications.js';
import { createReadSensitive, openSensitive } from './attempts/open-sensitive.js';
import { createOpenSecrets } from './attempts/open-secrets.js';
import { createCount, createWaitQueue, inLineOf } from './waiting/wait-queue.js';
import { createPermitQueues } from './locks/permit-queues.js';
import { backOff, createRetry } from './retry.js';
import { createPresence, offeredOf } from './peers/presence.js';
import { createEarlySignals, createHeardEvents } from './control/message.js';
import { createUnknownDocumentLog } from './events/unknown-documents.js';
import { createFollowers, type Followers } from './followers.js';
import { createWakers } from './waiting/wakers.js';
import { usualSlots, usualSweepMs, type EngineOptions } from './options.js';
import { createOthers, type Others } from './others.js';

/** The parts of one engine, put together; nothing runs yet. */
export type Assembly = ReturnType<typeof assemble>;

export function assemble(options: EngineOptions) {
  const toJobs = (): Jobs => jobs;
  const toFollowers = (): Followers => followers;
  const base = createBase(options);
  const others = createOthers(base);
  const queues = createQueues(base, others, toJobs);
  const { attempts, contents } = createAttempts(base, { others, queues, toJobs }, () => replicas);
  const replicas = createReplicasOf(base, others.peers, queues, attempts);
  const { store, retry, log, now, clock, once, life } = base;
  const documentLimit = { bytes: options.documentLimit ?? Infinity };
  const locks = createLocks({
    ...{ store, retry, log, now, clock, life: life.signal, queues: queues.permitQueues },
    ...{ copies: () => replicas.count, run: replicas.run, remind: (job) => toJobs().rouse(job) },
  });
  const rates = createEngineRates(base, toJobs, () => replicas.count);
  const { fail, failed } = createFailing(attempts);
  const parts: JobParts = {
    ...{ store, retry, log, now, clock, once, life, replicas, locks, rates, attempts },
    documentLimit,
    ...{ ...queues, fail },
    readDocument: createReadTogether(store),
    ...createDeciding(base, { others, queues, attempts, contents, replicas, locks, rates }),
    notifications: createNotifications({
      ...{ ...base, library: others.library, documentLimit, notifyLists: others.notifyLists.of },
    }),
    events: others.events,
    onJobEnd: (job) => toFollowers().schedules.jobEnded(job),
    // Two sweeps ahead, so that a sweep that fails makes nobody late.
    horizonMs: () =>
      options.horizonMs ??
      2 * (options.sweepMs ?? usualSweepMs) * sweepPace(base.self, others.peers.alive),
  };
  const jobs = createJobs(parts);
  const control = createControl(base, others, parts);
  const followers: Followers = createFollowers({
    ...{ ...base, ...others, ...parts },
    eventTtlMs: options.eventTtlMs,
  });
  return { ...base, ...others, ...parts, ...control, jobs, ...followers, failed };
}

/** Who the engine is, what it says, and how it waits for the store. */
function createBase(options: EngineOptions) {
  const { store, clock = systemClock } = options;
  const id = `engine:${options.name ?? randomUUID()}`;
  const log = withFields(options.log, { engine: id });
  /** `ending` stops what watches and follows, `life` also what still wants to write. */
  const ending = new AbortController();
  const life = new AbortController();
  // Every job that is under way may listen to them.
  setMaxListeners(0, ending.signal, life.signal);
  /**
   * `isBehind`: it has brought definitions that are not read yet. `hurry`: reads so many of those
   * that this engine had left to others, because now it can deal with them.
   */
  const feed = {
    isFollowed: false,
    isBehind: (): boolean => false,
    hurry: (_most?: number): void => undefined,
  };
  const retry = createRetry({
    signal: life.signal,
    report: (reason) => log.warn({}, `${reason} Trying again.`),
    isAwayReported: () => feed.isFollowed,
    clock,
  });
  return {
    ...{ options, store, id, log, ending, life, feed, retry },
    ...{ clock, now: clock.now },
    once: createLogOnce(log),
    meters: options.meters,
    linkOf: (job: string): string | undefined => options.linkOf?.(job),
    answerLinks: options.answerLinks?.links,
    self: {
      id,
      plugins: new Set(options.plugins.names()),
      labels: new Set(options.labels),
      queues: new Set(options.queues ?? [defaultQueue]),
    },
    slots: options.slots ?? usualSlots,
    leaseMs: options.leaseMs ?? usualLeaseMs,
    renewMs: options.renewMs ?? usualLeaseMs / 3,
    crashLimit: options.crashLimit ?? usualCrashLimit,
  };
}

type Base = ReturnType<typeof createBase>;

/** What waits, and for what; and the turns of each document. */
function createQueues({ life, log, now, clock }: Base, { library }: Others, toJobs: () => Jobs) {
  const count = createCount();
  const serializer = createSerializer((document, error) => {
    if (life.signal.aborted) return;
    log.error({ document, error: String(error) }, `Something unexpected happened to ${document}.`);
  }, now);
  return {
    ...{ count, serializer },
    waitQueue: createWaitQueue(count),
    permitQueues: createPermitQueues((job) => toJobs().recall(job), library),
    ...createWakers(toJobs, clock),
  };
}

type Queues = ReturnType<typeof createQueues>;

/** What runs plugins. */
function createAttempts(
  { id, options, store, retry, log, now, clock, life, slots, meters, feed }: Base,
  {
    others: { library, keyring },
    queues: { count, waitQueue },
    toJobs,
  }: { readonly others: Others; readonly queues: Queues; readonly toJobs: () => Jobs },
  replicas: () => Replicas,
) {
  const { plugins, cwd, onSecret, egress, code, graceMs = 5_000, reportMs = 5_000 } = options;
  const contents = createResultAttachments({
    ...{ store, retry, log, copies: () => replicas().count },
    rest: (tries) => backOff(tries, life.signal, clock),
  });
  const attempts = createRunningAttempts({
    ...{ plugins, cwd, onSecret, egress, graceMs, reportMs, log, now, contents, slots, meters },
    ...{ count, clock, code, answerLinks: options.answerLinks },
    readSensitive: createReadSensitive({ library, retry, source: options.sensitive, engine: id }),
    openSecrets: createOpenSecrets({
      ...{ library, keyring },
      openSensitive: openSensitive(retry, options.sensitive),
      readSecret: (id) => retry(async () => ({ doc: await store.get(id) })),
    }),
    blocking: createBlockWatch({ log, onBegin: options.onCall }),
    waits: () => waitQueue.tickets.size + waitQueue.called.size > 0,
    onFree: () => {
      if (waitQueue.tickets.size > 0) toJobs().fillSlots();
      else feed.hurry(100);
    },
    onEnded: (job, step, outcome, report) => toJobs().settle(job, step, outcome, report),
    onReport: (job, step, report) => toJobs().report(job, step, report),
  });
  return { attempts, contents };
}

/** How jobs are stored, whatever number of copies there are. */
function createReplicasOf(
  { id, store, retry, log, once, life, leaseMs, clock }: Base,
  { lease }: Others['peers'],
  { serializer }: Queues,
  attempts: RunningAttempts,
): Replicas {
  return createReplicas({
    ...{ store, retry, log, once, me: id, lease, life: life.signal },
    claimsOf: (job) => [...(attempts.ofJob.get(job) ?? [])],
    onRead: (doc) => void serializer.put(doc),
    giveUp: (children) => cancelChildren({ store, retry, once }, children),
    patienceMs: leaseMs / 2,
    rest: (ms) => clock.sleep(ms, life.signal),
  });
}

type Me = World['me'];

type DecidingParts = Pick<JobParts, 'attempts' | 'replicas' | 'locks' | 'rates'> & {
  readonly others: Others;
  readonly queues: Queues;
  readonly contents: ResultAttachments;
};

/** What decides, and what it may know. */
function createDeciding(base: Base, parts: DecidingParts) {
  const { options, store, retry, life, once, now, crashLimit } = base;
  const { rule, onDecide, mostDescendants = usualDescendants } = options;
  const { others, contents, locks, rates, attempts } = parts;
  const { worldFrom, bystanders } = createViews(base, parts);
  const decider = createDecider({
    ...{ store, library: others.library, attachments: contents, locks, rates, retry },
    ...{ life: life.signal, onDecide, once, now, worldFrom, reserve: attempts.reserve },
    eventTtlMs: options.eventTtlMs,
    jobTree: createJobTree({ store, now, mostDescendants }),
    ...(rule === undefined ? {} : { rule }),
  });
  return {
    ...{ decider, crashLimit, bystanders },
    parsedJobs: createParsedJobs(onDecide),
    breaker: createBreaker(base.clock.steady),
  };
}

/** The world around a decision, and the part of it that a quick check needs. */
function createViews(
  { options: { plugins, retry = {} }, self, crashLimit, linkOf, answerLinks }: Base,
  {
    others: { peers, queueControls, notifyLists },
    queues: { waitQueue },
    attempts,
    replicas,
  }: DecidingParts,
): Pick<JobParts, 'bystanders'> & Pick<DeciderParts, 'worldFrom'> {
  const facts = (name: string): PluginFacts => {
    const { module, hash } = plugins.get(name) ?? {};
    return { templates: module?.templates ?? [], ...(hash && { hash }) };
  };
  const retrying = { ...usualRetry, ...retry };
  const me = { ...self, pid: process.pid, facts };
  const { unbegun, ended: stored } = replicas;
  // The same in every decision, so put together once.
  const acting = { ...me, stopping: attempts.stopping, unbegun, ended: stored };
  const shareOf = (job: Job, free: number, ended?: readonly string[]): Me['share'] => {
    const facts = { hasRoom: attempts.hasRoom, use: () => attempts.use(ended) };
    const of = (wanted: number) => waitQueue.slotsFor(inLineOf(job), { free, wanted }, facts);
    // For a wide job it is worked out once, for all that is free.
    let most: number | undefined;
    return (wanted) => {
      if (waitQueue.tickets.size + waitQueue.called.size === 0) return wanted;
      return wanted === 1 ? of(1) : Math.min(wanted, (most ??= of(free)));
    };
  };
  return {
    bystanders: (seenAt) => ({
      me: {
        ...me,
        running: attempts.claims,
        get freeSlots() {
          return attempts.freeSlots();
        },
      },
      ...{ seenAt, peers: peers.alive },
    }),
    worldFrom: ({ job, ended, seenAt }, known, schema) => {
      const freeSlots = attempts.freeSlots(ended);
      const running = ended === undefined ? attempts.claims : without(attempts.claims, ended);
      const runningOf = (task: string) => attempts.runningOf(task, ended);
      return {
        // Only one object is spread, as the first: with more of them the world would be a slow one.
        ...known,
        me: { ...acting, freeSlots, share: shareOf(job, freeSlots, ended), runningOf, running },
        seenAt,
        peers: peers.alive,
        nonce: randomUUID(),
        schema,
        lease: peers.lease,
        ...{ queueControl: queueControls.of, ratedQueues: queueControls.rated },
        notifyLists: notifyLists.of,
        lockId: lockIdOf,
        render: renderParams,
        ...{ linkOf, answerLinks },
        crashLimit,
        retry: retrying,
      };
    },
  };
}

/** What the engine says of itself, and what is asked of it. */
function createControl(
  { id, store, log, now, self, slots, renewMs, options }: Base,
  { isReporter }: Others,
  { attempts, serializer }: JobParts,
) {
  const me = {
    id,
    pid: process.pid,
    version: packageVersion(),
    ...offeredOf(options.plugins),
    labels: [...self.labels],
    queues: [...self.queues],
    slots: typeof slots === 'number' ? slots : slots.slots,
    renew_ms: renewMs,
  };
  const presence = createPresence(store, me, now);
  const onChange = (enabled: boolean): void => {
    const now = enabled ? 'takes work again' : 'takes no new work: it was disabled';
    log.info({}, `Engine ${id} ${now}.`);
    attempts.enable(enabled);
    void serializer.queue(id, () => presence.enable(enabled));
  };
  return {
    ...{ presence, controls: createControls({ me: id, log, isReporter, onChange }) },
    ...{ earlySignals: createEarlySignals(), heardEvents: createHeardEvents() },
    logUnknown: createUnknownDocumentLog(log),
  };
}

function without(claims: ReadonlySet<string>, ended: readonly string[]): World['me']['running'] {
  return { has: (claim) => claims.has(claim) && !ended.includes(claim) };
}
