import { randomUUID } from 'node:crypto';
import type { EngineDocument } from '../model/engine.js';
import { defaultQueue } from '../model/job.js';
import { queueControlId, queueWishes, type QueueControl } from '../model/queue-control.js';
import type { StoredDocument } from '../model/document.js';
import type { Problem } from '../model/problems.js';
import type { RateLimit } from '../model/rate.js';
import { readQueueControl } from '../reading/queue-control.js';
import type { Store } from '../store/store.js';
import type { NewDocument } from '../store/writer.js';
import { listEngines } from './lists.js';
import { writeDocument } from './writes.js';

/** A queue that somebody serves or controls. */
export type QueueFacts = {
  readonly name: string;
  readonly paused: boolean;
  /** Why it is paused, for people. */
  readonly reason?: string | undefined;
  /** How many attempts of its jobs begin in every window. */
  readonly rate?: RateLimit;
  /** Ids of the engines that say that they serve it; some of them may be dead. */
  readonly engines: readonly string[];
  /** Ids of the documents that control it. */
  readonly controls: readonly string[];
};

/**
 * The queues that engines serve or somebody controls, by name; always with the usual one. `known`: the documents
 * of the engines, where the caller has them.
 */
export async function listQueues(
  store: Store,
  known?: readonly EngineDocument[],
): Promise<readonly QueueFacts[]> {
  const [engines, all] = await Promise.all([known ?? listEngines(store), controls(store)]);
  const said = queueWishes(all);
  const served = engines.filter(({ state }) => state !== 'stopped');
  const of = ({ queues = [defaultQueue] }: { readonly queues?: readonly string[] }) => queues;
  const names = [...new Set([defaultQueue, ...served.flatMap(of), ...said.keys()])].sort();
  return names.map((name) => ({
    name,
    paused: said.get(name)?.paused === true,
    ...(said.get(name)?.paused === true ? { reason: said.get(name)?.reason } : {}),
    ...rateIn(said.get(name)),
    engines: served.filter((one) => of(one).includes(name)).map(({ _id }) => _id),
    controls: all.filter(({ queue }) => queue === name).map(({ _id }) => _id),
  }));
}

function rateIn(control: QueueControl | undefined): Pick<QueueFacts, 'rate'> {
  return control?.rate === undefined ? {} : { rate: control.rate };
}

/** A wish about a queue. */
export type QueueSwitch = {
  readonly queue: string;
  readonly paused: boolean;
  readonly reason?: string | undefined;
};

/**
 * Pauses a queue, or lets it go on: whatever documents pause it. Answers the names of the documents and
 * whether any was changed. @throws TwsError `document_conflict` when somebody changes one meanwhile
 */
export async function switchQueue(
  store: Store,
  { queue, paused, reason }: QueueSwitch,
): Promise<{ readonly ids: readonly string[]; readonly changed: boolean }> {
  const ofQueue = (await controlDocuments(store)).filter((doc) => doc['queue'] === queue);
  const pausing = ofQueue.filter((doc) => readQueueControl(doc).control?.paused === true);
  const ids = (docs: readonly { readonly _id: string }[]) => docs.map(({ _id }) => _id);
  if (paused === pausing.length > 0) return { ids: ids(pausing), changed: false };
  const changed = paused ? [await controlToChange(store, queue, ofQueue)] : pausing;
  for (const doc of changed) {
    const { reason: _, ...rest } = doc as StoredDocument;
    const why = paused && reason !== undefined ? { reason } : {};
    await writeDocument(store, { ...rest, type: 'queue-control', queue, paused, ...why });
  }
  return { ids: ids(changed), changed: true };
}

/** The control that is to pause a queue; a new one has the usual id, unless another document has that. */
async function controlToChange(
  store: Store,
  queue: string,
  ofQueue: readonly StoredDocument[],
): Promise<NewDocument> {
  const _id = queueControlId(queue);
  const there = ofQueue.find((doc) => doc._id === _id) ?? ofQueue[0];
  if (there !== undefined) return there;
  const isTaken = (await store.get(_id)) !== undefined;
  return { _id: isTaken ? `${_id}:${randomUUID()}` : _id };
}

/** The names of the queues that are paused. */
export async function pausedQueues(store: Store): Promise<ReadonlySet<string>> {
  const said = queueWishes(await controls(store));
  return new Set([...said.values()].filter((one) => one.paused).map(({ queue }) => queue));
}

/** What is wanted of a queue; undefined: nothing. */
export async function controlOfQueue(
  store: Store,
  queue: string,
): Promise<QueueControl | undefined> {
  return queueWishes(await controls(store)).get(queue);
}

/** The controls that have a mistake: engines follow only what they can read of one. */
export async function wrongQueueControls(
  store: Store,
): Promise<readonly { readonly id: string; readonly problems: readonly Problem[] }[]> {
  const documents = await controlDocuments(store);
  return documents
    .map((doc) => ({ id: doc._id, problems: readQueueControl(doc).problems }))
    .filter(({ problems }) => problems.length > 0);
}

async function controls(store: Store): Promise<readonly QueueControl[]> {
  const documents = await controlDocuments(store);
  return documents.flatMap((doc) => readQueueControl(doc).control ?? []);
}

/** The controls of queues as they are stored, by id; the view has those of engines and their leases, too. */
async function controlDocuments(store: Store): Promise<readonly StoredDocument[]> {
  const rows = await store.view('engines');
  const ids = rows.flatMap(({ id, value }) => (value === 'queue-control' ? [id] : []));
  const docs = ids.length === 0 ? [] : [...(await store.getMany(ids)).values()];
  return docs
    .filter((doc) => doc['type'] === 'queue-control')
    .sort((a, b) => (a._id < b._id ? -1 : 1));
}
