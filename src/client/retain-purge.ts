import { randomUUID } from 'node:crypto';
import {
  mostRemoved,
  removalPrefix,
  removalSchema,
  type RemovalDocument,
} from '../model/removal.js';
import { mostPurged } from '../store/purge.js';
import type { Store } from '../store/store.js';

/*
 * What becomes of the tombstones of retention.
 *
 * U40 A document is named in a removal before it is removed, so that none of its tombstones is forgotten. It is
 *     purged a day later: until then replicas and feeds learn that it is gone.
 * U41 Only a tombstone is purged. A document that is made again while it is being purged loses its rows in the
 *     views of CouchDB 3.4 (test/conformance/purge.test.ts), so it is written once more; `purging` says so to
 *     the next pass, should this one die in between.
 */

/** Tombstones stay so long, ms. */
const usualDelayMs = 86_400_000;

/** Writes down what is about to be removed. One that is not stored costs its tombstones their purge, nothing else. */
export async function noteRemoval(
  store: Store,
  ids: readonly string[],
  now: number,
): Promise<void> {
  for (let from = 0; from < ids.length; from += mostRemoved) {
    const removal: RemovalDocument = {
      _id: `${removalPrefix}${randomUUID()}`,
      type: 'removal',
      at: now,
      ids: ids.slice(from, from + mostRemoved),
    };
    await store.write(removal);
  }
}

export type PurgeOptions = {
  /** Epoch ms. */
  readonly now: number;
  /** Asked between two requests; false breaks it off. */
  readonly mayGoOn: () => Promise<boolean>;
  readonly delayMs?: number;
};

/** Purges the tombstones that are old enough; resolves with their number. May be broken off and repeated. */
export async function purgeRemoved(
  store: Store,
  { now, mayGoOn, delayMs = usualDelayMs }: PurgeOptions,
): Promise<number> {
  let purged = 0;
  for await (const doc of store.rangePages(removalPrefix)) {
    const read = removalSchema.safeParse(doc);
    if (!read.success || read.data.at > now - delayMs) continue;
    const { _id, at, ids, purging = false } = read.data;
    let removal: StoredRemoval = { _id, _rev: doc._rev, at, ids, purging };
    for (const some of partsOf(ids)) {
      if (!(await mayGoOn())) return purged;
      const done = await purgeSome(store, some, removal);
      if (done === undefined) return purged;
      removal = done.removal;
      purged += done.purged;
    }
    await endRemoval(store, removal);
  }
  return purged;
}

type StoredRemoval = {
  readonly _id: string;
  readonly _rev: string;
  readonly at: number;
  readonly ids: readonly string[];
  readonly purging: boolean;
};

function partsOf(ids: readonly string[]): readonly (readonly string[])[] {
  const parts = Math.ceil(ids.length / mostPurged);
  return Array.from({ length: parts }, (_, i) => ids.slice(i * mostPurged, (i + 1) * mostPurged));
}

/** U41. Undefined: something is left to do, for the next pass. */
async function purgeSome(
  store: Store,
  ids: readonly string[],
  removal: StoredRemoval,
): Promise<{ readonly purged: number; readonly removal: StoredRemoval } | undefined> {
  const tombstones = await store.tombstones(ids);
  if (tombstones.size === 0 && !removal.purging) return { purged: 0, removal };
  const begun = removal.purging ? removal : await begin(store, removal);
  if (begun === undefined) return undefined;
  const purged = tombstones.size === 0 ? nothing : await store.purge(tombstones);
  // Of a pass that died, nobody knows which ones were made again meanwhile.
  const mayBeHidden = (removal.purging ? ids : [...tombstones.keys()]).filter(
    (id) => !purged.has(id),
  );
  const isShown = await writeAgain(store, mayBeHidden);
  return isShown ? { purged: purged.size, removal: begun } : undefined;
}

const nothing: ReadonlySet<string> = new Set();

async function begin(store: Store, removal: StoredRemoval): Promise<StoredRemoval | undefined> {
  const { _id, _rev, at, ids } = removal;
  const result = await store.write({ ...{ _id, _rev, at, ids }, type: 'removal', purging: true });
  return result.kind === 'written' ? { ...removal, _rev: result.rev, purging: true } : undefined;
}

/** Writes those that are there as they are, so that views show them; false: not all of them. */
async function writeAgain(store: Store, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return true;
  const found = await store.getMany(ids);
  const results = await Promise.all([...found.values()].map((doc) => store.write(doc)));
  // Where somebody else was faster, it has been written.
  return results.every(({ kind }) => kind === 'written' || kind === 'conflict');
}

/** Nobody makes a document with the id of a removal again: its own tombstone need not wait. */
async function endRemoval(store: Store, { _id, _rev }: StoredRemoval): Promise<void> {
  const result = await store.remove(_id, _rev);
  if (result.kind === 'written') await store.purge(new Map([[_id, result.rev]]));
}
