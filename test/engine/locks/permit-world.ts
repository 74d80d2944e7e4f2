import { command } from '../../../src/decide/requests/command.js';
import { keyedLimit, limitsOfFlow, limitsOfTask } from '../../../src/decide/compete/limits.js';
import { lockIdOf } from '../../../src/lock-id.js';
import type { ConcurrencyLimit } from '../../../src/model/concurrency.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { Flow } from '../../../src/model/flow.js';
import { isFinalState, type Job } from '../../../src/model/job.js';
import type { JobRequest } from '../../../src/model/request.js';
import { isOpen, type Step } from '../../../src/model/step.js';
import type { Task } from '../../../src/model/task.js';
import { flow } from '../../support/builders.js';
import { createVirtualTime, dice } from '../../support/virtual-time.js';
import { createCluster } from '../schedules/slot-world.js';
import {
  startEngine,
  type Around,
  type RunningAttempt,
  type SimulatedEngine,
} from './permit-engine.js';

/** What a run of the simulation is. Times in ms. */
export type PermitRun = {
  readonly seed: number;
  readonly engines: number;
  readonly jobs: number;
  /** The limits of each flow. */
  readonly flows: readonly (readonly ConcurrencyLimit[])[];
  /** The limits of each of the tasks `a` and `b`. */
  readonly tasks: readonly [readonly ConcurrencyLimit[], readonly ConcurrencyLimit[]];
  /** How often an engine is killed, of each thousand steps of it. */
  readonly kills: number;
  /** The way to the store and the one back take so long at the most. */
  readonly slowMs: number;
  /** How often the answer to a write is lost, of each hundred. */
  readonly lost: number;
  /** Nodes of the database, each with a copy of every document. */
  readonly nodes: number;
};

/** What a run came to. */
export type PermitOutcome = {
  /** The limits of which there were once more holders than permits. */
  readonly over: readonly string[];
  /** For how long a permit was free at the most while a job could have begun with it, ms. */
  readonly emptyMs: number;
  /** The jobs that have not ended. */
  readonly open: readonly string[];
  readonly exits: readonly number[];
  readonly killed: number;
};

/** A dead engine is taken for alive so long, ms. */
const leaseMs = 400;
/** Jobs that have not ended by then never end, ms: most runs take 3 s to 30 s. */
const mostMs = 200_000;
const values = ['p', 'q', 'r'];
/** The tasks of the flow of a number. */
const namesIn = (flowNumber: number): readonly string[] =>
  flowNumber % 2 === 0 ? ['a', 'b'] : ['b'];

