import { createMemoryDatabase } from '../../src/memory/database.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { NewDocument } from '../../src/store/writer.js';
import type { Clock } from './clock.js';

export type StoreOptions = {
  /** Documents that it writes in a second. */
  readonly rate: number;
  /** Time of a request beside the work of the store, ms. */
  readonly latencyMs: number;
};

/** What was stored; undefined: somebody else has written that revision's successor. */
export type Stored = StoredDocument | undefined;

/** Called for each document that is stored: it is a line of the feed. */
export type OnLine = (doc: StoredDocument) => void;

/**
 * The database in memory, as a server of limited speed that keeps one copy of each document.
 *
 * W1 It writes so many documents a second, one after the other, in the order in which requests arrive.
 * W2 A document is stored if its `_rev` is the one that is stored, or both have none; else it is not.
 * W3 Answers take the latency of a request beside that. Reads take only that, and are counted.
 */
export class ModelStore {
  writes = 0;
  conflicts = 0;
  requests = 0;
  reads = 0;
  busyMs = 0;
  readonly #database = createMemoryDatabase();
  readonly #options: StoreOptions;
  readonly #clock: Clock;
  readonly #onLine: OnLine;
  #freeAt = 0;

  constructor(options: StoreOptions, clock: Clock, onLine: OnLine) {
    this.#options = options;
    this.#clock = clock;
    this.#onLine = onLine;
  }

  write(docs: readonly StoredDocument[], answered: (stored: readonly Stored[]) => void): void {
    const { rate, latencyMs } = this.#options;
    const now = this.#clock.now();
    const workMs = (docs.length * 1_000) / rate;
    this.busyMs += workMs;
    this.#freeAt = Math.max(this.#freeAt, now + latencyMs / 2) + workMs;
    this.#clock.wait(this.#freeAt - now, () => {
      const stored = docs.map((doc) => this.#put(doc));
      this.#clock.wait(latencyMs / 2, () => answered(stored));
    });
  }

  read(ids: readonly string[], found: (docs: Map<string, StoredDocument>) => void): void {
    this.requests += 1;
    this.reads += ids.length;
    this.#clock.wait(this.#options.latencyMs, () => {
      found(new Map(ids.flatMap((id) => this.#database.get(id) ?? []).map((it) => [it._id, it])));
    });
  }

  #put(doc: StoredDocument): Stored {
    const result = this.#database.write(kept(doc));
    if (result.kind !== 'written') {
      this.conflicts += 1;
      return undefined;
    }
    this.writes += 1;
    const stored = { ...doc, _rev: result.rev };
    this.#onLine(stored);
    return stored;
  }
}

/** Nobody reads the steps of a job that has ended: thousands of them stay small. */
function kept(doc: StoredDocument): NewDocument {
  const { _id, _rev, type, state, exit } = doc;
  return state === '$$complete' ? { _id, _rev, type, state, exit, steps: [] } : doc;
}
