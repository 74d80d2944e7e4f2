import type { Design, Emitted } from '../databases/design.js';
import type { createOperationLock } from '../storage/operation-lock.js';
import type { DocumentStore, FeedChange, OrderedMap } from '../storage/storage.js';
import { encodeKey } from './collation.js';
import type { Moved, Offsets } from './offsets.js';

const PAGE = 200;
const META = 'm';

/** `purged`: the number of the last purge that was taken in. */
type Meta = { readonly seq: number; readonly counts: readonly number[]; readonly purged: number };

/** Brings an index up to what is stored, one update after the other. */
type IndexUpdates = {
  readonly meta: () => Meta;
  /** Takes in all that was written before the call. @throws CouchError when a map function fails */
  readonly update: (design: Design) => Promise<void>;
  /** Takes out what was purged before the call. @throws CouchError when a map function fails */
  readonly takeOutPurged: (design: Design) => Promise<void>;
  /** Breaks off the update under way, and waits for it. */
  readonly end: () => Promise<void>;
};

type Files = {
  readonly map: OrderedMap;
  readonly offsets: Offsets;
  /** Rows move only while nobody reads several ranges. */
  readonly moving: ReturnType<typeof createOperationLock>;
};

/** The part of a change that an index needs. */
type Mappable = Pick<FeedChange, 'id' | 'deleted' | 'doc'>;

/** Documents with what the map functions emitted for each, and how far the index is with them. */
type Mapped = Reached & {
  readonly changes: readonly Mappable[];
  readonly emitted: ReadonlyMap<string, Emitted>;
};

type Reached = Pick<Meta, 'seq' | 'purged'>;

/**
 * Entries of the map: `m` position and counts · `d<id>` the keys of a document's rows ·
 * `r<slot><key><id>U+0000<n>` one row. A batch of documents and the new position are one write,
 * so that a crash leaves an index that is merely behind.
 */
export async function openIndexUpdates(store: DocumentStore, files: Files): Promise<IndexUpdates> {
  let meta = await storedMeta(store, files.map);
  let updating: Promise<void> = Promise.resolve();
  let closed = false;

  /**
   * The sequence up to which nothing is missing. A document that is written again moves to the end,
   * past the page that it was on: only a page that reaches the end makes the index whole.
   */
  let whole = -1;

  const apply = async (
    design: Design,
    changes: readonly Mappable[],
    to: Reached,
  ): Promise<void> => {
    const emitted = await mapAll(design, changes);
    const mapped = { changes, emitted, ...to };
    meta = await files.moving.alone(() => applyChanges(files, meta, mapped));
  };
  const takeIn = async (design: Design, target: number): Promise<void> => {
    let limit = PAGE;
    while (whole < target && !closed) {
      const changes = await store.changes({ since: meta.seq, limit });
      const last = changes.at(-1);
      const { purged } = meta;
      if (last !== undefined) await apply(design, changes, { seq: last.seq, purged });
      if (changes.length < limit) whole = Math.max(meta.seq, target);
      // Pages grow, so that it ends however fast documents are written.
      if (meta.seq >= target) limit *= 2;
    }
  };
  const takeOut = async (design: Design): Promise<void> => {
    const purges = await store.purges(meta.purged);
    const ids = [...new Set(purges.map(({ id }) => id))];
    for (let from = 0; from < ids.length && !closed; from += PAGE) {
      const changes = await asTheyAre(store, ids.slice(from, from + PAGE));
      const isLast = from + PAGE >= ids.length;
      const purged = isLast ? Number(purges.at(-1)?.seq) : meta.purged;
      await apply(design, changes, { seq: meta.seq, purged });
    }
  };
  const next = (work: () => Promise<void>): Promise<void> => {
    updating = updating.catch(() => undefined).then(work);
    return updating;
  };

  return {
    meta: () => meta,
    async update(design) {
      const [target, purged] = await Promise.all([store.updateSeq(), store.purgeSeq()]);
      if (whole >= target && meta.purged >= purged) return;
      return next(async () => {
        if (meta.purged < purged) await takeOut(design);
        await takeIn(design, target);
      });
    },
    takeOutPurged: (design) => next(() => takeOut(design)),
    async end() {
      closed = true;
      await updating.catch(() => undefined);
    },
  };
}

async function storedMeta(store: DocumentStore, map: OrderedMap): Promise<Meta> {
  const [stored] = await map.getMany([META]);
  if (stored === undefined) return { seq: 0, counts: [], purged: await store.purgeSeq() };
  // An index of an older version counts no purges: there were none.
  return { purged: 0, ...(JSON.parse(stored) as Omit<Meta, 'purged'>) };
}

/** Documents as they are now: one that was purged may have been made again, or keep other leaves. */
async function asTheyAre(
  store: DocumentStore,
  ids: readonly string[],
): Promise<readonly Mappable[]> {
  const rows = await store.rows(ids, { includeDocs: true });
  return ids.map((id, i): Mappable => {
    const doc = rows[i]?.doc ?? undefined;
    return { id, deleted: doc === undefined, doc: doc ?? { _id: id } };
  });
}

async function mapAll(design: Design, changes: readonly Mappable[]): Promise<Map<string, Emitted>> {
  const docs = changes
    .filter(
      (change) => !change.deleted && (design.includeDesign || !change.id.startsWith('_design/')),
    )
    .map((change) => change.doc);
  const emitted = await design.map(docs);
  return new Map(docs.map((doc, i) => [doc._id, emitted[i] ?? []]));
}

async function applyChanges(
  { map, offsets }: Files,
  meta: Meta,
  { changes, emitted, seq, purged }: Mapped,
): Promise<Meta> {
  const before = await map.getMany(changes.map((change) => `d${change.id}`));
  const counts = [...meta.counts];
  const moved: Moved[] = [];
  const count = (rowKey: string, step: 1 | -1): void => {
    moved.push([rowKey, step]);
    const slot = Number.parseInt(rowKey.slice(1, 3), 36);
    counts[slot] = (counts[slot] ?? 0) + step;
  };
  const entries = new Map<string, string | null>();
  changes.forEach(({ id }, i) => {
    const old = before[i];
    if (old !== undefined) {
      for (const rowKey of JSON.parse(old) as string[]) {
        entries.set(rowKey, null);
        count(rowKey, -1);
      }
      entries.set(`d${id}`, null);
    }
    const rows = rowsOf(id, emitted.get(id) ?? []);
    for (const [rowKey, row] of rows) {
      entries.set(rowKey, row);
      count(rowKey, 1);
    }
    if (rows.length > 0) entries.set(`d${id}`, JSON.stringify(rows.map(([rowKey]) => rowKey)));
  });
  const next: Meta = { seq, counts: Array.from(counts, (n) => n ?? 0), purged };
  entries.set(META, JSON.stringify(next));
  await offsets.write(moved, () => map.apply([...entries]));
  return next;
}

export const slotName = (slot: number): string => slot.toString(36).padStart(2, '0');

function rowsOf(id: string, emitted: Emitted): [rowKey: string, row: string][] {
  return emitted.flatMap((rows, slot) =>
    rows.map(([key, value], n): [string, string] => [
      `r${slotName(slot)}${encodeKey(key)}${id}\u0000${n.toString(36).padStart(4, '0')}`,
      JSON.stringify([id, key, value]),
    ]),
  );
}
