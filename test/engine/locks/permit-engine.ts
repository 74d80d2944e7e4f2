import { decide } from '../../../src/decide/decide.js';
import type { Intent } from '../../../src/decide/intent.js';
import type { Acquire, Query } from '../../../src/decide/queries.js';
import type { Answer, PermitAnswer, World } from '../../../src/decide/world.js';
import { settle } from '../../../src/decide/finish/settle.js';
import type { Outcome } from '../../../src/decide/finish/outcome.js';
import { createLocks } from '../../../src/engine/locks/locks.js';
import { createPermitQueues } from '../../../src/engine/locks/permit-queues.js';
import { inLineOf } from '../../../src/engine/waiting/wait-queue.js';
import { readSchema } from '../../../src/evaluate/schemas.js';
import { lockIdOf } from '../../../src/lock-id.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { Flow } from '../../../src/model/flow.js';
import { isFinalState, type Job } from '../../../src/model/job.js';
import { isLive, type LiveStep, type Step } from '../../../src/model/step.js';
import type { Task } from '../../../src/model/task.js';
import { createReplicas } from '../../../src/replicas/replicas.js';
import type { Store } from '../../../src/store/store.js';
import { world } from '../../support/builders.js';
import type { VirtualTime } from '../../support/virtual-time.js';
import { peerOf, type Cluster } from '../schedules/slot-world.js';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** What simulated engines have in common. */
export type Around = {
  readonly clock: VirtualTime;
  readonly cluster: Cluster;
  /** A number from 0 to below `most`. */
  readonly pick: (most: number) => number;
  readonly flows: readonly Flow[];
  readonly tasks: readonly Task[];
  /** The engines that have a lease, dead or not. */
  readonly leases: () => readonly string[];
  /** A document was stored or removed by an engine: the feed brings it to all. */
  readonly stored: (doc: StoredDocument) => void;
  /** An engine has done something: it may die. */
  readonly step: (engine: string) => void;
  /** Something was thrown. */
  readonly failed: (error: unknown) => void;
  /** The way to the store and the one back take so long at the most, ms. */
  readonly slowMs: number;
  /** Of each hundred writes so many are stored without a clear answer. */
  readonly lost: number;
  /** An attempt runs from now on, or no more. */
  readonly begins: (attempt: RunningAttempt) => void;
  readonly ends: (claim: string) => void;
};

export type RunningAttempt = {
  readonly engine: string;
  readonly job: string;
  readonly task: string;
  readonly claim: string;
};

export type SimulatedEngine = {
  readonly take: (doc: StoredDocument) => void;
  readonly gone: (id: string) => void;
  readonly kill: () => void;
};

