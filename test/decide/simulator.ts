import { decide } from '../../src/decide/decide.js';
import type { Answer, Intent, Outcome, World } from '../../src/decide/intent.js';
import { share } from '../../src/decide/retry.js';
import { settle } from '../../src/decide/settle.js';
import type { Flow } from '../../src/model/flow.js';
import { isFinal, isNew, type Job, type LiveJob } from '../../src/model/job.js';
import type { LiveStep, Step } from '../../src/model/step.js';
import type { Task } from '../../src/model/task.js';
import { frozen, newJob, peer, t0, world } from '../support/builders.js';

/** What is simulated; times are ms after the start. */
export type Scenario = {
  readonly flow: Flow;
  readonly tasks: readonly Task[];
  readonly job: Readonly<Record<string, unknown>>;
  readonly engines: number;
  readonly slots: number;
  /** How often engines are lost or stopped on the way. */
  readonly losses: number;
  readonly stops: number;
  readonly edits: readonly {
    readonly at: number;
    readonly change: Readonly<Record<string, unknown>>;
  }[];
  /** Everything by chance follows from it. */
  readonly seed: number;
};

/** One revision that was stored, with what it began. */
export type Revision = {
  readonly job: Job;
  readonly at: number;
  readonly by: string;
  readonly began: readonly LiveStep[];
};

/** What happened; the last revision is final. */
export type Run = { readonly revisions: readonly Revision[]; readonly conflicts: number };

type Attempt = { readonly step: LiveStep; endsAt: number; outcome: Outcome };
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
  /** The revision that was decided upon with nothing left to do, and when to look again. */
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
  const chance = chanceFrom(scenario.seed);
  const revisions: Revision[] = [];
  const engines: Engine[] = [];
  /** When the leases of lost engines end. */
  const leases = new Map<string, number>();
  const edits = [...scenario.edits];
  let { losses, stops } = scenario;
  let [now, made, conflicts, nonces] = [t0, 0, 0, 0];
  let job: Job = frozen(newJob({ mine: { kept: true }, ...scenario.job }));

  const wakeAll = (): void => engines.forEach((engine) => (engine.seen = undefined));
  const join = (): void => {
    made += 1;
    engines.push({ id: `e${made}`, attempts: new Map() });
    wakeAll();
  };
  const leave = (engine: Engine): void => {
    engines.splice(engines.indexOf(engine), 1);
    join();
  };
  const store = (next: Job, by: string, began: readonly LiveStep[] = []): void => {
    job = frozen({ ...next, _rev: `${revisions.length + 2}-x` });
    revisions.push({ job, at: now, by, began });
  };
  const worldOf = (
    engine: Engine,
    ended: string | undefined,
    answers: Map<string, Answer>,
  ): World => {
    const running = [...engine.attempts.keys()].filter((claim) => claim !== ended);
    nonces += 1;
    return {
      ...world({
        id: engine.id,
        plugins,
        running,
        freeSlots: scenario.slots - running.length,
        nonce: `${engine.id}.${nonces}`,
        peers: engines.filter((other) => other !== engine).map(() => peer(plugins)),
        dead: [...leases].filter(([, until]) => until <= now).map(([id]) => id),
        flows: [scenario.flow],
        tasks: scenario.tasks,
      }),
      answers,
    };
  };
  const ask = (engine: Engine, on: Job, ended?: string): Intent => {
    const answers = new Map<string, Answer>();
    for (;;) {
      const around = worldOf(engine, ended, answers);
      const intent = decide(on, now, around);
      const again = decide(frozen(structuredClone(on)), now, around);
      if (JSON.stringify(again) !== JSON.stringify(intent))
        throw new Error('It decides by chance.');
      if (intent.kind !== 'look_up') return intent;
      if (intent.questions.length === 0) throw new Error('It asks for what it knows.');
      for (const { id } of intent.questions) answers.set(id, answerTo(id, scenario.seed));
    }
  };
  const consider = (engine: Engine): void => {
    const intent = ask(engine, job);
    const on = revisions.length;
    if ('job' in intent) {
      const claims = intent.kind === 'claim' ? intent.steps : [];
      engine.pending = { on, job: intent.job, claims };
      return;
    }
    if (intent.kind === 'abort') {
      for (const claim of intent.claims) stop(engine.attempts.get(claim), chance);
    }
    engine.seen = { on, until: intent.kind === 'wait' ? (intent.until ?? Infinity) : Infinity };
  };
  const end = (engine: Engine, { step, outcome }: Attempt): void => {
    const settled = settle(job, step.claim, outcome, now);
    if (settled.kind === 'fenced') {
      engine.attempts.delete(step.claim);
      engine.seen = undefined;
      return;
    }
    const intent = ask(engine, settled.job, step.claim);
    const next = 'job' in intent ? intent.job : withNextDue(settled.job, intent);
    const claims = intent.kind === 'claim' ? intent.steps : [];
    engine.pending = { on: revisions.length, job: next, claims, ends: step.claim };
  };
  const commit = (engine: Engine, { on, job: next, claims, ends }: Pending): void => {
    engine.pending = undefined;
    engine.seen = undefined;
    if (on !== revisions.length) {
      conflicts += 1;
      return;
    }
    store(next, engine.id, claims);
    if (ends !== undefined) engine.attempts.delete(ends);
    for (const step of claims) engine.attempts.set(step.claim, begin(step, now, chance));
  };
  const lose = (engine: Engine): void => {
    losses -= 1;
    if (engine.pending !== undefined && chance() < 0.5) commit(engine, engine.pending);
    leases.set(engine.id, now + leaseMs);
    leave(engine);
  };
  const hand = (engine: Engine): void => {
    stops -= 1;
    for (const attempt of engine.attempts.values()) {
      const settled = settle(job, attempt.step.claim, { kind: 'released' }, now);
      if (settled.kind === 'settled') store(settled.job, engine.id);
    }
    leave(engine);
  };
  const actionsOf = (engine: Engine): (() => void)[] => {
    const { pending, seen } = engine;
    if (pending !== undefined) return [() => commit(engine, pending)];
    const ended = [...engine.attempts.values()].filter(({ endsAt }) => endsAt <= now);
    const stale = seen === undefined || seen.on !== revisions.length || seen.until <= now;
    return [
      ...ended.map((attempt) => () => end(engine, attempt)),
      ...(stale ? [() => consider(engine)] : []),
    ];
  };
  const nextMoment = (): number => {
    const attempts = engines.flatMap((engine) => [...engine.attempts.values()]);
    const times = [
      ...attempts.map(({ endsAt }) => endsAt),
      ...engines.map(({ seen }) => seen?.until ?? Infinity),
      ...leases.values(),
      ...edits.map(({ at }) => t0 + at),
    ];
    return Math.min(...times.filter((time) => time > now));
  };
  const pass = (to: number): void => {
    if ([...leases.values()].some((until) => until > now && until <= to)) wakeAll();
    now = to;
  };

  for (let i = 0; i < scenario.engines; i += 1) join();
  for (let events = 0; !isFinal(job); events += 1) {
    if (events > mostEvents) throw new Error('The job does not end.');
    const edit = edits.findIndex(({ at }) => t0 + at <= now);
    const actions = engines.flatMap(actionsOf);
    if (edit >= 0)
      actions.push(() =>
        edits.splice(edit, 1).forEach(({ change }) => store({ ...job, ...change } as Job, 'user')),
      );
    const victim = engines[Math.floor(chance() * engines.length)] as Engine;
    if (losses > 0 && chance() < 0.03) lose(victim);
    else if (stops > 0 && chance() < 0.03) hand(victim);
    else if (actions.length === 0) pass(momentOr(nextMoment()));
    else if (chance() < 0.1) pass(Math.min(now + Math.floor(chance() * 500), nextMoment()));
    else actions[Math.floor(chance() * actions.length)]?.();
  }
  checkFinal(job, engines, (engine) => ask(engine, job));
  return { revisions, conflicts };
}

