import { isObject } from '../model/object.js';
import type { StoredDocument } from '../model/document.js';
import { keyOf } from '../model/task.js';
import type { Store } from '../store/store.js';

/** Jobs of a flow that may run at the same time, and those that do. */
export type Permits = { readonly most: number; readonly heldBy: readonly string[] };

/** What a job may wait for before it begins; undefined when it waits for no permit. */
export async function permitsFor(
  store: Store,
  job: StoredDocument,
  flow: StoredDocument | undefined,
): Promise<Permits | undefined> {
  const { flow_definition: snapshot, locked, slice } = job;
  const { max_running: most, name, owner } = isObject(snapshot) ? snapshot : (flow ?? {});
  const hasOne = isObject(locked) && locked['permit'] !== undefined;
  if (typeof most !== 'number' || typeof name !== 'string' || hasOne || isObject(slice)) {
    return undefined;
  }
  const key = keyOf(name, typeof owner === 'string' ? owner : undefined);
  const rows = await store.view('locks', { key: ['permit', key] });
  return { most, heldBy: rows.map(({ value }) => value.job).filter((id) => id !== job._id) };
}
