import type { Tip } from '../../src/decide/copies/tips.js';
import type { World } from '../../src/decide/intent.js';
import type { Outcome } from '../../src/decide/outcome.js';
import { isFinal, type Job } from '../../src/model/job.js';
import { chanceFrom, oneOf } from '../chaos/chance.js';
import { flow, peer, task, world } from '../support/builders.js';
import { Beliefs } from './beliefs.js';
import { Cluster, nodes, type FeedEvent } from './cluster.js';
import { drawFaults, type Faults } from './faults.js';
import { judge, type Account, type Verdict } from './judge.js';
import { Mischief } from './mischief.js';
import { Timeline } from './timeline.js';
import { Mailbox } from './messages.js';
import { User, waitingStep } from './user.js';
import { Worker } from './worker.js';

/** Everything by chance follows from `seed`. */
export type ScheduleOptions = {
  readonly seed: number;
  readonly engines: number;
  /** Whether claims are confirmed before they start. */
  readonly confirms: boolean;
  /** Told what happens, line by line. */
  readonly trace?: (line: string) => void;
};

/** Faults come in the first 20 s; a job that is not over 5 minutes later is stuck. */
const faultsMs = 20_000;
const patienceMs = 320_000;
const sweepMs = 10_000;
const plugins = ['p'];
const tasks = ['t0', 't1', 't2'].map((name, i) =>
  task(name, { plugin: 'p', timeout: 0, retry: i === 1 ? 3 : 1 }),
);
const names = tasks.map(({ name }) => name);
const waits = { wait: { signal: 'go' }, name: waitingStep } as const;
const flows = [
  ...[1, 2, 3].map((steps) => flow(names.slice(0, steps), { timeout: 0 })),
  flow([{ structure: 'parallel', parallel: names.slice(0, 2) }, 't2'], { timeout: 0 }),
  flow(['t0', waits, 't1'], { timeout: 0 }),
  flow([{ structure: 'parallel', parallel: [['t0', 't1'], waits] }, 't2'], { timeout: 0 }),
];

/** Runs one job through one schedule of faults and says what came of it. */
export function runSchedule(options: ScheduleOptions): Verdict {
  return new Schedule(options).run();
}

