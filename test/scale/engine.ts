import { decide } from '../../src/decide/decide.js';
import { leftToOthersMs, sweepsIn } from '../../src/decide/compete/ranks.js';
import { quickCheck } from '../../src/decide/compete/quick-check.js';
import { carrying, settle, type Writing } from '../../src/decide/finish/settle.js';
import type { Intent } from '../../src/decide/intent.js';
import { unknownWorld, type Peer, type World } from '../../src/decide/world.js';
import {
  createFetcher,
  type Delay,
  type Fetcher,
  type SeenRevision,
} from '../../src/engine/loop/fetch.js';
import { createPeers, type Peers } from '../../src/engine/peers/peers.js';
import { createTimers, type Timers } from '../../src/engine/waiting/timers.js';
import { createCount, createWaitQueue, inLineOf } from '../../src/engine/waiting/wait-queue.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { EngineDocument } from '../../src/model/engine.js';
import { isFinal, isLiveJob, type Job, type LiveJob } from '../../src/model/job.js';
import type { LiveStep } from '../../src/model/step.js';
import { Attempts } from './attempts.js';
import type { Installation } from './installation.js';
import type { Stored } from './store.js';

const none: ReadonlySet<string> = new Set();

/** A document to store, and what to do with the answer. */
type Write = { readonly doc: StoredDocument; readonly answered: (stored: Stored) => void };

/**
 * One engine of the simulation. Every rule is the product's: which changes it reads, in which turn it
 * acts, what it decides, whom it takes for dead, whose turn a slot is. Only the carrying out is modelled:
 * writes of one request at a time, attempts that take their time.
 */
export class SimulatedEngine {
  readonly id: string;
  readonly peers: Peers;
  readonly attempts: Attempts;
  /** Since when it is dead, epoch ms. */
  diedAt: number | undefined;
  /** Leases that it has read. */
  leasesRead = 0;
  readonly #in: Installation;
  readonly #self: Peer;
  readonly #fetcher: Fetcher;
  readonly #timers: Timers;
  readonly #queue: ReturnType<typeof createWaitQueue>;
  readonly #seen = new Map<string, { rev: string; at: number }>();
  /** Jobs that something is under way about; true: a newer revision came meanwhile. */
  readonly #busy = new Map<string, boolean>();
  readonly #writes: Write[] = [];
  #isWriting = false;
  #nonces = 0;
  #beat = 0;
  #leaseRev: string | undefined;

