import { unknownWorld } from '../../src/decide/world.js';
import { abandoned } from '../../src/decide/finish/abandoned.js';
import { carrying, settle } from '../../src/decide/finish/settle.js';
import { command, receive, type Commanded } from '../../src/decide/requests/command.js';
import { decide } from '../../src/decide/decide.js';
import { quickCheck } from '../../src/decide/compete/quick-check.js';
import type { Answer, World } from '../../src/decide/world.js';
import type { ChildJob, GivenUp, Intent } from '../../src/decide/intent.js';
import type { Acquire, Query } from '../../src/decide/queries.js';
import type { Outcome } from '../../src/decide/finish/outcome.js';
import { share } from '../../src/decide/finish/retry.js';
import type { Flow } from '../../src/model/flow.js';
import { isFinal, isNew, type Job } from '../../src/model/job.js';
import type { RetryRequest } from '../../src/model/request.js';
import type { LiveStep, Step } from '../../src/model/step.js';
import type { Task } from '../../src/model/task.js';
import { frozen, newJob, peer, t0, world } from '../support/builders.js';
import { isThorough } from '../support/properties.js';
import { answerTo, chanceFrom, decisionsBy, oneOf, outcomeBy } from './chance.js';
import { dueTimes } from './simulation/due.js';
import { checkExplained, checkPicture } from './simulation/explained.js';
import { Outside, type EventAt } from './simulation/outside.js';

/** What is simulated; times are ms after the start. */
export type Scenario = {
  readonly flow: Flow;
  readonly tasks: readonly Task[];
  /** Other versions of the flow, to which messages move the job. */
  readonly versions?: readonly Flow[];
  readonly job: Readonly<Record<string, unknown>>;
  readonly engines: number;
  readonly slots: number;
  /** While other jobs take every slot of every engine. */
  readonly busy: readonly { readonly from: number; readonly to: number }[];
  /** How often engines are lost or stopped on the way. */
  readonly losses: number;
  readonly stops: number;
  /** Plugins may ask to begin again. */
  readonly detours: boolean;
  readonly edits: readonly Edit[];
  /** Signals and requests on the way; a signal or event that is waited for without end comes anyhow. */
  readonly messages?: readonly Message[];
  readonly events?: readonly EventAt[];
  /** How the job goes on when it has ended, one after the other. */
  readonly retries?: readonly RetryRequest[];
  /** How attempts end, and when, follows from it; and in which order things happen, without `order`. */
  readonly seed: number;
  /** Only the work takes time; this says in which order what happens at the same time does. */
  readonly order?: number;
};
type Edit = { readonly at: number; readonly change: Readonly<Record<string, unknown>> };
export type Message = { readonly at: number } & (
  { readonly signal: string } | { readonly skip: string } | { readonly migrate: string }
);

/** One revision that was stored, with what it began. */
export type Revision = {
  readonly job: Job;
  readonly by: string;
  readonly began: readonly LiveStep[];
};

/** What happened; the last revision is final. */
export type Run = { readonly revisions: readonly Revision[]; readonly conflicts: number };

type Attempt = { readonly step: LiveStep; endsAt: number; outcome: Outcome; told: boolean };

/** A write on its way: it wins if the job still has the revision it was decided on. */
type Pending = {
  readonly on: number;
  readonly job: Job;
  readonly claims: readonly LiveStep[];
  readonly children: readonly ChildJob[];
  readonly abandons: readonly string[];
  readonly ends?: string;
};

type Engine = {
  readonly id: string;
  readonly attempts: Map<string, Attempt>;
  pending?: Pending | undefined;
  /** The revision on which nothing is left to do, and when to look again. */
  seen?: { readonly on: number; readonly until: number } | undefined;
};

const leaseMs = 15_000;
const mostEvents = 3_000;
/** Of so many states that are decided upon one is explained and drawn; `npm run simulate` leaves none out. */
const [explainedEach, drawnEach] = isThorough ? [1, 1] : [10, 20];
const plugins = ['p', 'q', 'd'];

/**
 * Runs one job to its end: engines decide on what they have read, write when it is their turn and
 * start what they won; attempts end, engines are lost, people edit the job. Time only goes on to
 * the next moment that somebody waits for: a wait without its `until` stands still and throws.
 */
