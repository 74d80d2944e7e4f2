import { command, receive, type Commanded } from '../../src/decide/requests/command.js';
import { decide } from '../../src/decide/decide.js';
import { withEdits } from '../../src/decide/requests/edits.js';
import type { Answer } from '../../src/decide/world.js';
import type { ChildJob, Intent } from '../../src/decide/intent.js';
import type { Outcome } from '../../src/decide/finish/outcome.js';
import type { Report } from '../../src/decide/finish/report.js';
import { settle } from '../../src/decide/finish/settle.js';
import { readSchema } from '../../src/evaluate/schemas.js';
import type { Flow } from '../../src/model/flow.js';
import {
  isLiveJob,
  type FinalJob,
  type Job,
  type LiveJob,
  type NewJob,
} from '../../src/model/job.js';
import { isLive, isOpen, type LiveStep, type Step } from '../../src/model/step.js';
import type { JobRequest, RequestAction } from '../../src/model/request.js';
import type { SignalDocument } from '../../src/model/signal.js';
import type { Task } from '../../src/model/task.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import {
  flow,
  frozen,
  newJob,
  t0,
  tasksOf,
  world,
  type FlowOptions,
  type WorldOptions,
} from '../support/builders.js';

/** What a story is about; times are ms after `t0`. */
export type Setting = {
  readonly steps: WrittenNode[];
  readonly flow?: FlowOptions;
  /** Task documents; plain ones stand in for names that are not given. */
  readonly tasks?: readonly Task[];
  readonly job?: Partial<NewJob> & Record<string, unknown>;
  readonly world?: WorldOptions;
};

/** One job, one engine and a clock that tests set by hand: decides, ends attempts, keeps the job. */
export class Story {
  job: Job;
  now = t0;
  revisions = 0;
  children: readonly ChildJob[] = [];
  readonly flow: Flow;
  readonly tasks: readonly Task[];
  around: WorldOptions;
  #answers: Readonly<Record<string, Answer>> = {};
  #sent = 0;

  constructor({ steps, flow: more, tasks = [], job, world: around = {} }: Setting) {
    this.flow = flow(steps, more);
    this.tasks = tasksOf(this.flow, tasks);
    this.job = frozen(newJob(job));
    this.around = around;
  }

  /** Sets the clock, in ms after `t0`. */
  at(ms: number): this {
    this.now = t0 + ms;
    return this;
  }

  /** Changes what surrounds the engine from now on. */
  with(around: WorldOptions): this {
    this.around = { ...this.around, ...around };
    return this;
  }

  /** Answers to conditions, by question id. */
  answering(answers: Readonly<Record<string, unknown>>): this {
    const given = Object.entries(answers).map(([id, value]) => [id, { ok: true, value }] as const);
    this.#answers = { ...this.#answers, ...Object.fromEntries(given) };
    return this;
  }

  /** Edits the job document as a user does; of a live job an engine has put it on record. */
  edit(change: Readonly<Record<string, unknown>>): this {
    this.write(change);
    if (isLiveJob(this.job)) this.job = frozen(withEdits(this.job, this.now));
    return this;
  }

  /** The same before any engine has seen it. */
  write(change: Readonly<Record<string, unknown>>): this {
    this.job = frozen({ ...this.job, ...change });
    return this;
  }

  /** What the engine decides now, without doing it. */
  decide(job: Job = this.job, more: WorldOptions = {}): Intent {
    const running = this.#steps(job)
      .filter(isLive)
      .filter(({ engine }) => engine === 'me');
    const surroundings = world({
      flows: [this.flow],
      tasks: this.tasks,
      running: running.map(({ claim }) => claim),
      answers: this.#answers,
      ...this.around,
      ...more,
    });
    const intent = decide(frozen(job), this.now, surroundings);
    // An engine would decide again at once, for ever.
    if (intent.kind === 'wait' && intent.until !== undefined && intent.until <= this.now) {
      throw new Error(
        `It waits until ${intent.until - t0} ms, which is not after ${this.now - t0} ms.`,
      );
    }
    return intent;
  }

  /** Decides and stores the job of the intent. */
  go(): Intent {
    return this.#store(this.decide());
  }

  /** The engine comes back without the attempts it had in hand, and decides. */
  restart(): Intent {
    return this.#store(this.decide(this.job, { running: [] }));
  }

  /** Ends the running attempt (`of`: of that task or path), decides on, stores both in one revision. */
  end(outcome: Outcome, of?: string, told: Report = {}): Intent {
    const settled = settle(
      this.job,
      { claim: this.liveAt(of).claim, outcome, report: told, schema: readSchema },
      this.now,
    );
    if (settled.kind === 'fenced') throw new Error(settled.because);
    this.job = frozen(settled.job);
    const intent = this.decide();
    if (!('job' in intent)) this.revisions += 1;
    return this.#store(intent);
  }

  /** Ends the running attempt of a task or at a path well, with a result. */
  did(of: string, result?: unknown): this {
    this.end({ kind: 'done', ...(result === undefined ? {} : { result }) }, of);
    return this;
  }

