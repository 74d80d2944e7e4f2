import { problem } from '../errors.js';
import {
  workerGoneMs,
  workerId,
  workerSchema,
  type WorkerDocument,
  type WorkerWish,
} from '../model/worker.js';
import type { Store } from '../store/store.js';
import { writeDocument } from './writes.js';

/** What a heartbeat tells of a worker. */
export type WorkerFacts = { readonly worker: string } & {
  readonly [K in 'state' | 'hostname' | 'pid' | 'queues' | 'concurrency' | 'labels' | 'active']?:
    WorkerDocument[K] | undefined;
};

/** A heartbeat is written when the last one that was is so old, ms. */
const writtenEveryMs = 15_000;
/** Workers that were not heard for so long are forgotten, ms. */
const forgottenMs = 86_400_000;

/**
 * Keeps what a worker tells of itself, and returns what people want of it; undefined: it works on. What is
 * not stored now comes with the next heartbeat.
 */
export async function hearWorker(
  store: Store,
  { worker, ...facts }: WorkerFacts,
  now: number,
): Promise<WorkerWish | undefined> {
  const _id = workerId(worker);
  const stored = await store.get(_id);
  const known = stored === undefined ? undefined : readWorker(stored);
  if (stored !== undefined && stored['type'] !== 'worker') return undefined;
  const isOld = known === undefined || now - known.seen >= writtenEveryMs;
  if (isOld) {
    const kept = Object.entries(facts).filter(([, value]) => value !== undefined);
    await store.write({
      ...(stored ?? { _id }),
      ...{ type: 'worker', worker, seen: now },
      ...Object.fromEntries(kept),
    });
    if (stored === undefined) await forgetOld(store, now);
  }
  return known?.wanted;
}

async function forgetOld(store: Store, now: number): Promise<void> {
  for await (const doc of store.rangePages('worker:')) {
    const { seen } = readWorker(doc) ?? {};
    if (seen !== undefined && seen < now - forgottenMs) await store.remove(doc._id, doc._rev);
  }
}

function readWorker(doc: Readonly<Record<string, unknown>>): WorkerDocument | undefined {
  const read = workerSchema.safeParse(doc);
  return read.success ? read.data : undefined;
}

/** The workers that gave heartbeats, by name. `alive`: one came within a minute. */
export async function listWorkers(
  store: Store,
  now: number,
): Promise<readonly (WorkerDocument & { readonly alive: boolean })[]> {
  const workers: (WorkerDocument & { readonly alive: boolean })[] = [];
  for await (const doc of store.rangePages('worker:')) {
    const worker = readWorker(doc);
    if (worker !== undefined) workers.push({ ...worker, alive: now - worker.seen < workerGoneMs });
  }
  return workers;
}

/**
 * Tells a worker something; undefined: to work again. It hears that with its next heartbeat.
 * @throws TwsError `document_missing`, `document_conflict`
 */
export async function tellWorker(
  store: Store,
  id: string,
  wanted: WorkerWish | undefined,
): Promise<{ readonly id: string; readonly changed: boolean }> {
  const doc = await store.get(id);
  if (doc?.['type'] !== 'worker') throw problem('document_missing', { id });
  if (doc['wanted'] === wanted) return { id, changed: false };
  const { wanted: _wanted, ...rest } = doc;
  await writeDocument(store, { ...rest, ...(wanted === undefined ? {} : { wanted }) });
  return { id, changed: true };
}
