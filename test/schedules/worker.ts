import { unknownWorld } from '../../src/decide/world.js';
import { carrying, settle, type Writing } from '../../src/decide/finish/settle.js';
import { readConsistent } from '../../src/replicas/resolve/consistent-read.js';
import type { Liveness } from '../../src/replicas/resolve/attempt-merge.js';
import { commitToMany, type Committed } from '../../src/replicas/resolve/commit.js';
import {
  write,
  type EffectAnswer,
  type Protocol,
  rest,
} from '../../src/replicas/resolve/protocol.js';
import { holds, stepsIn, type LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import { decide } from '../../src/decide/decide.js';
import type { GivenUp, Intent, ChildJob } from '../../src/decide/intent.js';
import type { Acquire, Query } from '../../src/decide/queries.js';
import type { World } from '../../src/decide/world.js';
import type { Outcome } from '../../src/decide/finish/outcome.js';
import { report } from '../../src/decide/finish/report.js';
import { isFinal, isLiveJob, type Job } from '../../src/model/job.js';
import { isLive, type LiveStep } from '../../src/model/step.js';
import { commitToOne } from '../support/commit-to-one.js';
import type { Beliefs } from './beliefs.js';
import { abandoned, leftBy } from '../../src/decide/finish/abandoned.js';
import type { FeedEvent } from './cluster.js';
import { acquire, emptyFindings, lookUps, withFindings } from './findings.js';
import type { Locks } from './locks.js';
import { takeMessage, type Mailbox, type Message } from './messages.js';
import { Process, type ProcessParts, type Task, type Wish } from './process.js';

/** What an engine needs of its surroundings. */
export type WorkerParts = ProcessParts & {
  /** Id of its job. */
  readonly job: string;
  readonly beliefs: Beliefs;
  readonly mailbox: Mailbox;
  readonly locks: Locks;
  /** What is confirmed, as on databases with several copies. */
  readonly confirms: Confirms;
  /** Has another job of this engine looked at again: one that is waited for has ended. */
  readonly rouse: (job: string) => void;
  /** All but what the engine knows of itself, and what has to be found out first. */
  readonly world: (worker: Worker) => World;
  /** How an attempt will end, and after how many ms. */
  readonly attempt: (
    job: LeafRevision,
    step: LiveStep,
  ) => { readonly ms: number; readonly outcome: Outcome };
  readonly started: (worker: Worker, job: LeafRevision, step: LiveStep) => void;
  /** The plugin of an attempt has returned. */
  readonly returned: (claim: string) => void;
  /** The engine was told that this end is stored and forgets the attempt. */
  readonly settled: (worker: Worker, claim: string, outcome: Outcome) => void;
};

/** `all`; nothing (`none`), as on a single copy; or claims alone, but not what makes jobs. */
export type Confirms = 'all' | 'claims' | 'none';

type Deciding = Generator<Wish, Exclude<Intent, Query | Acquire>, EffectAnswer>;

type Attempt = { readonly step: LiveStep; outcome: Outcome; endsAt: number };

/**
 * An engine of a schedule: what src/engine/loop/jobs.ts and copies.ts do with one job, in virtual time,
 * with the same decisions and protocols.
 */
export class Worker {
  readonly process: Process;
  readonly #parts: WorkerParts;
  readonly #hands = new Map<string, Attempt>();
  readonly #reserved = new Set<string>();
  readonly #unbegun = new Set<string>();
  readonly #ended = new Set<string>();
  #isClosing = false;
  #newest: LeafRevision | undefined;
  #seen: { readonly rev: string; readonly at: number } | undefined;
  #suspects = false;
  #wakesAt = Infinity;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.process = new Process(parts);
  }

  get #confirms(): boolean {
    return this.#parts.confirms !== 'none';
  }

  get id(): string {
    return this.#parts.id;
  }

  get node(): number {
    return this.#parts.node;
  }

  get isIdle(): boolean {
    return this.process.isIdle && this.#hands.size === 0;
  }

  /** Ends in order: takes nothing more and hands back what runs. */
  close(): void {
    this.#isClosing = true;
    for (const claim of this.#hands.keys()) this.#stop(claim, { kind: 'released' });
  }

  /** An event of the feed. */
  take({ doc, conflicted }: FeedEvent): void {
    this.process.receive(() => {
      if (this.#confirms && (conflicted || doc === undefined)) this.#suspects = true;
      if (doc === undefined) return this.#wake();
      const put = this.#put(doc);
      if (put === 'news' || (put === 'echo' && this.#suspects)) this.#consider(doc);
    });
  }

  /** The sweep: looks whether the feed has missed something. */
  review(): void {
    const seen = this.#parts.documents.of(this.#parts.job).glance(this.node);
    if (seen?.doc === undefined) return;
    const { doc, conflicted } = seen;
    this.process.receive(() => {
      if (this.#confirms && conflicted) this.#suspects = true;
      if (this.#put(doc) !== 'stale') this.#consider(doc);
    });
  }

  /** A request or a signal, from the feed or found by the sweep. */
  takeMessage(message: Message): void {
    const { mailbox, timeline } = this.#parts;
    this.process.receive(() =>
      this.#queue(function* (this: Worker): Task {
        const doc = yield* takeMessage(message, mailbox, () => timeline.now);
        if (doc !== undefined && this.#put(doc) === 'news') yield* this.#considerJob(doc);
      }),
    );
  }

  /** Something has changed that all engines learn of at the same time. */
  rouse(): void {
    this.process.receive(() => {
      if (this.#seen !== undefined) {
        this.#seen = { rev: this.#seen.rev, at: this.#parts.timeline.now };
      }
      this.#wake();
    });
  }

  #put(doc: LeafRevision): 'news' | 'echo' | 'stale' {
    const seen = this.#seen?.rev;
    if (seen !== undefined && Number.parseInt(seen, 10) > Number.parseInt(doc._rev, 10)) {
      return 'stale';
    }
    if (seen !== doc._rev) this.#seen = { rev: doc._rev, at: this.#parts.timeline.now };
    this.#newest = doc;
    return seen === doc._rev ? 'echo' : 'news';
  }

  #drop(): void {
    if (this.#hands.size === 0) this.#newest = undefined;
  }

  #consider(doc: LeafRevision): void {
    this.#queue(function* (this: Worker): Task {
      if (this.#seen === undefined || this.#seen.rev === doc._rev) yield* this.#considerJob(doc);
    });
  }

  #wake(): void {
    this.#queue(function* (this: Worker): Task {
      const doc = this.#newest ?? (yield* this.#get());
      if (doc !== undefined && this.#put(doc) !== 'stale') yield* this.#considerJob(doc);
    });
  }

  #queue(task: (this: Worker) => Task): void {
    this.process.queue(task.call(this));
  }

  *#get(): Generator<Wish, LeafRevision | undefined, EffectAnswer> {
    const leaves = (yield { kind: 'get', id: this.#parts.job }) as readonly LeafRevision[];
    return leaves[0];
  }

  /** Looks at all copies where there is something to doubt. */
  *#agreed(doc: LeafRevision): Protocol<LeafRevision | undefined> {
    if (!this.#confirms) return doc;
    const running = [...this.#hands.keys()];
    const isOld = stepsIn(doc).some((step) => isLive(step) && this.#ended.has(step.claim));
    const isDoubtful = this.#suspects || isOld || running.some((claim) => !holds(doc, claim));
    if (!isDoubtful) return doc;
    const agreed = yield* readConsistent(doc._id, running, this.#livenessOf);
    if (agreed === undefined) return undefined;
    this.#suspects = agreed.conflict;
    if (agreed.leaf !== undefined) this.#put(agreed.leaf);
    return agreed.leaf;
  }

  readonly #livenessOf = ({ engine, claim }: LiveStep): Liveness => {
    if (this.#hands.has(claim)) return 'runs';
    if (engine === this.id) return this.#ended.has(claim) ? 'elsewhere' : 'given_up';
    return this.#parts.beliefs.isDead(this.id, engine) ? 'lost' : 'elsewhere';
  };

  *#considerJob(given: LeafRevision): Task {
    this.#wakesAt = Infinity;
    const doc = yield* this.#agreed(given);
    if (doc === undefined) return;
    const job = doc as unknown as Job;
    this.#fence(job);
    const intent = yield* this.#decide(job, this.#seen?.at ?? this.#parts.timeline.now);
    switch (intent.kind) {
      case 'ignore':
        this.#drop();
        if (isFinal(job)) this.#rouseParent(doc);
        return;
      case 'wait':
        if (intent.until !== undefined) this.#setTimer(intent.until);
        if (intent.for === undefined) this.#drop();
        return;
      case 'abort':
        return intent.claims.forEach((claim) => this.#stop(claim, { kind: 'cancelled' }));
      case 'write':
      case 'claim':
      case 'spawn':
        return yield* this.#store(intent);
    }
  }

  /** Decides, finding out on the way what the decision asks for. */
  *#decide(job: Job, seenAt: number, settling?: string): Deciding {
    const found = emptyFindings();
    for (;;) {
      const running = new Set([...this.#hands.keys(), ...this.#reserved]);
      if (settling !== undefined) running.delete(settling);
      const world = withFindings(this.#parts.world(this), found);
      const freeSlots = this.#isClosing ? 0 : Math.max(0, 2 - running.size);
      const past = { unbegun: this.#unbegun, ended: this.#ended };
      const me = { ...world.me, running, freeSlots, ...past };
      const intent = decide(job, this.#parts.timeline.now, { ...world, me, seenAt });
      if (intent.kind === 'look_up') {
        yield* lookUps(intent, this.#asMaker(job), found, this.#parts.locks);
      } else if (intent.kind === 'acquire') {
        yield* acquire(intent, this.#asMaker(job), found, this.#parts.locks);
      } else return intent;
    }
  }

  /**
   * The job by which children are known as its own. Where what makes them is not confirmed, without the
   * starts of merged revisions: these mend what the confirmation prevents, and would hide it.
   */
  #asMaker(job: Job): Job {
    const { also_started: _starts, ...own } = job as Job & { readonly also_started?: unknown };
    return this.#parts.confirms === 'all' ? job : own;
  }

  *#store(intent: Writing): Task {
    const claims = intent.kind === 'claim' ? intent.steps : [];
    yield* this.#parts.abandon(intent.abandons ?? []);
    const committed = yield* this.#commit(intent, claims);
    if (committed.kind !== 'written') return this.#drop();
    yield* this.#goOn(intent, committed.doc, intent.abandons);
  }

  *#commit(intent: Writing, claims: readonly LiveStep[], ended?: string): Protocol<Committed> {
    claims.forEach(({ claim }) => this.#reserved.add(claim));
    const spawns = this.#parts.confirms === 'all' ? spawnsOf(intent) : [];
    const job = intent.job as unknown as LeafRevision;
    const change = { job, claims, spawns, ...(ended ? { ended: [ended] } : {}) };
    const committed = yield* this.#confirms
      ? commitToMany(change, this.#livenessOf)
      : commitToOne(change);
    for (const { claim } of claims) {
      this.#reserved.delete(claim);
      if (committed.kind !== 'written') this.#unbegun.add(claim);
    }
    return committed;
  }

  /** What was given up before is given up once more after the write (H4). */
  *#giveUpAgain(children: readonly GivenUp[] = []): Task {
    if (!this.#confirms || children.length === 0) return;
    const newest = yield* this.#get();
    const wanted = new Set(newest === undefined ? [] : leftBy(newest).map(({ child }) => child));
    yield* this.#parts.abandon(children.filter(({ child }) => !wanted.has(child)));
  }

  *#goOn(intent: Writing, doc: LeafRevision, children?: readonly GivenUp[]): Task {
    this.#put(doc);
    if (intent.kind === 'claim') intent.steps.forEach((step) => this.#start(doc, step));
    if (intent.kind === 'spawn') for (const child of intent.children) yield* this.#make(child);
    yield* this.#giveUpAgain(children);
    yield* this.#considerJob(doc);
  }

  #rouseParent({ parent }: LeafRevision): void {
    const { job } = (parent ?? {}) as { readonly job?: string };
    if (job !== undefined) this.#parts.rouse(job);
  }

  /** Stores a child until it is known to be stored; a conflict says that there is one. */
  *#make(child: ChildJob): Task {
    for (let tries = 0; ; tries += 1) {
      const stored = yield* write(child);
      if (stored.kind !== 'unknown') return;
      yield* rest(tries);
    }
  }

  #start(doc: LeafRevision, step: LiveStep): void {
    const { timeline, started, attempt } = this.#parts;
    started(this, doc, step);
    const { ms, outcome } = attempt(doc, step);
    this.#hands.set(step.claim, { step, outcome, endsAt: timeline.now + ms });
    timeline.after(ms, () => this.#end(step.claim));
    if (ms > 2_000) timeline.after(ms / 2, () => this.#report(step.claim));
  }

  /** A running attempt tells how far it is; what cannot be written is not written. */
  #report(claim: string): void {
    this.process.receive(() =>
      this.#queue(function* (this: Worker): Task {
        const doc = this.#newest ?? (yield* this.#get());
        if (doc === undefined || !this.#hands.has(claim)) return;
        const told = report(
          doc as unknown as Job,
          claim,
          { progress: 1 },
          this.#parts.timeline.now,
        );
        if (told.kind === 'fenced') return;
        const next = told.job as unknown as LeafRevision;
        const stored = yield* write(next);
        if (stored.kind !== 'written') return;
        const written = { ...next, _rev: stored.rev };
        this.#put(written);
        yield* this.#considerJob(written);
      }),
    );
  }

  /** The plugin of an attempt ends, by itself or because it was told to. */
  #end(claim: string): void {
    this.process.receive(() => {
      const attempt = this.#hands.get(claim);
      if (attempt === undefined || attempt.endsAt > this.#parts.timeline.now) return;
      attempt.endsAt = Infinity;
      this.#parts.returned(claim);
      this.#queue(function* (this: Worker): Task {
        yield* this.#settleAttempt(attempt);
      });
    });
  }

  #stop(claim: string, outcome: Outcome): void {
    const attempt = this.#hands.get(claim);
    const { timeline } = this.#parts;
    const isRunning = attempt !== undefined && attempt.endsAt < Infinity;
    if (!isRunning || attempt.endsAt <= timeline.now) return;
    Object.assign(attempt, { outcome, endsAt: timeline.now });
    timeline.after(0, () => this.#end(claim));
  }

  *#settleAttempt({ step, outcome }: Attempt): Task {
    const { claim } = step;
    let doc = this.#newest ?? (yield* this.#get());
    for (;;) {
      if (doc !== undefined) doc = yield* this.#agreed(doc);
      if (doc === undefined) break;
      const { now } = this.#parts.timeline;
      const settled = settle(
        doc as unknown as Job,
        { schema: unknownWorld.schema, claim, outcome },
        now,
      );
      if (settled.kind === 'fenced') {
        this.#say(() => `drops the outcome of ${claim}: ${settled.because}`);
        break;
      }
      const next: Writing = this.#suspects
        ? { kind: 'write', job: settled.job }
        : carrying(settled.job, yield* this.#decide(settled.job, -Infinity, claim));
      const children = abandoned(doc as unknown as Job, next.job);
      yield* this.#parts.abandon(children);
      const claims = next.kind === 'claim' ? next.steps : [];
      const committed = yield* this.#commit(next, claims, claim);
      if (committed.kind === 'written' || committed.kind === 'given_up') {
        this.#parts.settled(this, claim, outcome);
        if (this.#confirms) this.#ended.add(claim);
        this.#hands.delete(claim);
      }
      if (committed.kind === 'written') return yield* this.#goOn(next, committed.doc, children);
      if (committed.kind === 'given_up') return yield* this.#considerJob(committed.doc);
      doc = yield* this.#get();
      if (doc !== undefined) this.#put(doc);
    }
    this.#hands.delete(claim);
    if (doc !== undefined) yield* this.#considerJob(doc);
  }

  /** Stops what runs here but is, by the document, no longer ours. */
  #fence(job: Job): void {
    const steps = isLiveJob(job) ? job.steps.filter(isLive) : [];
    const live = new Set(steps.map(({ claim }) => claim));
    for (const claim of this.#hands.keys()) {
      if (live.has(claim)) continue;
      this.#say(() => `stops ${claim}, which was taken from it`);
      this.#stop(claim, { kind: 'released' });
    }
  }

  #setTimer(until: number): void {
    const { timeline } = this.#parts;
    this.#wakesAt = until;
    timeline.after(Math.max(0, until - timeline.now), () => {
      if (this.#wakesAt !== until) return;
      this.#wakesAt = Infinity;
      this.process.receive(() => this.#wake());
    });
  }

  #say(what: () => string): void {
    this.#parts.said(this.id, what);
  }
}

function spawnsOf(intent: Writing): readonly string[] {
  return intent.kind === 'spawn' ? intent.children.map(({ _id }) => _id) : [];
}