/** One engine, as far as permits are concerned: what it decides, takes, writes and runs is real. */
export function startEngine(name: string, around: Around): SimulatedEngine {
  const { clock, pick, flows, tasks } = around;
  const life = new AbortController();
  const store = storeOf(name, around, life.signal);
  const running = new Map<string, string>();
  const seen = new Map<string, { rev: string; at: number }>();
  const queue = new Map<string, Promise<void>>();
  const retry = async <T>(ask: () => Promise<T>): Promise<T | undefined> => {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!isUnclear(error)) throw error;
      }
    }
  };
  const serially = (id: string, what: () => Promise<void>): Promise<void> => {
    const next = (queue.get(id) ?? Promise.resolve()).then(what).catch(around.failed);
    queue.set(id, next);
    return next;
  };
  const recall = (id: string): Promise<void> => {
    const known = seen.get(id);
    if (known !== undefined) seen.set(id, { ...known, at: clock.now() });
    return serially(id, () => consider(id));
  };
  const permitQueues = createPermitQueues(recall, {
    flow: (flow) => {
      const value = flows.find((one) => one.name === flow);
      return value === undefined ? { kind: 'absent' } : { kind: 'found', value };
    },
    limiting: new Set(['some']),
  });
  const copies = around.cluster.nodes.length;
  const replicas = createReplicas({
    ...{ store, retry, log: silent, life: life.signal, me: name, patienceMs: Infinity },
    once: { said: new Set<string>(), log: () => {}, stored: () => {} },
    giveUp: () => Promise.resolve([]),
    claimsOf: (job) => [...running].flatMap(([claim, of]) => (of === job ? [claim] : [])),
    lease: (engine) => (around.leases().includes(engine) ? 'alive' : 'dead'),
    onRead: () => {},
    rest: (ms) => new Promise((go) => clock.after(ms, go)),
  });
  replicas.setCount(copies);
  const locks = createLocks({
    ...{ store, retry, log: silent, life: life.signal, now: clock.now, queues: permitQueues },
    ...{ copies: () => copies, run: replicas.run },
    remind: (job) => void recall(job),
  });
  const worldFor = (job: Job, found: Found): World => {
    const others = around.leases().filter((one) => one !== name);
    const known = world({
      ...{ id: name, flows, tasks, peers: others.map(able), freeSlots: 1_000 },
      ...{ running: [...running.keys()], seenAt: seen.get(job._id)?.at ?? clock.now() },
      ...{ answers: found.answers, permits: found.permits, displaced: [...found.displaced] },
      nonce: `${name}-${pick(1e9)}`,
    });
    return {
      ...known,
      lockId: lockIdOf,
      lease: (engine) => (engine === name || around.leases().includes(engine) ? 'alive' : 'dead'),
    };
  };
  const able = (one: string) => ({
    ...peerOf(one),
    plugins: new Set(tasks.map((task) => task.name)),
    queues: new Set(['default']),
  });
  const decideAbout = async (job: Job): Promise<Intent> => {
    const found: Found = { answers: {}, permits: {}, displaced: new Set() };
    for (;;) {
      const intent = decide(job, clock.now(), worldFor(job, found));
      if (intent.kind === 'look_up') answer(intent, found);
      else if (intent.kind === 'acquire') await acquireFor(intent, found, job, locks);
      else return intent;
    }
  };
  const read = async (id: string): Promise<StoredDocument | undefined> => {
    const doc = await store.get(id);
    if (doc === undefined || copies === 1) return doc;
    if (around.cluster.leaves(id).length > 1) replicas.suspect(id);
    return replicas.readConsistent(doc);
  };
  /** Considers a job until there is nothing more to do about it. */
  const consider = async (id: string): Promise<void> => {
    for (;;) {
      const doc = await read(id);
      if (life.signal.aborted || doc === undefined) return;
      if (seen.get(id)?.rev !== doc._rev) seen.set(id, { rev: doc._rev, at: clock.now() });
      permitQueues.look(doc);
      const goesOn = await considerVersion(doc);
      permitQueues.looked(id);
      if (!goesOn) return;
    }
  };
  const considerVersion = async (doc: StoredDocument): Promise<boolean> => {
    if (isFinalState(doc['state'])) {
      permitQueues.leave(doc._id);
      await locks.release(doc);
      return false;
    }
    const job = doc as unknown as Job;
    const intent = await decideAbout(job);
    switch (intent.kind) {
      case 'wait':
        permitQueues.wait(inLineOf(doc), intent);
        if (intent.until !== undefined) {
          clock.after(intent.until - clock.now(), () => {
            if (!life.signal.aborted) void serially(doc._id, () => consider(doc._id));
          });
        }
        return false;
      case 'claim':
      case 'write':
      case 'spawn':
        return write(intent.job, intent.kind === 'claim' ? intent.steps : []);
      case 'abort':
        for (const claim of intent.claims) end(doc._id, claim, { kind: 'cancelled' });
        return false;
      case 'ignore':
        return false;
      case 'look_up':
      case 'acquire':
        throw new Error('It was answered.');
    }
  };
  const write = async (
    job: Job,
    claims: readonly LiveStep[],
    ended: readonly string[] = [],
  ): Promise<boolean> => {
    // Whoever reads the job before the answer comes must not take its attempts for lost.
    for (const { claim } of claims) running.set(claim, job._id);
    const committed = await replicas.commit({ job, claims, ended });
    if (life.signal.aborted) return false;
    const isOurs = committed.kind === 'written' || (await hasBegunAll(job._id, claims));
    if (life.signal.aborted) return false;
    if (!isOurs) {
      for (const { claim } of claims) running.delete(claim);
      return committed.kind === 'given_up';
    }
    const doc = 'doc' in committed ? committed.doc : await read(job._id);
    if (doc === undefined) return false;
    if (isFinalState(doc['state'])) locks.adopt(doc);
    await locks.releaseSteps(doc);
    for (const { claim, task } of claims) {
      around.begins({ engine: name, job: job._id, task: String(task), claim });
      clock.after(20 + pick(400), () => end(job._id, claim, { kind: 'done' }));
    }
    return true;
  };
  /** The answer to a write may be lost: where there is one copy, a read tells. */
  const hasBegunAll = async (id: string, claims: readonly LiveStep[]): Promise<boolean> => {
    if (copies > 1 || claims.length === 0) return false;
    const stored = await store.get(id);
    return stored !== undefined && hasBegun(stored, claims);
  };
  /** The attempt ends; its outcome is written on whatever revision there is. */
  const end = (id: string, claim: string, outcome: Outcome): void => {
    if (life.signal.aborted || !running.has(claim)) return;
    around.ends(claim);
    void serially(id, async () => {
      for (;;) {
        const doc = await read(id);
        if (life.signal.aborted || doc === undefined) return;
        const schema = readSchema;
        const settled = settle(doc as unknown as Job, { claim, outcome, schema }, clock.now());
        if (settled.kind === 'fenced' || (await write(settled.job, [], [claim]))) break;
      }
      running.delete(claim);
      await consider(id);
    });
  };
  const call = (): void => {
    if (life.signal.aborted) return;
    void permitQueues.callAll();
    clock.after(500, call);
  };
  clock.after(pick(500), call);
  return {
    take: (doc) => void serially(doc._id, () => consider(doc._id)),
    gone: (id) => {
      const limit = locks.freed(id);
      if (limit !== undefined) void permitQueues.call(limit);
    },
    kill: () => life.abort(),
  };
}