/** A final job is left alone by everybody, also by those whose attempts come in late. */
function checkFinal(job: Job, engines: readonly Engine[], ask: (engine: Engine) => Intent): void {
  for (const engine of engines) {
    if (ask(engine).kind !== 'ignore') throw new Error('A final job is changed.');
    for (const claim of engine.attempts.keys()) {
      const late = settle(job, claim, { kind: 'done' }, t0);
      if (late.kind !== 'fenced') throw new Error('A final job takes an outcome.');
    }
  }
}

function momentOr(moment: number): number {
  if (moment === Infinity) throw new Error('The job stands still.');
  return moment;
}

function withNextDue(job: LiveJob, intent: Intent): LiveJob {
  const until = intent.kind === 'wait' ? intent.until : undefined;
  return until === undefined ? job : { ...job, next_due: until };
}

function begin(step: LiveStep, now: number, chance: () => number): Attempt {
  return { step, endsAt: now + Math.floor(chance() ** 3 * 8_000), outcome: outcomeBy(chance) };
}

/** A stop reaches most plugins in time; some end all the same. */
function stop(attempt: Attempt | undefined, chance: () => number): void {
  if (attempt === undefined || chance() < 0.2) return;
  attempt.endsAt = 0;
  attempt.outcome = { kind: 'cancelled' };
}

function outcomeBy(chance: () => number): Outcome {
  const failure = { name: chance() < 0.5 ? 'Broken' : 'Released', message: 'It is broken.' };
  const drawn = chance();
  if (drawn < 0.55) return { kind: 'done', result: { n: Math.floor(chance() * 100) } };
  if (drawn < 0.6) return { kind: 'done', exit: chance() < 0.5 ? 0 : 7 };
  if (drawn < 0.85) return { kind: 'failed', failure };
  if (drawn < 0.89) return { kind: 'failed', failure, retryable: false };
  if (drawn < 0.93) return { kind: 'failed', failure, retryAfterMs: Math.floor(chance() * 3_000) };
  return { kind: 'timeout', timeoutMs: 1 };
}

/** Conditions are mostly true, some are false, few cannot be evaluated. */
function answerTo(id: string, seed: number): Answer {
  const drawn = share(`${id}:${seed}`);
  return drawn < 0.05 ? { ok: false, reason: 'no' } : { ok: true, value: drawn < 0.65 };
}

/** Numbers from 0 to 1, the same for the same seed. */
function chanceFrom(seed: number): () => number {
  let drawn = 0;
  return () => {
    drawn += 1;
    return share(`${seed}:${drawn}:${(seed * drawn) % 7919}`);
  };
}

/** The steps of a job, whatever its state. */
export function stepsOf(job: Job): readonly Step[] {
  return isNew(job) ? [] : ((job.steps ?? []) as readonly Step[]);
}
