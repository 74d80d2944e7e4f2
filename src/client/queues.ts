import { defaultQueue } from '../model/job.js';
import { isObject } from '../model/object.js';
import { queueControlId, queueWishes, type QueueControl } from '../model/queue-control.js';
import type { StoredDocument } from '../model/document.js';
import { parseDocument } from '../reading/parse.js';
import type { Store } from '../store/store.js';
import { listEngines } from './lists.js';
import { writeDocument } from './writes.js';

/** A queue that somebody serves or controls. */
export type QueueFacts = {
  readonly name: string;
  readonly paused: boolean;
  /** Why it is paused, for people. */
  readonly reason?: string | undefined;
  /** Ids of the engines that say that they serve it; some of them may be dead. */
  readonly engines: readonly string[];
  /** Ids of the documents that control it. */
  readonly controls: readonly string[];
};

/** The queues that engines serve or somebody controls, by name; always with the usual one. */
export async function listQueues(store: Store): Promise<readonly QueueFacts[]> {
  const [engines, controls] = await Promise.all([listEngines(store), validControls(store)]);
  const said = queueWishes(controls);
  const served = engines.filter(({ state }) => state !== 'stopped');
  const of = ({ queues = [defaultQueue] }: { readonly queues?: readonly string[] }) => queues;
  const names = [...new Set([defaultQueue, ...served.flatMap(of), ...said.keys()])].sort();
  return names.map((name) => ({
    name,
    paused: said.get(name)?.paused === true,
    ...(said.get(name)?.paused === true ? { reason: said.get(name)?.reason } : {}),
    engines: served.filter((one) => of(one).includes(name)).map(({ _id }) => _id),
    controls: controls.filter(({ queue }) => queue === name).map(({ _id }) => _id),
  }));
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
  const documents = await controlDocuments(store);
  const ofQueue = documents.filter((doc) => doc['queue'] === queue);
  const pausing = ofQueue.filter((doc) => doc['paused'] === true);
  const ids = (docs: readonly { readonly _id: string }[]) => docs.map(({ _id }) => _id);
  if (paused === pausing.length > 0) return { ids: ids(pausing), changed: false };
  const _id = queueControlId(queue);
  // Another document may have that id.
  const there = ofQueue.find((doc) => doc._id === _id) ?? ofQueue[0] ?? { _id };
  const changed = paused ? [there] : pausing;
  for (const doc of changed) {
    const { reason: _, ...rest } = doc as StoredDocument;
    const why = paused && reason !== undefined ? { reason } : {};
    await writeDocument(store, { ...rest, type: 'queue-control', queue, paused, ...why });
  }
  return { ids: ids(changed), changed: true };
}

/** The names of the queues that are paused. */
export async function pausedQueues(store: Store): Promise<ReadonlySet<string>> {
  const said = queueWishes(await validControls(store));
  return new Set([...said.values()].filter((one) => one.paused).map(({ queue }) => queue));
}

/** What is wanted of a queue; undefined: nothing. */
export async function controlOfQueue(
  store: Store,
  queue: string,
): Promise<QueueControl | undefined> {
  return queueWishes(await validControls(store)).get(queue);
}

/** The queue of a job document of any form; `flow`: its flow as it is stored. */
export function queueOfStored(
  { queue, flow_definition: copied, parent }: StoredDocument,
  flow: StoredDocument | undefined,
): string {
  const places = [
    { queue },
    isObject(copied) ? copied : flow,
    isObject(parent) ? parent : undefined,
  ];
  const names = places.map((place) => place?.['queue']);
  return names.find((name): name is string => typeof name === 'string') ?? defaultQueue;
}

async function validControls(store: Store): Promise<readonly QueueControl[]> {
  const documents = await controlDocuments(store);
  return documents.flatMap((doc) => {
    const parsed = parseDocument(doc);
    return parsed.kind === 'queue-control' && parsed.ok ? [parsed.value] : [];
  });
}

/** The controls of queues as they are stored, by id. */
export async function controlDocuments(store: Store): Promise<readonly StoredDocument[]> {
  const rows = await store.view('engines', { includeDocs: true });
  const docs = rows.flatMap(({ doc }) => doc ?? []);
  return docs
    .filter((doc) => doc['type'] === 'queue-control')
    .sort((a, b) => (a._id < b._id ? -1 : 1));
}