class Schedule {
  readonly #options: ScheduleOptions;
  readonly #chance: () => number;
  readonly #timeline = new Timeline();
  readonly #beliefs = new Beliefs();
  readonly #workers: Worker[] = [];
  readonly #account: Account = { starts: [], settled: [] };
  readonly #flow;
  readonly #faults: Faults;
  readonly #cluster: Cluster;
  readonly #mischief: Mischief;
  readonly #mailbox = new Mailbox((message) => {
    for (const worker of this.#live) {
      this.#timeline.after(this.#chance() * 50, () => worker.takeMessage(message));
    }
  });
  #made = 0;
  #nonces = 0;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    const chance = chanceFrom(options.seed);
    const timeline = this.#timeline;
    this.#chance = chance;
    this.#flow = oneOf(flows, chance);
    this.#faults = drawFaults(chance, faultsMs);
    const onChange = (node: number, event: FeedEvent): void => this.#feed(node, event);
    this.#cluster = new Cluster({ faults: this.#faults, timeline, chance, onChange });
    this.#mischief = new Mischief({
      ...{ timeline, chance, beliefs: this.#beliefs, said: this.#said },
      live: () => this.#live,
      join: (id) => this.#join(id),
    });
  }

  run(): Verdict {
    for (let i = 0; i < this.#options.engines; i += 1) this.#join();
    const doc = { _id: 'j', type: 'job', flow: 'f', owner: 'DEFAULT' };
    this.#cluster.submit(doc as unknown as Tip);
    this.#mischief.plan(faultsMs);
    const [cluster, timeline, chance] = [this.#cluster, this.#timeline, this.#chance];
    const mailbox = this.#mailbox;
    const user = new User({ cluster, timeline, chance, faultsMs, mailbox });
    user.plan();
    if (flows.indexOf(this.#flow) > 3) user.wakeUp();
    while (timeline.now < patienceMs && !this.#isDone() && timeline.next());
    const { stopped } = this.#mischief;
    const tips = cluster.tips();
    const isStuck = !this.#isDone();
    const beliefs = this.#beliefs;
    const { applied } = mailbox;
    return judge({ ...this.#account, stopped, tips, isStuck, beliefs, applied });
  }

  /** Nothing is under way any more, and the job is final, the same on all copies. */
  #isDone(): boolean {
    if (this.#timeline.now < faultsMs || this.#cluster.inFlight > 0) return false;
    if (this.#mailbox.open.length > 0) return false;
    const [tip, ...rivals] = this.#cluster.tips();
    if (tip === undefined || rivals.length > 0 || !isFinal(tip as unknown as Job)) return false;
    return this.#cluster.isEven() && this.#live.every((worker) => worker.isIdle);
  }

  get #live(): readonly Worker[] {
    return this.#workers.filter(({ process }) => process.isAlive);
  }

  #join(id = `e${(this.#made += 1)}`): void {
    const dead = this.#workers.filter((other) => !other.process.isAlive && other.id !== id);
    const [cluster, timeline, beliefs] = [this.#cluster, this.#timeline, this.#beliefs];
    const worker = new Worker({
      ...{ id, node: oneOf(nodes, this.#chance), cluster, timeline, beliefs, said: this.#said },
      mailbox: this.#mailbox,
      confirms: this.#options.confirms,
      world: (of) => this.#worldOf(of),
      attempt: () => this.#drawAttempt(),
      started: (of, job, step) => {
        this.#said(of.id, () => `STARTS ${step.claim}`);
        this.#account.starts.push({ step, engine: of.id, job, at: timeline.now });
      },
      settled: (of, claim, outcome) => {
        this.#said(of.id, () => `has settled ${claim}: ${outcome.kind}`);
        this.#account.settled.push({ claim, outcome });
      },
    });
    this.#workers.push(worker);
    this.#mischief.meet(
      id,
      dead.map((other) => other.id),
    );
    const sweep = (): void => {
      if (!worker.process.isAlive) return;
      worker.review();
      timeline.after(sweepMs, sweep);
    };
    timeline.after(this.#chance() * 200, sweep);
  }

  /** The feed may be late, tell things twice, and tell them in another order. */
  #feed(node: number, event: FeedEvent): void {
    this.#said(`node ${node}`, () => `has ${event.doc?._rev}${event.conflicted ? ' !' : ''}`);
    const late = (): number => (this.#chance() < 0.9 ? 5 : 2_000) * this.#chance();
    for (const worker of this.#live) {
      if (worker.node !== node) continue;
      const tell = (): void => worker.take(event);
      this.#timeline.after(late(), tell);
      if (this.#chance() < this.#faults.repeated) this.#timeline.after(3 * late(), tell);
    }
  }

  #worldOf(worker: Worker): World {
    const { id } = worker;
    const others = this.#live.filter((other) => other !== worker && other.takesWork);
    this.#nonces += 1;
    return {
      ...quiet,
      me: { ...quiet.me, ...peer(plugins, [], id), freeSlots: 0, facts: () => noFacts, ...nothing },
      seenAt: -Infinity,
      nonce: `${id}.${this.#nonces}`,
      peers: others.map((other) => peer(plugins, [], other.id)),
      lease: (engine) => (this.#beliefs.isDead(id, engine) ? 'dead' : 'alive'),
      flow: () => ({ kind: 'found', value: this.#flow }),
      task: taskOf,
      render: (params) => ({ ok: true, value: { ...params } }),
      crashLimit: 100,
    };
  }

  #drawAttempt(): { readonly ms: number; readonly outcome: Outcome } {
    const ms = this.#chance() ** 3 * 6_000;
    if (this.#chance() < 0.85) return { ms, outcome: { kind: 'done', result: this.#nonces } };
    return { ms, outcome: { kind: 'failed', failure: { name: 'Broken', message: 'Broken.' } } };
  }

  readonly #said = (who: string, what: () => string): void => {
    const { trace } = this.#options;
    if (trace !== undefined) trace(`${this.#timeline.now.toFixed(1)} ${who} ${what()}`);
  };
}

const noFacts = { templates: [] };
/** What these flows never ask for. */
const quiet = world();
const noClaims: ReadonlySet<string> = new Set();
/** The engine itself knows what it has in hand. */
const nothing = { running: noClaims, unbegun: noClaims, ended: noClaims };

function taskOf(name: string): ReturnType<World['task']> {
  const value = tasks.find((one) => one.name === name);
  return value === undefined ? { kind: 'absent' } : { kind: 'found', value };
}