export function simulate(scenario: Scenario): Run {
  const simulation = new Simulation(scenario);
  simulation.runToEnd();
  for (const wish of scenario.retries ?? []) {
    if (simulation.retry(wish)) simulation.runToEnd();
  }
  return simulation;
}

/** The steps of a job, whatever its state. */
export function stepsOf(job: Job): readonly Step[] {
  return isNew(job) ? [] : (job.steps ?? []);
}

class Simulation implements Run {
  readonly revisions: Revision[] = [];
  conflicts = 0;
  job: Job;
  readonly #scenario: Scenario;
  readonly #isCalm: boolean;
  readonly #chance: () => number;
  readonly #engines: Engine[] = [];
  /** When the leases of lost engines end. */
  readonly #leases = new Map<string, number>();
  readonly #outside: Outside;
  readonly #edits: Edit[];
  readonly #messages: Message[];
  #left: { losses: number; stops: number };
  #now = t0;
  #made = 0;
  #nonces = 0;
  #asked = 0;
  #sent = 0;

  constructor(scenario: Scenario) {
    const { seed, order, events = [], messages = [] } = scenario;
    this.#scenario = scenario;
    this.#isCalm = order !== undefined;
    this.#chance = chanceFrom(order ?? seed);
    this.#edits = [...scenario.edits];
    this.#messages = [...messages];
    this.#outside = new Outside(seed, events);
    this.#left = { losses: scenario.losses, stops: scenario.stops };
    this.job = frozen(newJob({ mine: { kept: true }, ...scenario.job }));
    for (let i = 0; i < scenario.engines; i += 1) this.#join();
  }

  runToEnd(): void {
    for (let events = 0; !isFinal(this.job); events += 1) {
      if (events > mostEvents) throw new Error('The job does not end.');
      this.#happen();
    }
    this.#checkFinal();
  }

  /** Lets the final job go on, by a request or by its own key; false: it is refused. */
  retry(wish: RetryRequest): boolean {
    if (this.#chance() < 0.5) {
      const request = { _id: `r${this.revisions.length}`, type: 'request', job: 'j' } as const;
      return this.#apply(command(this.job, { ...request, action: 'retry', ...wish }, this.#now));
    }
    this.#store({ ...this.job, retry: wish } as Job, 'user');
    const [engine] = this.#engines as [Engine];
    const intent = this.#ask(engine, this.job);
    if (intent.kind !== 'write') throw new Error('A wish to go on is not answered.');
    this.#store(intent.job, engine.id);
    return !isFinal(intent.job);
  }

