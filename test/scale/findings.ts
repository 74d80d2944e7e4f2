import type { StoredDocument } from '../../src/model/document.js';
import type { LiveJob } from '../../src/model/job.js';
import type { LiveStep, Step } from '../../src/model/step.js';
import type { SimulatedEngine } from './engine.js';
import type { Installation } from './installation.js';

/** How a new job was begun: by which engine of its order, and after how long. */
type Begun = {
  readonly waitMs: number;
  readonly place: number;
  /** Some engine before it was dead. */
  readonly afterDead: boolean;
};

/**
 * What happened, and what must not.
 *
 * J1 Each job ends, once.
 * J2 A step has at most one attempt at a time: another one begins only when the engine of the one before
 *    it is dead.
 * J3 Nobody takes an engine for dead that lives.
 */
export class Findings {
  claims = 0;
  lostClaims = 0;
  lines = { jobs: 0, leases: 0 };
  bytes = 0;
  submitted = 0;
  ended = 0;
  revisions = 0;
  deaths = { at: Infinity, count: 0, attempts: 0 };
  readonly wrong: string[] = [];
  readonly begun: Begun[] = [];
  /** Time (ms) from the death of engines until each attempt that they had was begun by another. */
  readonly takenOver: number[] = [];
  readonly #in: Installation;
  readonly #submittedAt = new Map<string, number>();
  /** The engine that runs a step, by job and path. */
  readonly #running = new Map<string, SimulatedEngine>();
  readonly #orphans = new Set<string>();
  readonly #finished = new Set<string>();

  constructor(installation: Installation) {
    this.#in = installation;
  }

  /** How many jobs have not ended. */
  get open(): number {
    return this.submitted - this.ended;
  }

  /** Counts from here on. */
  reset(): void {
    this.lines = { jobs: 0, leases: 0 };
    this.bytes = 0;
  }

  line(id: string, doc: StoredDocument): void {
    this.bytes += lineBytes + id.length;
    if (doc['type'] === 'engine') {
      this.lines.leases += 1;
      return;
    }
    this.lines.jobs += 1;
    if (doc._rev.startsWith('1-')) {
      this.submitted += 1;
      this.#submittedAt.set(id, this.#in.clock.now());
      return;
    }
    this.revisions += 1;
    this.#begins(id, doc);
    if (doc['state'] !== '$$complete') return;
    if (this.#finished.has(id)) this.wrong.push(`Job ${id} has ended twice.`);
    this.#finished.add(id);
    this.ended += 1;
  }

  dies(engine: SimulatedEngine): void {
    this.deaths.at = this.#in.clock.now();
    this.deaths.count += 1;
    for (const [key, one] of this.#running) if (one === engine) this.#orphans.add(key);
    this.deaths.attempts = this.#orphans.size;
  }

  began(engine: SimulatedEngine, job: LiveJob, step: LiveStep): void {
    const key = `${job._id}\n${step.path}`;
    const other = this.#running.get(key);
    if (other !== undefined && other.diedAt === undefined) {
      this.wrong.push(`Step ${step.path} of job ${job._id} runs on ${other.id} and ${engine.id}.`);
    }
    if (this.#orphans.delete(key)) this.takenOver.push(this.#in.clock.now() - this.deaths.at);
    this.#running.set(key, engine);
  }

  /** An attempt has ended; its outcome is not stored yet. */
  finishes(engine: SimulatedEngine, job: LiveJob, step: LiveStep): void {
    const key = `${job._id}\n${step.path}`;
    if (this.#running.get(key) === engine) this.#running.delete(key);
  }

  buried(engine: SimulatedEngine): void {
    if (engine.diedAt === undefined) this.wrong.push(`${engine.id} lives, and is taken for dead.`);
  }

  /** The first claim of a job. */
  #begins(id: string, doc: StoredDocument): void {
    const at = this.#submittedAt.get(id);
    const [first] = (doc['steps'] ?? []) as readonly Step[];
    if (at === undefined || first === undefined) return;
    this.#submittedAt.delete(id);
    const { engines } = this.#in;
    const engine = this.#in.byId(String(first['engine']));
    const isFirst = (one: number): boolean => engines[one] === engine;
    const near = this.#in.orderOf(id);
    const order = near.some(isFirst) ? near : this.#in.orderOf(id, engines.length);
    const place = order.findIndex(isFirst);
    const before = order.slice(0, place).map((one) => engines[one]);
    this.begun.push({
      waitMs: this.#in.clock.now() - at,
      place,
      afterDead: before.some((one) => one?.diedAt !== undefined),
    });
  }
}

/** Bytes of a line of the continuous feed of CouchDB 3.4.3 beside its id, measured with two shards. */
const lineBytes = 195;
