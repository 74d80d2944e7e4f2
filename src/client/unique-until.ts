import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import type { Store } from '../store/store.js';
import type { Reason } from './reason.js';

/** Until when a job keeps others from its `unique` key by its `period`, also after its end; nothing for most jobs. */
export async function periodReason(
  store: Store,
  { _id, locked }: StoredDocument,
  now: number,
): Promise<readonly Reason[]> {
  const id = isObject(locked) ? locked['unique'] : undefined;
  const lock = typeof id === 'string' ? await store.get(id) : undefined;
  const until = lock?.['job'] === _id ? lock['until'] : undefined;
  if (typeof until !== 'number' || until <= now || Number.isNaN(new Date(until).getTime()))
    return [];
  const because = `No other job can have its "unique" key before ${new Date(until).toISOString()}.`;
  return [{ kind: 'unique_period', because, until }];
}
