import { idHash, mostFirst, placeOf } from '../../src/decide/compete/ranks.js';
import type { Peer, World } from '../../src/decide/world.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { LiveJob } from '../../src/model/job.js';
import type { LiveStep } from '../../src/model/step.js';
import { chanceFrom } from '../decide/chance.js';
import { flow, tasksOf, world } from '../support/builders.js';
import { createClock } from './clock.js';
import { SimulatedEngine } from './engine.js';
import { Findings } from './findings.js';
import type { Options } from './options.js';
import { ModelStore } from './store.js';

/** The feed reaches an engine within so many ms, which differs from engine to engine. */
const feedMs = { from: 10, to: 50 };

/** So many more engines than look at a new job are kept in its order: some of the first may be dead. */
const spare = 24;

/**
 * A store, its feed, and the engines that follow it.
 *
 * F1 Each line of the feed reaches each engine, after the delay of that engine. Of the lines about jobs
 *    only those are handed over that an engine may act upon: the others are counted. Which engines
 *    these are follows from the order of the product (`placeOf`): of the living, as many as may look at
 *    a job that was written so often. Whether and when they look they find out themselves.
 * F2 The lines about leases reach all engines.
 */
export class Installation {
  readonly options: Options;
  readonly clock = createClock();
  readonly findings: Findings;
  readonly engines: readonly SimulatedEngine[];
  readonly store: ModelStore;
  readonly unfinished = new Set<string>();
  readonly abilities: Omit<Peer, 'id'>;
  readonly definitions: Pick<World, 'flow' | 'task'>;
  sweeps = 0;
  readonly #hashes: Int32Array;
  readonly #delays: readonly number[];
  readonly #orders = new Map<string, readonly number[]>();
  readonly #chance: () => number;

  constructor(options: Options) {
    this.options = options;
    this.#chance = chanceFrom(options.seed);
    const names = Array.from({ length: options.steps }, (_, i) => `s${i}`);
    const defined = flow(names);
    const known = world({ flows: [defined], tasks: tasksOf(defined) });
    this.definitions = { flow: known.flow, task: known.task };
    this.abilities = {
      plugins: known.me.plugins,
      labels: known.me.labels,
      queues: known.me.queues,
    };
    this.store = new ModelStore(
      { rate: options.storeRate, latencyMs: options.latencyMs },
      this.clock,
      (doc) => this.#feed(doc),
    );
    this.engines = Array.from({ length: options.engines }, (_, i) => new SimulatedEngine(i, this));
    this.findings = new Findings(this);
    this.#hashes = Int32Array.from(this.engines, ({ id }) => idHash(id));
    this.#delays = this.engines.map(() => feedMs.from + this.#chance() * (feedMs.to - feedMs.from));
  }

  /** Engines that know each other renew their leases. */
  start(): void {
    const leases = this.engines.map(({ lease }) => lease);
    for (const engine of this.engines) {
      for (const lease of leases)
        if (lease._id !== engine.id) engine.peers.update(lease._id, lease);
      engine.start(this.#chance());
    }
  }

  /** Somebody stores a new job. */
  submit(id: string): void {
    this.unfinished.add(id);
    const doc = { _id: id, type: 'job', flow: 'f', owner: 'DEFAULT' } as unknown as StoredDocument;
    this.store.write([doc], () => undefined);
  }

  /** A share of the engines dies in this moment. */
  kill(share: number): void {
    const count = Math.round(this.engines.length * share);
    const alive = [...this.engines];
    for (let i = 0; i < count; i += 1) {
      const [victim] = alive.splice(Math.floor(this.#chance() * alive.length), 1);
      if (victim === undefined) return;
      this.findings.dies(victim);
      victim.die();
    }
  }

  /** How long an attempt takes, ms: the same whoever runs it. */
  lastsMs(job: LiveJob, step: LiveStep): number {
    const chance = chanceFrom(`${this.options.seed}:${job._id}:${step.path}`);
    return this.options.stepMs * (0.5 + chance());
  }

  began(engine: SimulatedEngine, job: LiveJob, step: LiveStep): void {
    this.findings.began(engine, job, step);
  }

  ended(engine: SimulatedEngine, job: LiveJob, step: LiveStep): void {
    this.findings.finishes(engine, job, step);
  }

  claimed(_engine: SimulatedEngine, claims: number, isStored: boolean): void {
    this.findings.claims += claims;
    if (!isStored) this.findings.lostClaims += claims;
  }

  buried(id: string): void {
    this.findings.buried(this.byId(id));
  }

  byId(id: string): SimulatedEngine {
    return this.engines[Number(id.replace('engine:', ''))] as SimulatedEngine;
  }

  /** The engines in their order for a job, the first ones of it; those that died are among them. */
  orderOf(id: string, most = mostFirst + spare): readonly number[] {
    const known = this.#orders.get(id);
    if (known !== undefined && known.length >= Math.min(most, this.engines.length)) return known;
    const document = idHash(id);
    const places = Float64Array.from(this.#hashes, (hash, i) => {
      return placeOf(document, hash) * 2 ** 20 + i;
    });
    const order = Array.from(lowest(places, most), (place) => place % 2 ** 20);
    this.#orders.set(id, order);
    return order;
  }

  #feed(doc: StoredDocument): void {
    const { _id: id, _rev: rev, type } = doc;
    this.findings.line(id, doc);
    if (type === 'engine') return this.#feedLease(id, rev);
    for (const engine of this.#looking(id, rev)) {
      this.clock.wait(this.#delays[engine] as number, () => this.engines[engine]?.see(id, rev));
    }
    if (doc['state'] !== '$$complete') return;
    this.unfinished.delete(id);
    this.#orders.delete(id);
  }

  /** All engines get it; as if at the same time, but its own engine in its time. */
  #feedLease(id: string, rev: string): void {
    this.clock.wait((feedMs.from + feedMs.to) / 2, () => {
      for (const engine of this.engines) {
        if (engine.diedAt === undefined) engine.seeLease(id, rev);
      }
    });
  }

  /** The engines that may look at that revision: the first of those that live (F1). */
  #looking(id: string, rev: string): readonly number[] {
    const most = Math.max(mostFirst, Number.parseInt(rev, 10));
    const isAlive = (one: number): boolean => this.engines[one]?.diedAt === undefined;
    const first = this.orderOf(id, most + spare).filter(isAlive);
    if (first.length >= most) return first.slice(0, most);
    return this.orderOf(id, this.engines.length).filter(isAlive).slice(0, most);
  }
}

/** The lowest numbers, in their order. */
function lowest(numbers: Float64Array, most: number): Float64Array {
  if (numbers.length <= most) return numbers.sort();
  const found = numbers.slice(0, most).sort();
  for (let i = most; i < numbers.length; i += 1) {
    const number = numbers[i] as number;
    if (number >= (found[most - 1] as number)) continue;
    let at = most - 1;
    while (at > 0 && (found[at - 1] as number) > number) {
      found[at] = found[at - 1] as number;
      at -= 1;
    }
    found[at] = number;
  }
  return found;
}