/** Runs jobs on engines that are killed by chance until all have ended. */
export async function runJobs(run: PermitRun): Promise<PermitOutcome> {
  const pick = dice(run.seed);
  const clock = createVirtualTime();
  const { nodes } = run;
  const reach = (): readonly number[] => {
    const first = pick(nodes);
    const order = Array.from({ length: nodes }, (_, i) => (first + i) % nodes);
    return nodes > 1 && pick(4) === 0 ? order.slice(0, 1 + pick(nodes)) : order;
  };
  const cluster = createCluster(nodes, reach);
  const tasks = run.tasks.map((limits, i): Task => {
    const own = limits.length === 0 ? {} : { concurrency: [...limits] };
    return { type: 'task', name: 'ab'[i] ?? '', ...own };
  });
  const flows = run.flows.map((limits, i) => {
    const own = limits.length === 0 ? {} : { concurrency: [...limits] };
    return flow([...namesIn(i)], { name: `f${i}`, timeout: 0, ...own });
  });
  const leases = new Set<string>();
  const alive = new Map<string, SimulatedEngine>();
  const attempts = new Map<string, RunningAttempt>();
  const judge = createJudge({ cluster, flows, tasks, now: clock.now, attempts });
  const applyRequest = (request: JobRequest & { readonly _id: string }): void => {
    const doc = cluster.get(request.job);
    if (doc === undefined) return;
    const commanded = command(doc as unknown as Job, request, clock.now());
    if (commanded.kind === 'applied') {
      const result = cluster.write(commanded.job);
      if (result.kind === 'written') spread({ ...commanded.job, _rev: result.rev });
    }
  };
  const spread = (doc: StoredDocument): void => {
    if (doc._id.startsWith('job-')) judge.look();
    if (doc['type'] === 'request') clock.after(5 + pick(30), () => applyRequest(doc as never));
    for (const engine of alive.values()) {
      clock.after(2 + pick(20), () => {
        if (doc['_deleted'] === true) engine.gone(doc._id);
        else if (doc._id.startsWith('job-')) engine.take(doc);
      });
    }
  };
  const errors: unknown[] = [];
  let killed = 0;
  let started = 0;
  const start = (): void => {
    const name = `engine:${started++}`;
    leases.add(name);
    const engine = startEngine(name, {
      ...{ clock, cluster, pick, flows, tasks, lost: run.lost, slowMs: run.slowMs },
      leases: () => [...leases],
      failed: (error) => errors.push(error),
      stored: spread,
      begins: (attempt) => {
        attempts.set(attempt.claim, attempt);
        judge.look();
      },
      ends: (claim) => attempts.delete(claim),
      step: (of) => {
        if (pick(1_000) < run.kills && alive.size > 1) kill(of);
      },
    });
    alive.set(name, engine);
    for (const id of cluster.ids()) {
      const doc = cluster.get(id);
      if (id.startsWith('job-') && doc !== undefined) engine.take(doc);
    }
  };
  const kill = (name: string): void => {
    if (!alive.has(name)) return;
    alive.get(name)?.kill();
    alive.delete(name);
    for (const [claim, { engine }] of attempts) if (engine === name) attempts.delete(claim);
    killed += 1;
    clock.after(leaseMs, () => {
      leases.delete(name);
      // The others look at what it had in hand.
      for (const id of cluster.ids()) {
        const doc = cluster.get(id);
        if (!id.startsWith('job-') || doc === undefined) continue;
        for (const engine of alive.values()) engine.take(doc);
      }
    });
    clock.after(200 + pick(2_000), start);
  };
  for (let n = 0; n < run.engines; n += 1) start();
  for (let n = 0; n < run.jobs; n += 1) {
    const k = values[pick(values.length)];
    const job = {
      ...{ _id: `job-${n}`, type: 'job', flow: `f${pick(flows.length)}` },
      ...{ params: { k, a: { k }, b: { k } }, priority: 1 + pick(3) },
    };
    clock.after(pick(nodes > 1 ? 300 : 3_000), () => {
      const result = cluster.write(job);
      if (result.kind === 'written') spread({ ...job, _rev: result.rev });
    });
  }
  const look = (): void => {
    judge.look();
    clock.after(50, look);
  };
  clock.after(50, look);
  if (nodes > 1) followCopies({ cluster, clock, pick, alive });
  const jobs = (): readonly (StoredDocument | undefined)[] =>
    Array.from({ length: run.jobs }, (_, n) => cluster.get(`job-${n}`));
  const isOpenJob = (doc: StoredDocument | undefined): boolean => !isFinalState(doc?.['state']);
  await clock.run(() => errors.length > 0 || clock.now() > mostMs || !jobs().some(isOpenJob));
  if (errors.length > 0) throw errors[0];
  return {
    ...{ over: judge.over(), emptyMs: judge.emptyMs(), killed, tookMs: clock.now() },
    open: jobs().flatMap((doc, n) => (isOpenJob(doc) ? [`job-${n}`] : [])),
    exits: jobs().map((doc) => Number(doc?.['exit'])),
  };
}

/** Copies learn of each other, and what came into conflict then is looked at; so is everything now and then. */
function followCopies({
  cluster,
  clock,
  pick,
  alive,
}: Pick<Around, 'cluster' | 'clock' | 'pick'> & {
  readonly alive: ReadonlyMap<string, SimulatedEngine>;
}): void {
  const show = (isWanted: (id: string) => boolean): void => {
    for (const id of cluster.ids()) {
      const doc = cluster.get(id);
      if (!id.startsWith('job-') || doc === undefined || !isWanted(id)) continue;
      for (const engine of alive.values()) clock.after(pick(20), () => engine.take(doc));
    }
  };
  const sync = (): void => {
    cluster.sync();
    show((id) => cluster.leaves(id).length > 1);
    clock.after(20 + pick(200), sync);
  };
  const sweep = (): void => {
    show((id) => !isFinalState(cluster.get(id)?.['state']));
    clock.after(2_000, sweep);
  };
  sync();
  sweep();
}

