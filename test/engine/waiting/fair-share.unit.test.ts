import fc from 'fast-check';
import { expect, it } from 'vitest';
import { headStart } from '../../../src/decide/compete/fair-share.js';
import { createCount, createWaitQueue, inLineOf } from '../../../src/engine/waiting/wait-queue.js';
import { createSlotUses } from '../../../src/engine/attempts/running-attempts.js';
import { minutes, runs } from '../../support/properties.js';

/** A job of the model: so many steps, so many of which may run at once. */
type Plan = {
  readonly owner: string;
  readonly priority: number;
  readonly steps: number;
  readonly width: number;
  /** Made for the job of that number, if there is one; of the same owner and priority then. */
  readonly root: number | undefined;
};

type Job = Plan & { readonly id: string; readonly top: string; begun: number; running: number };

/** How a root, or an owner, waits: `passed` slots were given to those that it competes with. */
type Waiting = { passed: number; readonly most: number };

/**
 * One engine whose steps end by chance. Every slot that is given is checked against the whole model:
 * who works, who waits, who has how many.
 */
class Engine {
  readonly jobs: Job[] = [];
  readonly #slots: number;
  readonly #count = createCount();
  readonly #waitQueue = createWaitQueue(this.#count);
  readonly #uses = createSlotUses(this.#count);
  readonly #facts = { hasRoom: () => true, use: () => this.#uses.now(new Set()) };
  readonly #running: { readonly claim: string; readonly job: Job; readonly number: number }[] = [];
  readonly #owners = new Map<string, Waiting>();
  readonly #roots = new Map<string, Waiting>();
  /** The number of claims, also the name of the next one. */
  #claims = 0;
  /** The owners that have work, and how many claims there were when they became these. */
  #crew = { owners: '', since: 0 };

  constructor(slots: number) {
    this.#slots = slots;
  }

  arrive(plan: Plan): void {
    const id = `job-${this.jobs.length}`;
    const made = plan.root === undefined ? undefined : this.jobs[plan.root];
    const like =
      made === undefined ? plan : { ...plan, owner: made.owner, priority: made.priority };
    const job = { ...like, id, top: made?.top ?? id, begun: 0, running: 0 };
    this.jobs.push(job);
    this.#happens(() => this.#consider(job));
  }

  /** A running step ends; false when none runs. */
  end(chance: number): boolean {
    const at = Math.min(this.#running.length - 1, Math.floor(chance * this.#running.length));
    const [ended] = this.#running.splice(Math.max(0, at), 1);
    if (ended === undefined) return false;
    this.#uses.leave(ended.claim);
    ended.job.running -= 1;
    this.#happens(() => this.#consider(ended.job));
    return true;
  }

  #happens(what: () => void): void {
    this.#watch();
    what();
    while (this.#free() > this.#waitQueue.called.size) {
      const id = this.#waitQueue.nextForSlot(this.#facts);
      if (id === undefined) break;
      // Nobody is called for nothing.
      expect(this.#consider(this.#job(id))).toBeGreaterThan(0);
      this.#waitQueue.answered(id);
    }
    this.#watch();
    this.#check();
  }

  /** What the engine does about a job; answers how many slots it takes. */
  #consider(job: Job): number {
    const place = this.#place(job);
    const free = this.#free();
    const share = (wanted: number): number =>
      this.#waitQueue.slotsFor(place, { free, wanted }, this.#facts);
    const most = share(free);
    // Whoever wants fewer gets as many of them.
    for (const wanted of [1, 2]) expect(share(wanted)).toBe(Math.min(wanted, most));
    const claims = Math.min(most, ready(job));
    if (claims > 0) this.#waitQueue.leave(job.id);
    for (let n = 0; n < claims; n += 1) this.#give(job);
    if (ready(job) > 0) this.#waitQueue.forSlot(this.#place(job), 0);
    else this.#waitQueue.leave(job.id);
    return claims;
  }