  /** Lets one thing happen, by chance one of those that can happen now. */
  #happen(): void {
    const victim = oneOf(this.#engines, this.#chance);
    if (this.#left.losses > 0 && this.#chance() < 0.08) return this.#lose(victim);
    if (this.#left.stops > 0 && this.#chance() < 0.08) return this.#hand(victim);
    const actions = [
      ...this.#engines.flatMap((engine) => this.#actionsOf(engine)),
      ...this.#editing(),
    ];
    if (actions.length === 0) return this.#pass(this.#nextMoment());
    if (!this.#isCalm && this.#chance() < 0.1) {
      return this.#pass(this.#now + Math.floor(this.#chance() * 500));
    }
    oneOf(actions, this.#chance)();
  }

  /**
   * A final job is left alone by everybody, also by those whose attempts come in late, and no child of
   * it is left that does not know.
   */
  #checkFinal(): void {
    for (const engine of this.#engines) {
      if (this.#ask(engine, this.job).kind !== 'ignore') throw new Error('A final job is changed.');
      for (const claim of engine.attempts.keys()) {
        const late = settle(
          this.job,
          { schema: unknownWorld.schema, claim, outcome: { kind: 'done' } },
          this.#now,
        );
        if (late.kind !== 'fenced') throw new Error('A final job takes an outcome.');
      }
    }
    const orphans = this.#outside.orphans(new Set(), this.#now);
    if (orphans.length > 0) throw new Error(`Nobody told the child jobs ${orphans.join(', ')}.`);
  }

  #actionsOf(engine: Engine): (() => void)[] {
    const { pending, seen, attempts } = engine;
    if (pending !== undefined) return [() => this.#commit(engine, pending)];
    const ended = [...attempts.values()].filter(({ endsAt }) => endsAt <= this.#now);
    const ends = ended.map((attempt) => () => this.#end(engine, attempt));
    const isNews =
      seen === undefined || seen.on !== this.revisions.length || seen.until <= this.#now;
    return isNews ? [...ends, () => this.#consider(engine)] : ends;
  }

  /** What people do to the job. */
  #editing(): (() => void)[] {
    const isDue = ({ at }: { readonly at: number }): boolean => t0 + at <= this.#now;
    const edits = this.#edits.filter(isDue).map((edit) => () => {
      this.#edits.splice(this.#edits.indexOf(edit), 1);
      this.#store({ ...this.job, ...edit.change }, 'user');
    });
    const messages = this.#messages.filter(isDue).map((message) => () => {
      this.#messages.splice(this.#messages.indexOf(message), 1);
      this.#send(message);
    });
    return [...edits, ...messages];
  }

  #send(message: Message): void {
    this.#sent += 1;
    const about = { _id: `m${this.#sent}`, job: 'j' };
    const { job } = this;
    if ('migrate' in message) this.#move({ ...about, to: message.migrate });
    else if ('skip' in message) {
      const request = { ...about, type: 'request', action: 'skip', step: message.skip } as const;
      this.#apply(command(job, request, this.#now));
    } else {
      // Forms take it, too, also those that are for a group.
      const sent = { name: message.signal, data: { sent: true }, as: 'group:heads' };
      const signal = { ...about, type: 'signal', ...sent } as const;
      this.#apply(receive(job, signal, this.#now));
    }
  }

  /** Moves the job to another version; two engines that apply it write the same. */
  #move(asked: { readonly _id: string; readonly job: string; readonly to: string }): void {
    const request = { ...asked, type: 'request', action: 'migrate' } as const;
    const known = this.#worldOf(this.#engines[0] as Engine, undefined);
    const commanded = command(this.job, request, this.#now, known);
    const other = command(frozen(structuredClone(this.job)), request, this.#now, known);
    if (JSON.stringify(other) !== JSON.stringify(commanded)) throw new Error('They move it apart.');
    if (commanded.kind === 'look_up') throw new Error('It asks for definitions that are known.');
    this.#apply(commanded);
  }

  #apply(commanded: Commanded): boolean {
    if (commanded.kind !== 'applied') return false;
    this.#outside.abandon(childrenOf(abandoned(this.job, commanded.job)), this.#now);
    this.#store(commanded.job, 'user');
    return true;
  }

