import { queueWishes, type QueueControl } from '../model/queue-control.js';
import { readQueueControl } from '../reading/queue-control.js';
import type { Store } from '../store/store.js';

/*
 * What every request for work depends on and people rarely change. While a feed is followed it is kept, see
 * `KeptAnswers`.
 */

/** What is wanted of queues, and whether somebody may have to be told of ends. */
export type WorkControls = {
  readonly queues: ReadonlyMap<string, QueueControl>;
  readonly tells: boolean;
  /** Of the documents that say so. */
  readonly ids: readonly string[];
};

/** Reads the controls of queues, and whether there are notify lists. */
export async function readControls(store: Store): Promise<WorkControls> {
  return store.kept.answer('controls', {
    read: () => controlsIn(store),
    madeOf: ({ ids }) => ids,
  });
}

async function controlsIn(store: Store): Promise<WorkControls> {
  const rows = await store.view('engines');
  const idsOf = (kind: string) => rows.flatMap(({ id, value }) => (value === kind ? [id] : []));
  const [ids, lists] = [idsOf('queue-control'), idsOf('notify')];
  const docs = ids.length === 0 ? [] : [...(await store.getMany(ids)).values()];
  const read = docs
    .filter((doc) => doc['type'] === 'queue-control')
    .toSorted((a, b) => (a._id < b._id ? -1 : 1))
    .flatMap((doc) => readQueueControl(doc).control ?? []);
  return { queues: queueWishes(read), tells: lists.length > 0, ids: [...ids, ...lists] };
}
