import { randomUUID } from 'node:crypto';
import type { StoredDocument } from '../model/document.js';
import {
  mostRemoved,
  removalPrefix,
  removalSchema,
  type RemovalDocument,
} from '../model/removal.js';
import { mostPurged, type Tombstones } from '../store/purge.js';
import type { Store } from '../store/store.js';

/*
 * The tombstones of retention.
 *
 * U40 A tombstone is purged a day after it was made, so that replicas and feeds learn of it. What a pass that
 *     died had not written down yet stays for good: a few bytes for each document.
 * U41 A document that is made again while its tombstone is being purged loses its rows in the views of
 *     CouchDB 3.4 (test/conformance/purge.test.ts), so it is written once more; `purging` says so to the next
 *     pass, should this one die in between.
 */

/** Tombstones stay for this long, ms. */
const usualDelayMs = 86_400_000;

/** Writes down what was removed. Where that is not stored, the tombstones stay for good (U40). */
export async function noteRemoval(
  store: Store,
  tombstones: Tombstones,
  now: number,
): Promise<void> {
  for (const some of partsOf(tombstones, mostRemoved)) {
    const removal: RemovalDocument = {
      _id: `${removalPrefix}${randomUUID()}`,
      type: 'removal',
      at: now,
      tombstones: Object.fromEntries(some),
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

/**
 * Purges the tombstones that are old enough; resolves with their number. May be broken off and repeated. The
 * tombstones of the removals themselves are purged in the same way, a day later; those of the last ones stay.
 */
export async function purgeRemoved(store: Store, options: PurgeOptions): Promise<number> {
  const ended = new Map<string, string>();
  let purged = 0;
  for await (const removal of dueRemovals(store, options)) {
    const done = await purgeAll(store, removal, options.mayGoOn);
    purged += done.purged;
    if (done.removal === undefined) break;
    const { doc } = done.removal;
    const result = await store.remove(doc._id, doc._rev);
    const isOfRemovals = [...removal.tombstones.keys()].every((id) => id.startsWith(removalPrefix));
    if (result.kind === 'written' && !isOfRemovals) ended.set(doc._id, result.rev);
  }
  if (ended.size > 0) await noteRemoval(store, ended, options.now);
  return purged;
}

/** Whether anything that was removed may have tombstones that are still to be purged. */
export async function hasRemovals(store: Store): Promise<boolean> {
  for await (const doc of store.rangePages(removalPrefix)) {
    if (removalSchema.safeParse(doc).success) return true;
  }
  return false;
}

type Removal = {
  readonly doc: StoredDocument;
  readonly tombstones: Tombstones;
  readonly purging: boolean;
};

async function* dueRemovals(
  store: Store,
  { now, delayMs = usualDelayMs }: PurgeOptions,
): AsyncGenerator<Removal, void, undefined> {
  for await (const doc of store.rangePages(removalPrefix)) {
    const { data } = removalSchema.safeParse(doc);
    if (data === undefined || data.at > now - delayMs) continue;
    const { tombstones, purging = false } = data;
    yield { doc, tombstones: new Map(Object.entries(tombstones)), purging };
  }
}

/** What was purged of a removal; without `removal` something is left to do, for the next pass. */
type Done = { readonly purged: number; readonly removal?: Removal };

async function purgeAll(
  store: Store,
  removal: Removal,
  mayGoOn: PurgeOptions['mayGoOn'],
): Promise<Done> {
  let done: Required<Done> = { purged: 0, removal };
  for (const some of partsOf(removal.tombstones, mostPurged)) {
    if (!(await mayGoOn())) return { purged: done.purged };
    // Of a pass that died, nobody knows which ones were made again meanwhile.
    const next = await purgeSome(store, some, done.removal, removal.purging);
    if (next.removal === undefined) return { purged: done.purged + next.purged };
    done = { purged: done.purged + next.purged, removal: next.removal };
  }
  return done;
}

/** U41. */
async function purgeSome(
  store: Store,
  some: Tombstones,
  removal: Removal,
  isRepeated: boolean,
): Promise<Done> {
  const now = await store.tombstones([...some.keys()]);
  const left = new Map([...some].filter(([id, rev]) => now.get(id) === rev));
  if (left.size === 0 && !isRepeated) return { purged: 0, removal };
  const begun = removal.purging ? removal : await begin(store, removal);
  if (begun === undefined) return { purged: 0 };
  const purged = left.size === 0 ? nothing : await store.purge(left);
  if (purged === undefined) return { purged: 0 };
  const mayBeHidden = [...(isRepeated ? some : left).keys()].filter((id) => !purged.has(id));
  const isShown = await writeAgain(store, mayBeHidden);
  return { purged: purged.size, ...(isShown && { removal: begun }) };
}

const nothing: ReadonlySet<string> = new Set();

async function begin(store: Store, removal: Removal): Promise<Removal | undefined> {
  const doc = { ...removal.doc, purging: true };
  const result = await store.write(doc);
  return result.kind === 'written'
    ? { ...removal, doc: { ...doc, _rev: result.rev }, purging: true }
    : undefined;
}

/** Writes those that are there as they are, so that views show them; false: not all of them. */
async function writeAgain(store: Store, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return true;
  const found = await store.getMany(ids);
  const results = await Promise.all([...found.values()].map((doc) => store.write(doc)));
  // Where somebody else was faster, it has been written.
  return results.every(({ kind }) => kind === 'written' || kind === 'conflict');
}

function partsOf(tombstones: Tombstones, most: number): readonly Tombstones[] {
  const all = [...tombstones];
  const parts = Math.ceil(all.length / most);
  return Array.from({ length: parts }, (_, i) => new Map(all.slice(i * most, (i + 1) * most)));
}
