import { decide } from '../../src/decide/decide.js';
import { glance } from '../../src/decide/glance.js';
import type { Answer, Intent, Outcome, World } from '../../src/decide/intent.js';
import { settle } from '../../src/decide/settle.js';
import type { Flow } from '../../src/model/flow.js';
import { isFinal, isNew, type Job, type LiveJob } from '../../src/model/job.js';
import type { LiveStep, Step } from '../../src/model/step.js';
import type { Task } from '../../src/model/task.js';
import { frozen, newJob, peer, t0, world } from '../support/builders.js';
import { answerTo, chanceFrom, oneOf, outcomeBy } from './chance.js';

/** What is simulated; times are ms after the start. */
export type Scenario = {
  readonly flow: Flow;
  readonly tasks: readonly Task[];
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
  /** Everything by chance follows from it. */
  readonly seed: number;
};
type Edit = { readonly at: number; readonly change: Readonly<Record<string, unknown>> };

/** One revision that was stored, with what it began. */
export type Revision = {
  readonly job: Job;
  readonly by: string;
  readonly began: readonly LiveStep[];
};

/** What happened; the last revision is final. */
export type Run = { readonly revisions: readonly Revision[]; readonly conflicts: number };

type Attempt = { readonly step: LiveStep; endsAt: number; outcome: Outcome };

