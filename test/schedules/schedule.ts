import type { LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import type { World } from '../../src/decide/world.js';
import { isFinal, type Job } from '../../src/model/job.js';
import { chanceFrom, oneOf } from '../chaos/chance.js';
import { peer, world } from '../support/builders.js';
import { giveUp } from './abandon.js';
import { Beliefs } from './beliefs.js';
import { nodes, type FeedEvent } from './cluster.js';
import { Documents, isLock } from './documents.js';
import { Engine } from './engine.js';
import { drawAttempt, flows, hasWaitingChildren, namedFlow, taskOf, wakesUp } from './flows.js';
import { drawFaults, type Faults } from './faults.js';
import { judge, type Account, type Verdict } from './judge.js';
import { Mischief } from './mischief.js';
import { drawRivals, type Submitted } from './rivals.js';
import { Locks } from './locks.js';
import { Timeline } from './timeline.js';
import { Mailbox } from './messages.js';
import { User } from './user.js';
import { Worker, type Confirms } from './worker.js';

/** Everything by chance follows from `seed`. */
export type ScheduleOptions = {
  readonly seed: number;
  readonly engines: number;
  /** What is confirmed before anything follows: claims, and what makes jobs. */
  readonly confirms: Confirms;
  /** False: every job has the locks that it asks for, whoever else has them. */
  readonly isLocking?: boolean;
  /** Told what happens, line by line. */
  readonly trace?: (line: string) => void;
};

/** Faults come in the first 20 s; a job that is not over 5 minutes later is stuck. */
const faultsMs = 20_000;
const patienceMs = 320_000;
const sweepMs = 10_000;
const plugins = ['p'];

/** Runs one job through one schedule of faults and says what came of it. */
export function runSchedule(options: ScheduleOptions): Verdict {
  return new Schedule(options).run();
}

class Schedule {
  readonly #options: ScheduleOptions;
  readonly #chance: () => number;
  readonly #timeline = new Timeline();
  readonly #beliefs = new Beliefs();
  readonly #engines: Engine[] = [];
  readonly #account: Account = { starts: [], settled: [], returned: new Map() };
  readonly #locks: Locks;
  readonly #flow;
  readonly #faults: Faults;
  readonly #documents: Documents;
  /** The job that has the permit of a flow. */
  readonly #permits = new Map<string, string>();
  readonly #mischief: Mischief;
  readonly #mailbox = new Mailbox((message) => {
    for (const engine of this.#live) {
      this.#timeline.after(this.#chance() * 50, () => engine.takeMessage(message));
    }
  });
  #made = 0;
  #nonces = 0;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    const chance = chanceFrom(options.seed);
    const timeline = this.#timeline;
    this.#chance = chance;
    const isTaking = options.isLocking ?? true;
    this.#locks = new Locks({ chance, now: () => timeline.now, isTaking });
    this.#flow = oneOf(flows, chance);
    this.#faults = drawFaults(chance, faultsMs);
    this.#documents = new Documents({
      ...{ faults: this.#faults, timeline, chance },
      onChange: (id, node, event) => this.#feed(id, node, event),
    });
    this.#mischief = new Mischief({
      ...{ timeline, chance, beliefs: this.#beliefs, said: this.#said },
      live: () => this.#live,
      join: (id) => this.#join(id),
    });
  }

  run(): Verdict {
    for (let i = 0; i < this.#options.engines; i += 1) this.#join();
    const { own, others } = drawRivals(this.#chance);
    const first = { _id: 'j', type: 'job', flow: 'f', owner: 'DEFAULT', ...own };
    const submit = (doc: Submitted): void => {
      this.#documents.of(doc._id).submit(doc as unknown as LeafRevision);
    };
    submit(first);
    for (const rival of others) {
      this.#timeline.after(this.#chance() ** 2 * faultsMs, () => submit(rival));
    }
    this.#mischief.plan(faultsMs);
    const [documents, timeline, chance] = [this.#documents, this.#timeline, this.#chance];
    const mailbox = this.#mailbox;
    const user = new User({ documents, timeline, chance, faultsMs, mailbox });
    user.plan();
    if (wakesUp(this.#flow)) user.wakeUp();
    if (hasWaitingChildren(this.#flow)) user.wakeChildren();
    while (timeline.now < patienceMs && !this.#isDone() && timeline.next());
    const { stopped } = this.#mischief;
    const leaves = new Map(documents.ids.map((id) => [id, documents.of(id).leaves()]));
    const isStuck = !this.#isDone();
    const beliefs = this.#beliefs;
    const { applied } = mailbox;
    const submitted = [first, ...others];
    return judge({ ...this.#account, stopped, leaves, isStuck, beliefs, applied, submitted });
  }

  /** Nothing is under way any more, and the job is final, the same on all copies. */
  #isDone(): boolean {
    if (this.#timeline.now < faultsMs || this.#documents.inFlight > 0) return false;
    if (this.#mailbox.open.length > 0) return false;
    const isOver = (id: string): boolean => {
      const cluster = this.#documents.of(id);
      const [leaf, ...rivals] = cluster.leaves();
      if (rivals.length > 0 || !isFinal(leaf as unknown as Job)) return false;
      return leaf?.['retry'] === undefined && cluster.isEven();
    };
    return this.#documents.ids.every(isOver) && this.#live.every((engine) => engine.isIdle);
  }

  get #live(): readonly Engine[] {
    return this.#engines.filter(({ life }) => life.isAlive);
  }

  #join(id = `e${(this.#made += 1)}`): void {
    const dead = this.#engines.filter((other) => !other.life.isAlive && other.id !== id);
    const timeline = this.#timeline;
    const engine = new Engine({
      ...{ id, node: oneOf(nodes, this.#chance), timeline },
      hire: (of, job) => this.#hire(of, job),
    });
    this.#engines.push(engine);
    this.#mischief.meet(
      id,
      dead.map((other) => other.id),
    );
    const sweep = (): void => {
      if (!engine.life.isAlive) return;
      for (const message of this.#mailbox.open) engine.takeMessage(message);
      engine.review(this.#documents.ids);
      timeline.after(sweepMs, sweep);
    };
    timeline.after(this.#chance() * 200, sweep);
  }

  #hire({ id, node, life }: Engine, job: string): Worker {
    const [documents, timeline, beliefs] = [this.#documents, this.#timeline, this.#beliefs];
    return new Worker({
      ...{ id, node, life, job, documents, timeline, beliefs, said: this.#said },
      ...{ mailbox: this.#mailbox, locks: this.#locks },
      confirms: this.#options.confirms,
      abandon: (children) => giveUp(children, this.#mailbox),
      rouse: (other) => this.#engines.findLast((one) => one.id === id)?.rouse(other),
      world: (of) => this.#worldOf(of.id, job),
      attempt: (doc, step) => drawAttempt(doc, step, this.#chance),
      started: (of, doc, step) => {
        this.#said(of.id, () => `STARTS ${job} ${step.claim}`);
        this.#account.starts.push({ step, engine: of.id, job: doc, at: timeline.now });
      },
      returned: (claim) => void this.#account.returned.set(claim, timeline.now),
      settled: (of, claim, outcome) => {
        this.#said(of.id, () => `has settled ${claim}: ${outcome.kind}`);
        this.#account.settled.push({ job, claim, outcome });
      },
    });
  }

  /** The feed may be late, tell things twice, and tell them in another order. */
  #feed(id: string, node: number, event: FeedEvent): void {
    this.#said(`node ${node}`, () => `has ${id} ${event.doc?._rev}${event.conflicted ? ' !' : ''}`);
    if (isLock(id)) return;
    const late = (): number => (this.#chance() < 0.9 ? 5 : 2_000) * this.#chance();
    for (const engine of this.#live) {
      if (engine.node !== node) continue;
      const tell = (): void => engine.take(id, event);
      this.#timeline.after(late(), tell);
      if (this.#chance() < this.#faults.repeated) this.#timeline.after(3 * late(), tell);
    }
  }

  #worldOf(id: string, job: string): World {
    const others = this.#live.filter((other) => other.id !== id && other.takesWork);
    this.#nonces += 1;
    return {
      ...quiet,
      me: { ...quiet.me, ...peer(plugins, [], id), freeSlots: 0, facts: () => noFacts, ...nothing },
      seenAt: -Infinity,
      nonce: `${id}.${this.#nonces}`,
      peers: others.map((other) => peer(plugins, [], other.id)),
      lease: (engine) => (this.#beliefs.isDead(id, engine) ? 'dead' : 'alive'),
      flow: (name) => ({ kind: 'found', value: namedFlow(name) ?? this.#flow }),
      permit: (key) => this.#permit(key, job),
      task: taskOf,
      render: (params) => ({ ok: true, value: { ...params } }),
      crashLimit: 100,
    };
  }

  /** The only permit of a flow; taken as it is asked for, and free again when its job has ended. */
  #permit(key: string, job: string): ReturnType<World['permit']> {
    const holder = this.#permits.get(key);
    const [leaf] = holder === undefined ? [] : this.#documents.of(holder).leaves();
    const isHeld = leaf !== undefined && !isFinal(leaf as unknown as Job);
    if (holder !== undefined && holder !== job && isHeld)
      return {
        kind: 'full',
        key,
        by: [{ job: holder, at: 0, nonce: holder, lock: `lock:${key}` }],
      };
    this.#permits.set(key, job);
    return { kind: 'held', ids: [`lock:${key}`] };
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
