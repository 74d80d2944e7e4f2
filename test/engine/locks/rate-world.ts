import { turnMs } from '../../../src/decide/compete/ranks.js';
import { createVirtualTime, dice, type VirtualTime } from '../../support/virtual-time.js';
import { createRates, type Rates } from '../../../src/engine/locks/rates.js';
import type { RateRequest } from '../../../src/decide/queries.js';
import { createCluster, type Cluster } from '../schedules/slot-world.js';

/** What a run of the simulation is. Times in ms. */
export type RateRun = {
  readonly seed: number;
  readonly engines: number;
  readonly jobs: number;
  readonly limit: number;
  readonly perMs: number;
  /** So far apart the clocks are. */
  readonly skewMs: number;
  readonly nodes: number;
  /** How often an engine is killed, of each hundred steps of it. */
  readonly kills: number;
  /** So long the write takes at the most with which one begins. */
  readonly slowMs: number;
  /** Of each hundred times that a job could ask, it waits so often for something else first. */
  readonly absent?: number;
  /** So many jobs, those before all others, are cancelled at once after a while. */
  readonly cancelled?: number;
  /** Ends when so many have begun; default: all. */
  readonly most?: number;
};

/** When jobs began, and when engines died that held a grant, by the true time. */
export type RateOutcome = { readonly begun: readonly number[]; readonly deaths: readonly number[] };

/** Runs engines that begin jobs under one rate limit. */
export async function beginAll(run: RateRun): Promise<RateOutcome> {
  const { engines, jobs, skewMs, nodes, kills } = run;
  const pick = dice(run.seed);
  const clock = createVirtualTime();
  const reach = (): readonly number[] => {
    const first = pick(nodes);
    const order = Array.from({ length: nodes }, (_, i) => (first + i) % nodes);
    return pick(5) === 0 ? order.slice(0, 1 + pick(nodes)) : order;
  };
  const cluster = createCluster(nodes, reach);
  const open = new Set(Array.from({ length: jobs }, (_, n) => `job-${n}`));
  const begun: number[] = [];
  const deaths: number[] = [];
  const alive = new Map<number, Simulated>();
  const start = (n: number): void => {
    const offset = 1_000_000 + (engines < 2 ? 0 : Math.round((skewMs * n) / (engines - 1)));
    const engine = createEngine(run, { n, offset, clock, cluster, pick, alive: () => alive });
    alive.set(n, engine);
    for (const job of open) engine.consider(job);
  };
  const onHeld = (n: number, job: string): void => {
    if (pick(100) < kills) {
      // It dies between the grant and the claim; another one takes its place.
      alive.get(n)?.kill();
      deaths.push(clock.now());
      return clock.after(200 + pick(1_000), () => start(n));
    }
    if (open.delete(job)) begun.push(clock.now());
  };
  for (let n = 0; n < engines; n += 1) start(n);
  const isOpen = (job: string): boolean => open.has(job);
  onHeldOf.set(run, { onHeld, isOpen });
  clock.after(run.perMs / 2, () => {
    for (const job of [...open].slice(0, run.cancelled ?? 0)) {
      open.delete(job);
      for (const engine of alive.values()) engine.gone(job);
    }
  });
  await clock.run(() => open.size === 0 || begun.length >= (run.most ?? Infinity));
  return { begun, deaths };
}

type Judge = {
  readonly onHeld: (n: number, job: string) => void;
  readonly isOpen: (job: string) => boolean;
};
const onHeldOf = new WeakMap<RateRun, Judge>();

type Simulated = {
  readonly consider: (job: string) => void;
  readonly saw: Rates['saw'];
  readonly gone: (job: string) => void;
  readonly kill: () => void;
};

type Around = {
  readonly n: number;
  readonly offset: number;
  readonly clock: VirtualTime;
  readonly cluster: Cluster;
  readonly pick: (most: number) => number;
  readonly alive: () => ReadonlyMap<number, Simulated>;
};

function createEngine(run: RateRun, around: Around): Simulated {
  const { n, offset, clock, cluster, pick, alive } = around;
  const life = new AbortController();
  const later = <T>(what: () => T): Promise<T> =>
    new Promise((resolve) => {
      clock.after(1 + pick(4), () => {
        if (!life.signal.aborted) resolve(what());
      });
    });
  const now = (): number => clock.now() + offset;
  const rates = createRates({
    store: {
      get: (id) => later(() => cluster.get(id)),
      leaves: (id) => later(() => cluster.leaves(id)),
      write: (doc) =>
        later(() => {
          const result = cluster.write(doc);
          const rev = cluster.get(doc._id)?._rev;
          for (const one of alive().values())
            clock.after(2 + pick(20), () => one.saw(doc._id, rev));
          if (pick(3) === 0) cluster.sync();
          return result;
        }),
      remove: (id, rev) => later(() => cluster.write({ _id: id, _rev: rev, _deleted: true })),
    },
    retry: (of) => of(),
    ...{ life: life.signal, now, steady: () => clock.now() + 7 * n, copies: () => run.nodes },
    wait: (ms) => new Promise((go) => clock.after(ms, go)),
    rest: (tries) => new Promise((go) => clock.after(pick(20 * Math.min(tries, 10)), go)),
    rouse: (job) => consider(job),
  });
  const request = (job: string): RateRequest => ({
    ...{ id: 'rate:1', for: job, attempt: '0', of: 'task "a"' },
    ...{ limit: run.limit, perMs: run.perMs },
  });
  const timers = new Map<string, number>();
  const consider = (job: string, waited = false): void => {
    // Engines go one after the other for each job.
    const rank = (n + Number(job.replace('job-', ''))) % run.engines;
    clock.after(turnMs(rank) + (waited ? 0 : pick(10)), () => void ask(job));
  };
  const ask = async (job: string): Promise<void> => {
    const judge = onHeldOf.get(run) as Judge;
    if (life.signal.aborted || !judge.isOpen(job)) return rates.leave(job);
    if (pick(100) < (run.absent ?? 0)) {
      rates.leaveOthers(job, new Set());
      return clock.after(pick(3_000), () => consider(job));
    }
    const answer = await rates.take(request(job), { id: job, priority: 500, begun: false });
    if (life.signal.aborted) return;
    if (answer.kind === 'held') {
      // The claim is written, which sometimes takes long.
      await later(() => undefined);
      if (pick(4) === 0) await new Promise<void>((go) => clock.after(pick(run.slowMs), go));
      await rates.used(job, [{ path: '0' }]);
      return life.signal.aborted ? undefined : judge.onHeld(n, job);
    }
    if (answer.kind !== 'full') throw new Error(JSON.stringify(answer));
    const at = answer.until - offset;
    if ((timers.get(job) ?? Infinity) <= at && (timers.get(job) ?? 0) > clock.now()) return;
    timers.set(job, at);
    clock.after(at - clock.now(), () => consider(job, true));
  };
  return { consider, saw: rates.saw, gone: rates.leave, kill: () => life.abort() };
}