/** A write on its way: it wins if the job still has the revision it was decided on. */
type Pending = {
  readonly on: number;
  readonly job: Job;
  readonly claims: readonly LiveStep[];
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
const plugins = ['p', 'q'];

/**
 * Runs one job to its end: engines decide on what they have read, write when it is their turn and
 * start what they won; attempts end, engines are lost, people edit the job. Time only goes on to
 * the next moment that somebody waits for: a wait without its `until` stands still and throws.
 */
export function simulate(scenario: Scenario): Run {
  const simulation = new Simulation(scenario);
  for (let events = 0; !isFinal(simulation.job); events += 1) {
    if (events > mostEvents) throw new Error('The job does not end.');
    simulation.happen();
  }
  simulation.checkFinal();
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
  readonly #chance: () => number;
  readonly #engines: Engine[] = [];
  /** When the leases of lost engines end. */
  readonly #leases = new Map<string, number>();
  readonly #edits: Edit[];
  #left: { losses: number; stops: number };
  #now = t0;
  #made = 0;
  #nonces = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#chance = chanceFrom(scenario.seed);
    this.#edits = [...scenario.edits];
    this.#left = { losses: scenario.losses, stops: scenario.stops };
    this.job = frozen(newJob({ mine: { kept: true }, ...scenario.job }));
    for (let i = 0; i < scenario.engines; i += 1) this.#join();
  }

  /** Lets one thing happen, by chance one of those that can happen now. */
  happen(): void {
    const victim = oneOf(this.#engines, this.#chance);
    if (this.#left.losses > 0 && this.#chance() < 0.08) return this.#lose(victim);
    if (this.#left.stops > 0 && this.#chance() < 0.08) return this.#hand(victim);
    const actions = [
      ...this.#engines.flatMap((engine) => this.#actionsOf(engine)),
      ...this.#editing(),
    ];
    if (actions.length === 0) return this.#pass(this.#nextMoment());
    if (this.#chance() < 0.1) return this.#pass(this.#now + Math.floor(this.#chance() * 500));
    oneOf(actions, this.#chance)();
  }

  /** A final job is left alone by everybody, also by those whose attempts come in late. */
  checkFinal(): void {
    for (const engine of this.#engines) {
      if (this.#ask(engine, this.job).kind !== 'ignore') throw new Error('A final job is changed.');
      for (const claim of engine.attempts.keys()) {
        const late = settle(this.job, claim, { kind: 'done' }, this.#now);
        if (late.kind !== 'fenced') throw new Error('A final job takes an outcome.');
      }
    }
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

  #editing(): (() => void)[] {
    const due = this.#edits.filter(({ at }) => t0 + at <= this.#now);
    return due.map((edit) => () => {
      this.#edits.splice(this.#edits.indexOf(edit), 1);
      this.#store({ ...this.job, ...edit.change }, 'user');
    });
  }

  #consider(engine: Engine): void {
    const intent = this.#ask(engine, this.job);
    const on = this.revisions.length;
    if ('job' in intent) {
      engine.pending = { on, job: intent.job, claims: claimsOf(intent) };
      return;
    }
    if (intent.kind === 'abort') {
      for (const claim of intent.claims) stop(engine.attempts.get(claim), this.#chance);
    }
    engine.seen = { on, until: (intent.kind === 'wait' && intent.until) || Infinity };
  }

  /** Writes the end of an attempt together with what comes next. */
  #end(engine: Engine, { step, outcome }: Attempt): void {
    const settled = settle(this.job, step.claim, outcome, this.#now);
    if (settled.kind === 'fenced') {
      engine.attempts.delete(step.claim);
      engine.seen = undefined;
      return;
    }
    const intent = this.#ask(engine, settled.job, step.claim);
    const job = 'job' in intent ? intent.job : withNextDue(settled.job, intent);
    engine.pending = { on: this.revisions.length, job, claims: claimsOf(intent), ends: step.claim };
  }

  #commit(engine: Engine, { on, job, claims, ends }: Pending): void {
    engine.pending = undefined;
    engine.seen = undefined;
    if (on !== this.revisions.length) {
      this.conflicts += 1;
      return;
    }
    this.#store(job, engine.id, claims);
    if (ends !== undefined) engine.attempts.delete(ends);
    for (const step of claims) {
      engine.attempts.set(step.claim, begin(step, this.#now, this.#chance, this.#scenario.detours));
    }
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
    if (pending !== undefined && this.#chance() < 0.5) this.#commit(engine, pending);
    this.#leases.set(engine.id, this.#now + leaseMs);
    this.#leave(engine);
  }

  /** An engine stops and hands back what it runs. */
  #hand(engine: Engine): void {
    this.#left.stops -= 1;
    for (const { step } of engine.attempts.values()) {
      const settled = settle(this.job, step.claim, { kind: 'released' }, this.#now);
      if (settled.kind === 'settled') this.#store(settled.job, engine.id);
    }
    this.#leave(engine);
  }

  /** Decides twice, on the job and on a copy of it, and answers questions. */
  #ask(engine: Engine, job: Job, ended?: string): Intent {
    const answers = new Map<string, Answer>();
    for (;;) {
      const around = { ...this.#worldOf(engine, ended), answers };
      const intent = decide(job, this.#now, around);
      const again = decide(frozen(structuredClone(job)), this.#now, around);
      if (JSON.stringify(again) !== JSON.stringify(intent))
        throw new Error('It decides by chance.');
      if (ended === undefined) this.#checkGlance(engine, job, intent);
      if (intent.kind !== 'look_up') return intent;
      if (intent.questions.length === 0) throw new Error('It asks for what it knows.');
      for (const { id } of intent.questions) answers.set(id, answerTo(id, this.#scenario.seed));
    }
  }

  /** What a glance says must be what a decision comes to: to leave the job alone. */
  #checkGlance(engine: Engine, job: Job, intent: Intent): void {
    const others = this.#engines.filter((other) => other !== engine);
    const peers = others.map(({ id }) => peer(plugins, [], id));
    const seen = glance(job, this.#now, { ...this.#worldOf(engine, undefined), peers });
    const alone = intent.kind === 'wait' && intent.until === undefined;
    if (seen.kind === 'final' && intent.kind !== 'ignore') throw new Error('It is not final.');
    if (seen.kind === 'elsewhere' && !alone) throw new Error('There was something to do.');
  }

  #worldOf(engine: Engine, ended: string | undefined): World {
    const { busy, slots, flow, tasks } = this.#scenario;
    const running = [...engine.attempts.keys()].filter((claim) => claim !== ended);
    const isBusy = busy.some(({ from, to }) => t0 + from <= this.#now && this.#now < t0 + to);
    this.#nonces += 1;
    return world({
      id: engine.id,
      plugins,
      running,
      freeSlots: isBusy ? 0 : slots - running.length,
      nonce: `${engine.id}.${this.#nonces}`,
      peers: this.#engines.filter((other) => other !== engine).map(() => peer(plugins)),
      dead: [...this.#leases].filter(([, until]) => until <= this.#now).map(([id]) => id),
      flows: [flow],
      tasks,
    });
  }

  /** Moments at which the world changes: leases and busy times end. */
  #changes(): readonly number[] {
    return [...this.#leases.values(), ...this.#scenario.busy.map(({ to }) => t0 + to)];
  }

  #nextMoment(): number {
    const attempts = this.#engines.flatMap((engine) => [...engine.attempts.values()]);
    const times = [
      ...attempts.map(({ endsAt }) => endsAt),
      ...this.#engines.map(({ seen }) => seen?.until ?? Infinity),
      ...this.#edits.map(({ at }) => t0 + at),
      ...this.#changes(),
    ];
    const next = Math.min(...times.filter((time) => time > this.#now));
    if (next === Infinity) throw new Error('The job stands still.');
    return next;
  }

  #pass(to: number): void {
    if (this.#changes().some((moment) => moment > this.#now && moment <= to)) this.#wakeAll();
    this.#now = to;
  }

  #wakeAll(): void {
    for (const engine of this.#engines) engine.seen = undefined;
  }
}

function claimsOf(intent: Intent): readonly LiveStep[] {
  return intent.kind === 'claim' ? intent.steps : [];
}

function withNextDue(job: LiveJob, intent: Intent): LiveJob {
  const until = intent.kind === 'wait' ? intent.until : undefined;
  return until === undefined ? job : { ...job, next_due: until };
}

function begin(step: LiveStep, now: number, chance: () => number, detours: boolean): Attempt {
  const endsAt = now + Math.floor(chance() ** 3 * 8_000);
  return { step, endsAt, outcome: outcomeBy(chance, detours) };
}

/** A stop reaches most plugins in time; some end all the same. */
function stop(attempt: Attempt | undefined, chance: () => number): void {
  if (attempt === undefined || chance() < 0.2) return;
  attempt.endsAt = 0;
  attempt.outcome = { kind: 'cancelled' };
}
