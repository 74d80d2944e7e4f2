import { systemClock } from '../../../src/clock/clock.js';
import { createLogOnce, type Log } from '../../../src/engine/log.js';
import { createParsedJobs, createSerializer } from '../../../src/engine/loop/serializer.js';
import type { WriteParts } from '../../../src/engine/loop/write-job.js';
import { createRetry } from '../../../src/engine/retry.js';
import { createReplicas } from '../../../src/replicas/replicas.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { LiveStep } from '../../../src/model/step.js';
import type { WriteResult } from '../../../src/store/batch.js';
import { t0 } from '../../support/builders.js';

/**
 * How the store answers a write: `unheard` stores it and says 202, `unknown` does neither, `throws`
 * breaks. Without an answer of the test a write is a compare-and-set.
 */
export type Answer = 'unheard' | 'unknown' | 'conflict' | 'refused' | 'throws';

type Draft = Readonly<Record<string, unknown>> & { readonly _id: string };

/** A store of one copy, or more that agree, in memory. */
export class FakeStore {
  readonly docs = new Map<string, StoredDocument>();
  /** What was asked to be written, in order. */
  readonly writes: Draft[] = [];
  readonly limits: (number | undefined)[] = [];
  /** Called before a write is answered. */
  onWrite: (doc: Draft) => void = () => undefined;
  reads = 0;
  readonly #answers: { readonly id: string; readonly answer: Answer }[] = [];
  readonly #copies: number;

  constructor(docs: readonly StoredDocument[], copies: number) {
    for (const doc of docs) this.docs.set(doc._id, doc);
    this.#copies = copies;
  }

  /** Answers the next writes of a document so. */
  answer(id: string, ...answers: readonly Answer[]): this {
    for (const answer of answers) this.#answers.push({ id, answer });
    return this;
  }

  readonly get = async (id: string): Promise<StoredDocument | undefined> => {
    this.reads += 1;
    return this.docs.get(id);
  };

  readonly leaves = async (id: string): Promise<readonly StoredDocument[]> => {
    const doc = await this.get(id);
    return doc === undefined ? [] : [doc];
  };

  readonly attachment = async (): Promise<undefined> => undefined;

  readonly view = async (): Promise<readonly never[]> => [];

  readonly write = async (doc: Draft, mostBytes?: number): Promise<WriteResult> => {
    this.writes.push(doc);
    this.limits.push(mostBytes);
    this.onWrite(doc);
    const at = this.#answers.findIndex(({ id }) => id === doc._id);
    const [given] = at < 0 ? [] : this.#answers.splice(at, 1);
    switch (given?.answer) {
      case 'throws':
        throw new RangeError('no memory');
      case 'conflict':
        return { kind: 'conflict' };
      case 'refused':
        return { kind: 'refused', reason: 'No.' };
      case 'unknown':
        return { kind: 'unknown', cause: 'no answer' };
      case 'unheard':
        return this.#store(doc) ?? { kind: 'unknown', cause: '202' };
      case undefined:
        return this.#store(doc) ?? { kind: 'written', rev: String(this.docs.get(doc._id)?._rev) };
    }
  };

  #store(doc: Draft): WriteResult | undefined {
    const rev = this.docs.get(doc._id)?._rev;
    if (rev !== doc['_rev']) return { kind: 'conflict' };
    const next = `${Number.parseInt(rev ?? '0', 10) + 1}-${this.#copies}`;
    this.docs.set(doc._id, { ...doc, _rev: next });
    return undefined;
  }
}

/** What is to be there, and how many copies of it. */
export type Given = { readonly docs?: readonly StoredDocument[]; readonly copies?: number };

/**
 * The parts of an engine that write jobs, with a store in memory and a clock that stands still; `seen`
 * is what they did, in order.
 */
export function writeParts({ docs = [], copies = 1 }: Given = {}) {
  const store = new FakeStore(docs, copies);
  const seen: string[] = [];
  const lines: string[] = [];
  const life = new AbortController();
  const say =
    (level: string) =>
    (_about: object, message: string): void =>
      void lines.push(`${level}: ${message}`);
  const log = Object.fromEntries(
    ['debug', 'info', 'warn', 'error'].map((level) => [level, say(level)]),
  ) as unknown as Log;
  const once = createLogOnce(log);
  const retry = createRetry({ signal: life.signal, report: (reason) => say('warn')({}, reason) });
  const serializer = createSerializer(
    (id, error) => say('error')({}, `${id}: ${String(error)}`),
    () => t0,
  );
  const running = new Set<string>();
  const named = (steps: readonly LiveStep[]): string => steps.map(({ claim }) => claim).join();
  const attempts = {
    claims: { has: () => true },
    ofJob: { get: () => running, has: () => running.size > 0 },
    reserve: () => true,
    withdraw: (steps: readonly LiveStep[], ended: readonly string[] = []) => {
      if (steps.length + ended.length > 0) seen.push(`withdraw ${named(steps)}/${ended.join()}`);
    },
    release: (claim: string) => void seen.push(`release ${claim}`),
    start: (_job: unknown, { claim }: LiveStep) => void seen.push(`start ${claim}`),
    stop: (claim: string, reason: string) => void seen.push(`stop ${claim} ${reason}`),
  };
  const replicas = createReplicas({
    ...{ me: 'me', store, retry, log, once, life: life.signal, patienceMs: 60_000 },
    claimsOf: () => [...running],
    onRead: () => undefined,
    lease: () => 'alive' as const,
    giveUp: async () => [],
  });
  replicas.setCount(copies);
  store.onWrite = ({ _id, _rev = 'new' }) => void seen.push(`write ${_id} on ${String(_rev)}`);
  const parts = {
    ...{ store, retry, life, log, once, serializer, attempts, replicas, now: () => t0 },
    clock: systemClock,
    parsedJobs: createParsedJobs(),
    documentLimit: { bytes: 1_000_000 },
    rates: { concerned: new Set() },
    notifications: {
      make: async (makes: readonly { readonly _id: string }[] = []) => {
        for (const { _id } of makes) seen.push(`make ${_id}`);
      },
      ofEnd: async (_doc: unknown, ended: unknown) => ended,
    },
    locks: {
      adopt: ({ _id }: StoredDocument) => void seen.push(`adopt the locks of ${_id}`),
      release: async ({ _id }: StoredDocument) => void seen.push(`release the locks of ${_id}`),
      releaseSteps: async () => undefined,
    },
  } as unknown as WriteParts;
  return { parts, store, seen, lines, life, running };
}
