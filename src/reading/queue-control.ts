import type { StoredDocument } from '../model/document.js';
import type { Problem } from '../model/problems.js';
import { queueControlSchema, type QueueControl } from '../model/queue-control.js';
import { parseDocument } from './parse.js';

/** What a control says of its queue, and what is wrong with it. */
export type QueueControlRead = {
  readonly control?: QueueControl;
  readonly problems: readonly Problem[];
};

const ofQueue = queueControlSchema.pick({ queue: true });
const limiting = queueControlSchema.pick({ rate: true });

/**
 * Reads the control of a queue, for engines and clients alike. One that is not valid still pauses its queue as long
 * as its `queue` can be read and `paused` is true, and limits it as long as its `rate` can be read: a mistyped
 * reason starts nothing.
 */
export function readQueueControl(doc: StoredDocument): QueueControlRead {
  // Engines write what is wrong into it.
  const { problems: _, ...rest } = doc;
  const parsed = parseDocument(rest);
  if (parsed.kind !== 'queue-control') return { problems: [] };
  if (parsed.ok) return { control: parsed.value, problems: [] };
  const { problems } = parsed;
  const { data } = ofQueue.safeParse(rest);
  const rate = limiting.safeParse(rest).data?.rate;
  const isPaused = doc['paused'] === true;
  if (data === undefined || (!isPaused && rate === undefined)) return { problems };
  const control: QueueControl = {
    ...{ _id: doc._id, type: 'queue-control', queue: data.queue },
    ...(isPaused ? { paused: true } : {}),
    ...(rate === undefined ? {} : { rate }),
  };
  return { control, problems };
}