  #consider(engine: Engine): void {
    const intent = this.#ask(engine, this.job);
    const on = this.revisions.length;
    if ('job' in intent) {
      engine.pending = pendingOf(intent, on);
      return;
    }
    if (intent.kind === 'abort') {
      for (const claim of intent.claims) {
        const attempt = engine.attempts.get(claim);
        if (attempt !== undefined) this.#stop(attempt);
      }
      return;
    }
    const until = (intent.kind === 'wait' && intent.until) || Infinity;
    if (until <= this.#now)
      throw new Error(`It would decide again at once, for ever: ${until - t0} ms.`);
    const due = Math.min(...dueTimes(this.job).filter((time) => time > this.#now));
    if (due < until) throw new Error(`It would sleep beyond ${due - t0} ms: ${until - t0} ms.`);
    engine.seen = { on, until };
  }

  /** Writes the end of an attempt together with what comes next. */
  #end(engine: Engine, { step, outcome }: Attempt): void {
    const settled = settle(
      this.job,
      { schema: unknownWorld.schema, claim: step.claim, outcome },
      this.#now,
    );
    if (settled.kind === 'fenced') {
      engine.attempts.delete(step.claim);
      engine.seen = undefined;
      return;
    }
    const next = carrying(settled.job, this.#ask(engine, settled.job, step.claim));
    engine.pending = { ...pendingOf(next, this.revisions.length), ends: step.claim };
  }

  #commit(engine: Engine, pending: Pending, isDying = false): void {
    const { on, job, claims, children, abandons, ends } = pending;
    engine.pending = undefined;
    engine.seen = undefined;
    // Children are told before the job is written, whatever becomes of the write.
    this.#outside.abandon(abandons, this.#now);
    if (on !== this.revisions.length) {
      this.conflicts += 1;
      return;
    }
    this.#store(job, engine.id, claims);
    if (!isDying) this.#outside.spawn(children, this.#now);
    if (ends !== undefined) engine.attempts.delete(ends);
    for (const step of claims) engine.attempts.set(step.claim, this.#begin(step));
  }

  /** How the attempt will end, and when: the same whoever runs it. */
  #begin(step: LiveStep): Attempt {
    const { seed, detours } = this.#scenario;
    const chance = chanceFrom(`${seed}:${step.path}:${step.attempt}`);
    const lastsMs = chance() ** 3 * 8_000;
    const number = /\.decision\.(\d+)$/.exec(step.path)?.[1];
    const outcome =
      number === undefined ? outcomeBy(chance, detours) : decisionsBy(chance, Number(number));
    const endsAt = this.#now + (this.#isCalm ? lastsMs : Math.floor(lastsMs));
    return { step, endsAt, outcome, told: false };
  }

  /** A stop reaches most plugins in time; some end all the same. */
  #stop(attempt: Attempt): void {
    const { path, attempt: number } = attempt.step;
    const afterMs = share(`${this.#scenario.seed}:${path}:${number}:stop`) * 100;
    attempt.told = true;
    if (!this.#isCalm && this.#chance() < 0.2) return;
    attempt.endsAt = this.#isCalm ? Math.min(attempt.endsAt, this.#now + afterMs) : 0;
    attempt.outcome = { kind: 'cancelled' };
  }

  #store(job: Job, by: string, began: readonly LiveStep[] = []): void {
    this.job = frozen({ ...job, _rev: `${this.revisions.length + 2}-x` });
    this.revisions.push({ job: this.job, by, began });
  }

