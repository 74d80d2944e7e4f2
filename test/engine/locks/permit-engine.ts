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
  const retry = async <T>(ask: () => Promise<T>): Promise<T | undefined> => ask();
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
  const locks = createLocks({
    ...{ store, retry, log: silent, life: life.signal, now: clock.now, queues: permitQueues },
    copies: () => 1,
    run: () => Promise.reject(new Error('There is one copy.')),
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
  /** Considers a job until there is nothing more to do about it. */
  const consider = async (id: string): Promise<void> => {
    for (;;) {
      const doc = await store.get(id);
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
  const write = async (job: Job, claims: readonly LiveStep[]): Promise<boolean> => {
    // Whoever reads the job before the answer comes must not take its attempts for lost.
    for (const { claim } of claims) running.set(claim, job._id);
    const answered = await store.write(job);
    const isKnown = answered.kind === 'written';
    const stored = isKnown || claims.length === 0 ? undefined : await store.get(job._id);
    if (life.signal.aborted) return false;
    if (!isKnown && (stored === undefined || !hasBegun(stored, claims))) {
      for (const { claim } of claims) running.delete(claim);
      return false;
    }
    const doc = (await store.get(job._id)) as StoredDocument;
    if (isFinalState(doc['state'])) locks.adopt(doc);
    await locks.releaseSteps(doc);
    for (const step of claims) {
      const ms = 20 + pick(400);
      clock.after(ms, () => end(job._id, step.claim, { kind: 'done' }));
    }
    return true;
  };
  /** The attempt ends; its outcome is written on whatever revision there is. */
  const end = (id: string, claim: string, outcome: Outcome): void => {
    if (life.signal.aborted || !running.has(claim)) return;
    void serially(id, async () => {
      for (;;) {
        const doc = await store.get(id);
        if (life.signal.aborted || doc === undefined) return;
        const schema = readSchema;
        const settled = settle(doc as unknown as Job, { claim, outcome, schema }, clock.now());
        if (settled.kind === 'fenced' || (await write(settled.job, []))) break;
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
    await locks.displace(one);
    found.displaced.add(one.nonce);
  }
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
    if (result.kind !== 'written') return result;
    around.stored({ ...doc, _rev: result.rev });
    // The answer to the first of two attempts to write may be lost: the second one is told of a conflict.
    return pick(100) < lost ? ({ kind: 'conflict' } as const) : result;
  };
  const store = {
    get: (id: string) => later(() => cluster.get(id)),
    getMany: (ids: readonly string[]) =>
      later(
        () =>
          new Map(
            ids.flatMap((id) => {
              const doc = cluster.get(id);
              return doc === undefined ? [] : [[id, doc] as const];
            }),
          ),
      ),
    view: (_name: string, { keys }: { readonly keys: readonly (readonly [string, string])[] }) =>
      later(() => {
        const wanted = new Set(keys.map(([, key]) => key));
        return cluster.ids().flatMap((id) => {
          const doc = id.startsWith('lock:') ? cluster.get(id) : undefined;
          return doc !== undefined && wanted.has(String(doc['key'])) ? [{ id, doc }] : [];
        });
      }),
    write: (doc: Partial<StoredDocument> & { readonly _id: string }) => later(() => write(doc)),
    remove: (id: string, rev: string) => later(() => write({ _id: id, _rev: rev, _deleted: true })),
  };
  return store as unknown as Store;
}