type JudgeParts = {
  /** Attempts that run, by claim. */
  readonly attempts: ReadonlyMap<string, RunningAttempt>;
  readonly cluster: ReturnType<typeof createCluster>;
  readonly flows: readonly Flow[];
  readonly tasks: readonly Task[];
  readonly now: () => number;
};

type Want = { readonly key: string; readonly most: number };

/** Looks at the jobs alone, whatever the locks say. */
function createJudge({ cluster, flows, tasks, now, attempts }: JudgeParts) {
  const over = new Set<string>();
  const since = new Map<string, number>();
  let emptyMs = 0;
  const wantsOf = (limits: ReturnType<typeof limitsOfTask>, job: StoredDocument): Want[] =>
    limits.map((limit) => {
      const { k } = job['params'] as { readonly k: string };
      return keyedLimit(limit, limit.key === undefined ? null : k, lockIdOf);
    });
  const look = (): void => {
    const holders = new Map<string, number>();
    const most = new Map<string, number>();
    const hungry: { readonly job: StoredDocument; readonly wants: readonly Want[] }[] = [];
    for (const id of cluster.ids()) {
      const job = id.startsWith('job-') ? cluster.get(id) : undefined;
      if (job === undefined || isFinalState(job['state'])) continue;
      const steps = (job['steps'] ?? []) as readonly Step[];
      const of = flows.find(({ name }) => name === job['flow']) as Flow;
      const flowWants = wantsOf(limitsOfFlow(of), job);
      const covered = new Set(flowWants.map(({ key }) => key));
      const wantsOfTask = (name: string): Want[] =>
        wantsOf(limitsOfTask(tasks.find((task) => task.name === name) as Task), job).filter(
          ({ key }) => !covered.has(key),
        );
      for (const want of [...flowWants, ...tasks.flatMap(({ name }) => wantsOfTask(name))]) {
        most.set(want.key, want.most);
      }
      const isBegun = steps.length > 0 || job['locked'] !== undefined;
      const open = steps.filter(isOpen);
      // A copy may show what has lost: there counts what runs.
      const runs = [...attempts.values()].filter((one) => one.job === id);
      const isOne = cluster.nodes.length === 1;
      const held = [
        ...((isOne ? isBegun : runs.length > 0) ? flowWants : []),
        ...(isOne ? open : runs).flatMap(({ task }) => wantsOfTask(String(task))),
      ];
      for (const key of new Set(held.map((want) => want.key))) {
        holders.set(key, (holders.get(key) ?? 0) + 1);
      }
      const done = steps.filter(({ state }) => state === '$$complete').length;
      const next = namesIn(flows.indexOf(of))[done];
      if (open.length > 0 || next === undefined || job['cancel'] !== undefined) continue;
      hungry.push({ job, wants: [...(isBegun ? [] : flowWants), ...wantsOfTask(next)] });
    }
    for (const [key, count] of holders) {
      if (count > (most.get(key) ?? Infinity)) over.add(`${key}: ${count}`);
    }
    const isFree = ({ key, most: all }: Want): boolean => (holders.get(key) ?? 0) < all;
    const able = hungry.filter(({ wants }) => wants.every(isFree));
    // What a job keeps while it waits for something that is not free is not empty.
    const kept = new Map<string, number>();
    for (const id of cluster.ids()) {
      const lock = id.startsWith('lock:') ? cluster.get(id) : undefined;
      const of = hungry.find(({ job }) => job._id === lock?.['job'] && job._rev === lock['rev']);
      if (lock === undefined || of === undefined || able.includes(of)) continue;
      const key = String(lock['key']);
      kept.set(key, (kept.get(key) ?? 0) + 1);
    }
    const empty = new Set(
      able
        .filter(({ wants }) =>
          wants.every(({ key, most: all }) => (holders.get(key) ?? 0) + (kept.get(key) ?? 0) < all),
        )
        .flatMap(({ wants }) => wants.map(({ key }) => key)),
    );
    for (const key of since.keys()) if (!empty.has(key)) since.delete(key);
    for (const key of empty) {
      const from = since.get(key) ?? now();
      since.set(key, from);
      emptyMs = Math.max(emptyMs, now() - from);
    }
  };
  return { look, over: () => [...over], emptyMs: () => emptyMs };
}