  #join(): void {
    this.#made += 1;
    this.#engines.push({ id: `e${this.#made}`, attempts: new Map() });
    this.#wakeAll();
  }

  #leave(engine: Engine): void {
    this.#engines.splice(this.#engines.indexOf(engine), 1);
    this.#join();
  }

  /** An engine dies, by chance between its write and the start of what it won. */
  #lose(engine: Engine): void {
    this.#left.losses -= 1;
    const { pending } = engine;
    if (pending !== undefined && this.#chance() < 0.5) this.#commit(engine, pending, true);
    this.#leases.set(engine.id, this.#now + leaseMs);
    this.#leave(engine);
  }

  /** An engine stops and hands back what it runs. */
  #hand(engine: Engine): void {
    this.#left.stops -= 1;
    for (const { step } of engine.attempts.values()) {
      const settled = settle(
        this.job,
        { schema: unknownWorld.schema, claim: step.claim, outcome: { kind: 'released' } },
        this.#now,
      );
      if (settled.kind === 'settled') this.#store(settled.job, engine.id);
    }
    this.#leave(engine);
  }

  /** Decides, now and then twice, on the job and on a copy of it, and answers questions. */
  #ask(engine: Engine, job: Job, ended?: string): Exclude<Intent, Query | Acquire> {
    const answers = new Map<string, Answer>();
    for (;;) {
      const around = { ...this.#worldOf(engine, ended), answers };
      const intent = decide(job, this.#now, around);
      this.#asked += 1;
      if (this.#asked % 5 === 0) this.#askAgain(job, around, intent);
      if (ended === undefined) this.#checkQuickCheck(engine, job, intent);
      if (intent.kind === 'acquire') throw new Error('It takes what it has.');
      if (intent.kind !== 'look_up') {
        if (ended === undefined && this.#asked % explainedEach === 0) {
          checkExplained(job, intent, this.#now, around);
        }
        if (this.#asked % drawnEach === 0) checkPicture(job);
        return intent;
      }
      if (intent.questions.length === 0) throw new Error('It asks for what it knows.');
      for (const { id } of intent.questions) answers.set(id, answerTo(id, this.#scenario.seed));
    }
  }

  #askAgain(job: Job, around: World, intent: Intent): void {
    const again = decide(frozen(structuredClone(job)), this.#now, around);
    if (JSON.stringify(again) !== JSON.stringify(intent)) throw new Error('It decides by chance.');
  }

  /** What the quick check says must be what a decision comes to: to leave the job alone. */
  #checkQuickCheck(engine: Engine, job: Job, intent: Intent): void {
    const seen = quickCheck(job, this.#now, this.#worldOf(engine, undefined));
    const alone = intent.kind === 'wait' && intent.until === undefined;
    if (seen.kind === 'final' && intent.kind !== 'ignore') throw new Error('It is not final.');
    if ((seen.kind === 'elsewhere' || seen.kind === 'here') && !alone)
      throw new Error('There was something to do.');
  }

  #worldOf(engine: Engine, ended: string | undefined): World {
    const { busy, slots, flow, versions = [], tasks } = this.#scenario;
    const attempts = [...engine.attempts.values()].filter(({ step }) => step.claim !== ended);
    const isBusy = busy.some(({ from, to }) => t0 + from <= this.#now && this.#now < t0 + to);
    const others = this.#engines.filter((other) => other !== engine);
    this.#nonces += 1;
    const around = world({
      id: engine.id,
      plugins,
      running: attempts.map(({ step }) => step.claim),
      stopping: attempts.filter(({ told }) => told).map(({ step }) => step.claim),
      freeSlots: isBusy ? 0 : slots - attempts.length,
      nonce: `${engine.id}.${this.#nonces}`,
      peers: others.map(({ id }) => peer(plugins, [], id)),
      dead: [...this.#leases].filter(([, until]) => until <= this.#now).map(([id]) => id),
      flows: [flow, ...versions],
      tasks,
    });
    return {
      ...around,
      child: (id) => this.#outside.child(id, this.#now),
      event: (type, key) => this.#outside.event(type, key, this.#now),
    };
  }

  /** Moments at which the world changes: leases and busy times end, children do, events come. */
  #changes(): readonly number[] {
    const busy = this.#scenario.busy.map(({ to }) => t0 + to);
    return [...this.#leases.values(), ...busy, ...this.#outside.moments()];
  }

  #nextMoment(): number {
    const attempts = this.#engines.flatMap((engine) => [...engine.attempts.values()]);
    const times = [
      ...attempts.map(({ endsAt }) => endsAt),
      ...this.#engines.map(({ seen }) => seen?.until ?? Infinity),
      ...[...this.#edits, ...this.#messages].map(({ at }) => t0 + at),
      ...this.#changes(),
    ];
    const next = Math.min(...times.filter((time) => time > this.#now));
    return next === Infinity ? this.#rescue() : next;
  }

  /** Somebody sends at last what a step waits for without end. */
  #rescue(): number {
    const waiting = stepsOf(this.job).find(
      (step) => step.state === '$$waiting' && step.until === undefined && !('child' in step),
    );
    if (waiting === undefined) throw new Error('The job stands still.');
    const { signal, event, key } = waiting as { signal?: string; event?: string; key?: string };
    if (signal !== undefined) this.#send({ at: 0, signal });
    if (event !== undefined) this.#outside.announce({ type: event, key: key ?? '' }, this.#now);
    this.#wakeAll();
    return this.#now;
  }

  #pass(to: number): void {
    if (this.#changes().some((moment) => moment > this.#now && moment <= to)) this.#wakeAll();
    this.#now = to;
  }

  #wakeAll(): void {
    for (const engine of this.#engines) engine.seen = undefined;
  }
}

function childrenOf(given: readonly GivenUp[]): readonly string[] {
  return given.map(({ child }) => child);
}

function pendingOf(intent: Extract<Intent, { job: Job }>, on: number): Pending {
  return {
    on,
    job: intent.job,
    claims: intent.kind === 'claim' ? intent.steps : [],
    children: intent.kind === 'spawn' ? intent.children : [],
    abandons: childrenOf(intent.abandons ?? []),
  };
}