  #give(job: Job): void {
    const { owner, priority, top } = job;
    const others = this.#waiting().filter((one) => one.top !== top);
    for (const other of others) {
      if (other.owner !== owner) {
        expect(this.#held({ owner: other.owner })).toBeGreaterThanOrEqual(this.#held({ owner }));
        continue;
      }
      expect(other.priority).toBeGreaterThanOrEqual(priority);
      if (other.priority > priority) continue;
      expect(this.#held({ top: other.top })).toBeGreaterThanOrEqual(this.#held({ top }));
    }
    for (const [one, wait] of this.#owners) {
      if (one !== owner) wait.passed += 1;
      expect(wait.passed, `slots that ${one} waits for`).toBeLessThanOrEqual(wait.most);
    }
    for (const one of others) {
      const wait = this.#roots.get(one.top);
      if (wait === undefined || one.owner !== owner || one.priority !== priority) continue;
      if (one !== others.find((other) => other.top === one.top)) continue;
      wait.passed += 1;
      expect(wait.passed, `slots that ${one.top} waits for`).toBeLessThanOrEqual(wait.most);
    }
    const claim = String((this.#claims += 1));
    const party = this.#place(job);
    this.#uses.take(claim, party);
    this.#uses.began(claim);
    this.#running.push({ claim, job, number: this.#claims });
    job.begun += 1;
    job.running += 1;
    this.#owners.delete(owner);
    this.#roots.delete(top);
  }

  /** Those that wait without a slot from now on, and those that do not any more. */
  #watch(): void {
    const waiting = this.#waiting();
    const owners = new Set(waiting.map(({ owner }) => owner));
    const tops = new Map(waiting.map((job) => [job.top, job]));
    for (const one of this.#owners.keys()) if (!owners.has(one)) this.#owners.delete(one);
    for (const one of this.#roots.keys()) if (!tops.has(one)) this.#roots.delete(one);
    for (const owner of owners) {
      if (this.#owners.has(owner) || this.#held({ owner }) > 0) continue;
      this.#owners.set(owner, { passed: 0, most: allOwners.length - 1 });
    }
    for (const [top, { owner, priority }] of tops) {
      if (this.#roots.has(top) || this.#held({ top }) > 0) continue;
      const rivals = this.jobs.filter(
        (one) => one.owner === owner && one.priority === priority && ready(one) + one.running > 0,
      );
      const most = (new Set(rivals.map((one) => one.top)).size - 1) * (headStart + 1);
      this.#roots.set(top, { passed: 0, most });
    }
  }

  /** No slot stays free, and an owner that has waited for a while has its share. */
  #check(): void {
    const waiting = this.#waiting();
    if (waiting.length > 0) expect(this.#free()).toBe(0);
    const working = this.jobs.filter((job) => ready(job) + job.running > 0);
    const crew = [...new Set(working.map(({ owner }) => owner))].toSorted();
    const wanting = [...new Set(waiting.map(({ owner }) => owner))].toSorted();
    const owners = `${crew.join(' ')} ${wanting.join(' ')}`;
    if (owners !== this.#crew.owners) this.#crew = { owners, since: this.#claims };
    // What was given before they were these is not taken away.
    if (this.#running.some(({ number }) => number <= this.#crew.since)) return;
    const share = Math.floor(this.#slots / crew.length);
    for (const owner of wanting) expect(this.#held({ owner })).toBeGreaterThanOrEqual(share - 1);
  }

  #place({ id, owner, priority, top, begun }: Job) {
    const parent = top === id ? undefined : { job: top };
    return inLineOf({ _id: id, owner, priority, parent, steps: Array.from({ length: begun }) });
  }

  #job(id: string): Job {
    return this.jobs.find((job) => job.id === id) as Job;
  }

  #waiting(): readonly Job[] {
    return this.jobs.filter((job) => ready(job) > 0);
  }

  #held(of: Partial<Job>): number {
    const ours = this.jobs.filter(
      ({ owner, top }) => (of.owner ?? owner) === owner && (of.top ?? top) === top,
    );
    return ours.reduce((sum, { running }) => sum + running, 0);
  }

  #free(): number {
    return this.#slots - this.#running.length;
  }
}

function ready({ steps, width, begun, running }: Job): number {
  return Math.min(width - running, steps - begun);
}

const allOwners = ['a', 'b', 'c'];

const plan = fc.record({
  owner: fc.constantFrom(...allOwners),
  priority: fc.constantFrom(500, 500, 500, 1),
  steps: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 90 })),
  width: fc.constantFrom(1, 1, 2, 5, 90),
  root: fc.option(fc.nat(10), { nil: undefined, freq: 3 }),
});

/** Many child jobs of one step that are made at once. */
const flood = fc.record({ children: fc.integer({ min: 25, max: 60 }), root: fc.nat(3) });
const child = { owner: 'a', priority: 500, steps: 1, width: 1 };

it(
  'shares its slots between owners and jobs, whatever comes and ends',
  () => {
    const happening = fc.oneof(
      { weight: 10, arbitrary: plan },
      { weight: 1, arbitrary: flood },
      { weight: 15, arbitrary: fc.double({ min: 0, max: 0.999, noNaN: true }) },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.array(happening, { minLength: 5, maxLength: 80 }),
        fc.constantFrom(0, 0.5, 0.999),
        (slots, story, then) => {
          const engine = new Engine(slots);
          for (const one of story) {
            if (typeof one === 'number') engine.end(one);
            else if ('steps' in one) engine.arrive(one);
            else for (let n = 0; n < one.children; n += 1) engine.arrive({ ...child, ...one });
          }
          while (engine.end(then));
          expect(engine.jobs.map(({ begun }) => begun)).toEqual(
            engine.jobs.map(({ steps }) => steps),
          );
        },
      ),
      runs(120),
    );
  },
  minutes.timeout,
);