type Found = {
  answers: Record<string, Answer>;
  permits: Record<string, PermitAnswer>;
  readonly displaced: Set<string>;
};

/** All keys of the simulation are `params.k`, of the job or of the step. */
function answer({ questions }: Query, found: Found): void {
  for (const { id, context } of questions) {
    found.answers[id] = { ok: true, value: context.params['k'] };
  }
}

async function acquireFor(
  { locks: wanted, permits, displaces }: Acquire,
  found: Found,
  job: Job,
  locks: ReturnType<typeof createLocks>,
): Promise<void> {
  if (wanted.length > 0) throw new Error('No job of the simulation has a target.');
  for (const request of permits) found.permits[request.id] = await locks.permit(request, job);
  for (const one of displaces) {
    await locks.displace(one, job);
    found.displaced.add(one.nonce);
  }
}

/** A write that only some copies have acknowledged. */
function isUnclear(error: unknown): boolean {
  return error instanceof Error && error.message === '202';
}

function hasBegun(doc: StoredDocument, claims: readonly LiveStep[]): boolean {
  const steps = (doc['steps'] ?? []) as readonly Step[];
  return claims.every(({ claim }) => steps.some((one) => isLive(one) && one.claim === claim));
}

/** The store as one engine sees it: everything takes a while, and a dead engine learns nothing. */
function storeOf(name: string, around: Around, life: AbortSignal): Store {
  const { clock, cluster, pick, lost, slowMs } = around;
  const later = <T>(what: () => T): Promise<T> =>
    new Promise((resolve) => {
      clock.after(1 + pick(slowMs), () => {
        if (life.aborted) return;
        const found = what();
        around.step(name);
        clock.after(pick(slowMs), () => {
          if (!life.aborted) resolve(found);
        });
      });
    });
  const write = (doc: Partial<StoredDocument> & { readonly _id: string }) => {
    const result = cluster.write(doc);
    // Of several copies one may have it.
    if (result.kind === 'unknown') around.stored({ ...doc, _rev: '' });
    if (result.kind !== 'written') return result;
    around.stored({ ...doc, _rev: result.rev });
    // The answer to the first of two attempts to write may be lost: the second one is told of a conflict.
    return pick(100) < lost ? ({ kind: 'conflict' } as const) : result;
  };
  const count = cluster.nodes.length;
  const find = (id: string): StoredDocument | undefined =>
    cluster.get(id, count === 1 ? undefined : pick(count));
  const store = {
    get: (id: string) => later(() => find(id)),
    leaves: (id: string) => later(() => cluster.leaves(id)),
    getMany: (ids: readonly string[]) =>
      later(
        () =>
          new Map(
            ids.flatMap((id) => {
              const doc = find(id);
              return doc === undefined ? [] : [[id, doc] as const];
            }),
          ),
      ),
    view: (_name: string, { keys }: { readonly keys: readonly (readonly [string, string])[] }) =>
      later(() => {
        const wanted = new Set(keys.map(([, key]) => key));
        return cluster.ids().flatMap((id) => {
          const doc = id.startsWith('lock:') ? find(id) : undefined;
          return doc !== undefined && wanted.has(String(doc['key'])) ? [{ id, doc }] : [];
        });
      }),
    write: (doc: Partial<StoredDocument> & { readonly _id: string }) => later(() => write(doc)),
    remove: (id: string, rev: string) => later(() => write({ _id: id, _rev: rev, _deleted: true })),
  };
  return store as unknown as Store;
}