  /** Ends the running attempt of a task or at a path with an error of the plugin. */
  broke(of: string, name = 'Broken'): this {
    this.end({ kind: 'failed', failure: { name, message: `It is ${name}.` } }, of);
    return this;
  }

  /** Ends the running attempt well. */
  done(result?: unknown, exit?: number): Intent {
    return this.end({
      kind: 'done',
      ...(result === undefined ? {} : { result }),
      ...(exit === undefined ? {} : { exit }),
    });
  }

  /** Ends the running attempt with an error of the plugin. */
  fail(name = 'Broken', more: Partial<Extract<Outcome, { kind: 'failed' }>> = {}): Intent {
    return this.end({ kind: 'failed', failure: { name, message: `It is ${name}.` }, ...more });
  }

  /** Whatever this engine tells to stop does so; then it goes on. */
  stopped(): this {
    for (let intent = this.decide(); ; intent = this.decide()) {
      if (intent.kind !== 'abort') {
        this.#store(intent);
        return this;
      }
      const told = new Set(intent.claims);
      const paths = this.steps.filter((step) => isLive(step) && told.has(step.claim));
      for (const { path } of paths) this.end({ kind: 'cancelled' }, path);
    }
  }

  /** A signal comes, and the engine looks at the job. */
  signal(name: string, data?: unknown, more: Partial<SignalDocument> = {}): this {
    const sent = {
      ...({ type: 'signal', job: 'j', name, ...more } as const),
      ...(data === undefined ? {} : { data }),
    };
    return this.#command((job, _id) => receive(job, { ...sent, _id }, this.now));
  }

  /** Somebody asks something of the job, and the engine looks at it. */
  ask(action: RequestAction, more: Partial<JobRequest> = {}): this {
    const asked = { type: 'request', job: 'j', action, ...more } as const;
    const known = world({ flows: [this.flow], tasks: this.tasks, ...this.around });
    return this.#command((job, _id) => command(job, { ...asked, _id }, this.now, known));
  }

  #command(apply: (job: Job, id: string) => Commanded): this {
    this.#sent += 1;
    const commanded = apply(this.job, `sent-${this.#sent}`);
    if (commanded.kind !== 'applied') {
      throw new Error(commanded.kind === 'refused' ? commanded.because : commanded.kind);
    }
    this.job = frozen(commanded.job);
    this.go();
    return this;
  }

  get steps(): readonly Step[] {
    return this.#steps(this.job);
  }

  /** The paths of the steps that run or wait now, in the order in which they began. */
  get open(): readonly string[] {
    return this.steps.filter(isOpen).map(({ path }) => path);
  }

  get last(): Step {
    const last = this.steps.at(-1);
    if (last === undefined) throw new Error('The job has no steps.');
    return last;
  }

  /** The job, which must be initialised and not final. */
  get liveJob(): LiveJob {
    if (!isLiveJob(this.job)) throw new Error(`The job is in state ${String(this.job.state)}.`);
    return this.job;
  }

  get live(): LiveStep {
    return this.liveAt();
  }

  /** The running attempt, of a task or at a path. */
  liveAt(of?: string): LiveStep {
    const live = this.steps
      .filter(isLive)
      .find(({ task, path }) => of === undefined || of === task || of === path);
    if (live === undefined) throw new Error(`No attempt ${of ?? ''} is running.`);
    return live;
  }

  /** The tasks that run now, in the order in which they began. */
  get running(): readonly string[] {
    return this.steps.filter(isLive).map(({ task }) => task);
  }

  /** How the job ended: state, exit, and the name of the failure. */
  get ending(): { state: unknown; exit: unknown; failure: string | undefined } {
    const { state, exit, failure } = this.job as FinalJob;
    return { state, exit, failure: failure?.name };
  }

  /** The path taken: `<name>#<attempt> <state>` of every step. */
  get trail(): readonly string[] {
    return this.steps.map(({ task, attempt, state }) => `${task}#${attempt} ${state}`);
  }

  #steps(job: Job): readonly Step[] {
    return 'steps' in job ? job.steps : [];
  }

  #store(intent: Intent): Intent {
    if ('job' in intent) {
      this.job = frozen(intent.job);
      this.revisions += 1;
    }
    if (intent.kind === 'spawn') this.children = intent.children;
    return intent;
  }
}

/** Steps of a flow without a flow of their own: ended as they should, or because something failed. */
export const endings = {
  well: { state: '$$complete', exit: 0, failure: undefined },
  badly: { state: '$$complete', exit: 2, failure: 'Broken' },
} as const;

/** A story that has just begun, on an engine with slots to spare. */
export function begun(steps: WrittenNode[], more: Partial<Setting> = {}): Story {
  const told = new Story({ steps, ...more, world: { freeSlots: 100, ...more.world } });
  told.go();
  return told;
}

/** Begins a story. */
export function story(setting: Setting): Story {
  return new Story(setting);
}