  constructor(number: number, installation: Installation) {
    const { clock, options, abilities } = installation;
    const count = createCount();
    this.#in = installation;
    this.id = `engine:${number}`;
    this.#self = { id: this.id, ...abilities };
    this.attempts = new Attempts(options.slots);
    this.#queue = createWaitQueue(count);
    this.peers = createPeers(this.id, options.leaseMs, clock.now);
    this.#timers = createTimers((id) => this.#wake(id), clock.now, clock.wait);
    this.#fetcher = createFetcher({
      read: (ids) => this.#readMany(ids),
      isKnown: (seen) => this.#isKnown(seen),
      delayOf: (seen) => this.#delayOf(seen),
      isFull: () => this.#queue.tickets.size > 0 || this.attempts.free() === 0,
      take: (doc, at) => this.#take(doc, at),
      room: () => Promise.resolve(),
      now: clock.now,
      ...{ wait: clock.wait, turn: clock.turn },
    });
  }

  /** The document of this engine, which its renewal stores. */
  get lease(): EngineDocument {
    const { plugins, labels, queues } = this.#self;
    const { slots, renewMs } = this.#in.options;
    return {
      ...{ _id: this.id, type: 'engine', host: 'h', pid: 1, version: '0', slots, started: 0 },
      ...{ plugins: [...plugins], labels: [...labels], queues: [...queues] },
      ...{ renew_ms: renewMs, beat: (this.#beat += 1), state: 'running' },
    };
  }

  /** Renews the lease, looks for the dead and sweeps, each at its own time. */
  start(phase: number): void {
    const { renewMs, sweepMs } = this.#in.options;
    // As if it had renewed its lease before, at its own pace.
    this.#every(renewMs, (0.7 + 0.8 * phase) * renewMs, () => {
      const doc = this.lease as unknown as StoredDocument;
      const rev = this.#leaseRev === undefined ? {} : { _rev: this.#leaseRev };
      this.#in.store.write([{ ...doc, ...rev }], ([stored]) => (this.#leaseRev = stored?._rev));
    });
    this.#every(1_000, phase * 1_000, () => this.#bury());
    let round = Math.floor(phase * 1_000);
    this.#every(sweepMs, phase * sweepMs, () => {
      if (!sweepsIn((round += 1), this.#self, this.peers.alive)) return;
      const ids = [...this.#in.unfinished];
      this.#in.sweeps += 1;
      for (const id of ids) this.#wake(id);
    });
  }

  /** From now on it does nothing any more. */
  die(): void {
    this.diedAt = this.#in.clock.now();
    this.#fetcher.stop();
    this.#timers.stop();
  }

  /** A line of the feed about a job that this engine may have to look at. */
  see(id: string, rev: string): void {
    if (this.diedAt !== undefined) return;
    const seen = { id, rev, at: this.#in.clock.now() };
    if (this.#isKnown(seen)) return;
    if (this.#busy.has(id)) return void this.#busy.set(id, true);
    if (this.#queue.tickets.has(id)) this.#queue.leave(id);
    this.#fetcher.saw(seen);
  }

  /** A line of the feed about the lease of an engine. */
  seeLease(id: string, rev: string): void {
    if (id === this.id) return this.peers.update(id, undefined);
    if (!this.peers.moved(id, rev)) return;
    this.#fetcher.saw({ id, rev, at: this.#in.clock.now() });
  }

  #delayOf(seen: SeenRevision): Delay {
    if (this.attempts.ofJob.has(seen.id)) return { ms: 0, for: 'more' };
    if (seen.id.startsWith('engine:')) return { ms: this.#in.options.renewMs / 20, for: 'more' };
    return { ms: leftToOthersMs(seen, this.#self, this.peers.alive), for: 'others' };
  }

  #isKnown({ id, rev }: SeenRevision): boolean {
    const known = this.#seen.get(id)?.rev;
    return known !== undefined && Number.parseInt(known, 10) >= Number.parseInt(rev, 10);
  }

  #readMany(ids: readonly string[]): Promise<ReadonlyMap<string, StoredDocument>> {
    const leases = ids.filter((id) => id.startsWith('engine:')).length;
    this.leasesRead += leases;
    return new Promise((resolve) => {
      this.#in.store.read(ids, (found) => {
        this.#in.clock.settle();
        resolve(found);
      });
    });
  }

  #take(doc: StoredDocument, at: number): void {
    if (this.diedAt !== undefined) return;
    if (doc['type'] === 'engine')
      return this.peers.update(doc._id, doc as unknown as EngineDocument);
    if (this.#isKnown({ id: doc._id, rev: doc._rev, at })) return;
    this.#seen.set(doc._id, { rev: doc._rev, at });
    this.#consider(doc);
  }

  /** Takes up what the dead had in hand. */
  #bury(): void {
    const died = this.peers.died();
    for (const engine of died) {
      this.#in.buried(engine);
      this.#queue.takeOf(engine).forEach((id) => this.#rouse(id));
    }
    if (died.length === 0) return;
    this.#queue.waiting().forEach((id) => this.#rouse(id));
    this.#fetcher.hurry();
  }

  #rouse(id: string): void {
    const seen = this.#seen.get(id);
    if (seen !== undefined) seen.at = this.#in.clock.now();
    this.#wake(id);
  }

  /** Reads a job anew and considers it. */
  #wake(id: string, done = (): void => undefined): void {
    if (this.#busy.has(id)) {
      this.#busy.set(id, true);
      return done();
    }
    this.#busy.set(id, false);
    this.#in.store.read([id], (found) => {
      if (this.diedAt !== undefined) return;
      this.#busy.delete(id);
      const doc = found.get(id);
      if (doc !== undefined) {
        if (this.#seen.get(id)?.rev !== doc._rev) {
          this.#seen.set(id, { rev: doc._rev, at: this.#in.clock.now() });
        }
        this.#consider(doc);
      }
      done();
    });
  }

  #consider(doc: StoredDocument): void {
    if (this.#busy.has(doc._id)) return void this.#busy.set(doc._id, true);
    const { clock } = this.#in;
    if (this.#timers.due.has(doc._id)) this.#timers.clear(doc._id);
    const seenAt = this.#seen.get(doc._id)?.at ?? clock.now();
    const me = { ...this.#self, freeSlots: this.attempts.free(), running: this.attempts.claims };
    const seen = quickCheck(doc, clock.now(), { me, peers: this.peers.alive, seenAt });
    switch (seen.kind) {
      case 'final':
        return this.#leave(doc._id);
      case 'here':
        return;
      case 'elsewhere':
        this.#queue.leave(doc._id);
        return this.#queue.watch(doc._id, [seen.engine]);
      case 'later':
        return this.#waitUntil(doc._id, seen.until);
      case 'no_slot':
        return this.#queue.forSlot(inLineOf(doc), seen.rank);
      case 'unclear':
        return this.#do(
          doc as Job,
          decide(doc as Job, clock.now(), this.#world(doc as Job, seenAt)),
        );
    }
  }

  #leave(id: string): void {
    this.#queue.leave(id);
    this.#seen.delete(id);
  }

  #waitUntil(id: string, until: number): void {
    this.#queue.forChange(id);
    this.#timers.set(id, until);
  }

  #do(job: Job, intent: Intent): void {
    switch (intent.kind) {
      case 'ignore':
        return this.#leave(job._id);
      case 'wait':
        if (intent.for === 'slot') this.#queue.forSlot(inLineOf(job), intent.rank ?? 0);
        else this.#waitUntil(job._id, intent.until ?? Infinity);
        return;
      case 'claim':
      case 'write':
        return this.#write(intent);
      case 'abort':
      case 'acquire':
      case 'look_up':
      case 'spawn':
        throw new Error(`The simulation knows no jobs that ${intent.kind}.`);
    }
  }

  /** Stores what was decided; `ended`: the claim whose outcome is in it. */
  #write(writing: Writing, ended?: LiveStep): void {
    const { job } = writing;
    const claims = writing.kind === 'claim' ? writing.steps : [];
    this.#queue.leave(job._id);
    this.#busy.set(job._id, false);
    this.attempts.take(job as LiveJob, claims);
    const answered = (stored: Stored): void => {
      const isOld = this.#busy.get(job._id) === true;
      this.#busy.delete(job._id);
      this.#in.claimed(this, claims.length, stored !== undefined);
      if (stored === undefined) {
        for (const { claim } of claims) this.attempts.release(job._id, claim);
        if (ended !== undefined) return this.#settleAnew(job._id, ended);
        return isOld ? this.#wake(job._id) : this.#fillSlots();
      }
      if (ended !== undefined) this.attempts.release(job._id, ended.claim);
      const now = { ...job, _rev: stored._rev } as Job;
      if (isFinal(now)) this.#leave(job._id);
      else {
        this.#seen.set(job._id, { rev: stored._rev, at: this.#in.clock.now() });
        for (const step of claims) this.#begin(now as LiveJob, step);
        if (claims.length === 0) this.#consider(now);
      }
      this.#fillSlots();
    };
    this.#writes.push({ doc: job, answered });
    this.#flush();
  }

  /** What comes while a request is under way is the next one. */
  #flush(): void {
    if (this.#isWriting || this.#writes.length === 0) return;
    this.#isWriting = true;
    const batch = this.#writes.splice(0);
    this.#in.store.write(
      batch.map(({ doc }) => doc),
      (stored) => {
        this.#isWriting = false;
        if (this.diedAt !== undefined) return;
        batch.forEach(({ answered }, i) => answered(stored[i]));
        this.#flush();
      },
    );
  }

  #begin(job: LiveJob, step: LiveStep): void {
    const { clock } = this.#in;
    this.#in.began(this, job, step);
    clock.wait(this.#in.lastsMs(job, step), () => {
      if (this.diedAt !== undefined) return;
      this.#in.ended(this, job, step);
      this.#settle(job, step);
    });
  }

  #settle(read: Job, step: LiveStep): void {
    const now = this.#in.clock.now();
    const settled = settle(
      read,
      { schema: unknownWorld.schema, claim: step.claim, outcome: { kind: 'done' } },
      now,
    );
    if (settled.kind === 'fenced') {
      this.attempts.release(read._id, step.claim);
      return this.#fillSlots();
    }
    const world = this.#world(settled.job, -Infinity, [step.claim]);
    const intent = decide(settled.job, now, world);
    if (intent.kind === 'look_up' || intent.kind === 'acquire') throw new Error(intent.kind);
    this.#write(carrying(settled.job, intent), step);
  }

  /** Somebody else has written the job: the outcome is settled upon that. */
  #settleAnew(id: string, step: LiveStep): void {
    this.#busy.set(id, false);
    this.#in.store.read([id], (found) => {
      if (this.diedAt !== undefined) return;
      this.#busy.delete(id);
      const doc = found.get(id) as Job | undefined;
      if (doc !== undefined && isLiveJob(doc)) this.#settle(doc, step);
      else this.attempts.release(id, step.claim);
    });
  }

  #fillSlots(): void {
    if (this.#queue.tickets.size === 0) return this.#fetcher.hurry(this.#in.options.slots);
    if (this.attempts.free() <= this.#queue.called.size) return;
    const id = this.#queue.nextForSlot(this.attempts);
    if (id === undefined) return;
    this.#wake(id, () => {
      this.#queue.answered(id);
      this.#fillSlots();
    });
  }

  #world(job: Job, seenAt: number, ended: readonly string[] = []): World {
    const free = this.attempts.free(ended);
    const of = (wanted: number): number =>
      this.#queue.slotsFor(inLineOf(job), { free, wanted }, this.attempts);
    return {
      ...unknownWorld,
      ...{ seenAt, peers: this.peers.alive, lease: this.peers.lease, ...this.#in.definitions },
      nonce: `${this.id}:${(this.#nonces += 1)}`,
      me: {
        ...unknownWorld.me,
        ...{ ...this.#self, pid: 1, freeSlots: free },
        share: (wanted) =>
          this.#queue.tickets.size + this.#queue.called.size === 0 ? wanted : of(wanted),
        running:
          ended.length === 0
            ? this.attempts.claims
            : new Set([...this.attempts.claims].filter((claim) => !ended.includes(claim))),
        stopping: none,
      },
    };
  }

  #every(ms: number, first: number, duty: () => void): void {
    const again = (): void => {
      if (this.diedAt !== undefined) return;
      duty();
      this.#in.clock.wait(ms, again);
    };
    this.#in.clock.wait(first, again);
  }
}
