import type { Store } from '../store/store.js';
import { hasExpired } from './messages.js';
import { noteRemoval } from './retain-purge.js';

/** Number of events that are read and removed together, and that are counted at most. */
const together = 500;
const mostCounted = 10_000;

const expiredAt = (now: number) => ({ startKey: ['expires'], endKey: ['expires', now] });

/** How many events have expired at `now` (epoch ms), 10,000 at most. */
export async function countExpired(store: Store, now: number): Promise<number> {
  return (await rowsOf(store, now, mostCounted)).length;
}

/** A database with the views of an earlier version knows none. */
async function rowsOf(store: Store, now: number, limit: number) {
  try {
    return await store.view('triggers', { ...expiredAt(now), limit });
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'view_missing') return [];
    throw error;
  }
}

export type ExpiredOptions = {
  /** Epoch ms. */
  readonly now: number;
  /** Asked between two requests; false breaks it off. */
  readonly mayGoOn: () => Promise<boolean>;
  /** Writes down what is removed, so that its tombstones can be purged. */
  readonly isNoted: boolean;
};

/**
 * Removes the events whose life has ended, and resolves with their number. Each removal names the revision that was
 * read: an event that was announced anew meanwhile stays.
 */
export async function removeExpired(
  store: Store,
  { now, mayGoOn, isNoted }: ExpiredOptions,
): Promise<number> {
  let removed = 0;
  const kept = new Set<string>();
  while (await mayGoOn()) {
    const rows = await rowsOf(store, now, together + kept.size);
    const ids = rows.map(({ id }) => id).filter((id) => !kept.has(id));
    if (ids.length === 0) break;
    const docs = await store.getMany(ids);
    const gone = new Map<string, string>();
    await Promise.all(
      ids.map(async (id) => {
        const doc = docs.get(id);
        const isOver = doc !== undefined && hasExpired(doc, now);
        const result = isOver ? await store.remove(id, doc._rev) : undefined;
        if (result?.kind === 'written') gone.set(id, result.rev);
        else kept.add(id);
      }),
    );
    removed += gone.size;
    if (isNoted) await noteRemoval(store, gone, now);
  }
  return removed;
}
