import type { ByteRange, ArchiveObjects } from '../../src/client/archive/batches.js';
import { createMemoryDatabase } from '../../src/memory/database.js';
import type { StoredDocument } from '../../src/model/document.js';
import { isObject } from '../../src/model/object.js';
import { statusOf } from '../../src/reading/status.js';
import type { WriteResult } from '../../src/store/batch.js';
import type { Store } from '../../src/store/store.js';
import type { NewDocument } from '../../src/store/writer.js';

/** Called before each write of a process; it may end the process, before or after the write. */
export type BeforeWrite = () => 'go' | 'die' | 'die after';

/** The database in memory, with what retention reads of it, which must be quick for many jobs. */
export type ModelledDatabase = {
  readonly docs: Map<string, StoredDocument>;
  /** The revisions of deleted documents that were not purged. */
  readonly tombstones: Map<string, string>;
  /** Documents that views do not show: a purge named them after they were made again, as with CouchDB 3.4. */
  readonly hidden: Set<string>;
  /** A connection of one process; after its death every call fails. */
  readonly store: (beforeWrite?: BeforeWrite) => Store;
};

/** What stands in for the death of a process. */
class Death extends Error {}

/** Has a process die at a write. */
export function mortal(beforeWrite: BeforeWrite = () => 'go') {
  let isDead = false;
  const live = (): void => {
    if (isDead) throw new Death('dead');
  };
  return {
    read: async <T>(run: () => T): Promise<T> => {
      live();
      // Others go on meanwhile, as with a request.
      await Promise.resolve();
      live();
      return run();
    },
    write: async <T>(run: () => T | Promise<T>): Promise<T> => {
      live();
      const what = beforeWrite();
      isDead = what !== 'go';
      if (what === 'die') live();
      const result = await run();
      live();
      return result;
    },
  };
}
export type Mortal = ReturnType<typeof mortal>;

/** `onRemove`: called with each document before it is removed; `onMade`: with each new one. */
export function modelledDatabase(
  onRemove: (doc: StoredDocument) => void,
  onMade: (id: string) => void,
): ModelledDatabase {
  const docs = new Map<string, StoredDocument>();
  const tombstones = new Map<string, string>();
  const hidden = new Set<string>();
  const children = new Map<string, Set<string>>();
  const memory = createMemoryDatabase();
  const put = (doc: NewDocument): WriteResult => {
    const there = docs.get(doc._id);
    const written = memory.write(doc);
    if (written.kind !== 'written') return written;
    const { rev } = written;
    if (there !== undefined && doc['_deleted'] === true) {
      onRemove(there);
      docs.delete(doc._id);
      hidden.delete(doc._id);
      tombstones.set(doc._id, rev);
      children.get(parentOf(there))?.delete(doc._id);
      return { kind: 'written', rev };
    }
    const stored = { ...doc, _rev: rev } as StoredDocument;
    docs.set(doc._id, stored);
    tombstones.delete(doc._id);
    hidden.delete(doc._id);
    if (there === undefined) onMade(doc._id);
    const parent = parentOf(stored);
    children.set(parent, (children.get(parent) ?? new Set()).add(doc._id));
    return { kind: 'written', rev };
  };
  const search = searchIn(docs, memory.seq);
  const views: Readonly<Record<string, (query: Query) => readonly object[]>> = {
    search,
    flows: () => ofType(docs, 'flow'),
    locks: () => ofType(docs, 'lock').map(({ id, doc }) => ({ id, value: doc })),
    refused: () => [],
    children: ({ keys = [] }) =>
      keys.flatMap((key) => [...(children.get(key) ?? [])].map((id) => ({ id, key }))),
    requests: () => [],
    signals: ({ keys = [] }) => {
      const asked = new Set(keys);
      const all = ofType(docs, 'signal').map(({ id, doc }) => ({ id, key: String(doc['job']) }));
      return all.filter(({ key }) => asked.has(key));
    },
  };
  const purge = (revs: ReadonlyMap<string, string>): ReadonlySet<string> => {
    const purged = [...revs].flatMap(([id, rev]) => (memory.purge(id, rev) ? [id] : []));
    for (const id of purged) tombstones.delete(id);
    for (const id of revs.keys()) if (docs.has(id)) hidden.add(id);
    return new Set(purged);
  };
  return {
    ...{ docs, tombstones, hidden },
    store: (beforeWrite) => {
      const { read, write } = mortal(beforeWrite);
      const view = (name: string, query: Query) => read(() => views[name]?.(query) ?? []);
      return {
        connection: { url: '', database: 'db', app: 'tws' },
        get: (id: string) => read(() => docs.get(id)),
        getMany: (ids: readonly string[]) =>
          read(() => new Map(ids.flatMap((id) => docs.get(id) ?? []).map((doc) => [doc._id, doc]))),
        copy: (id: string, rev: string) =>
          read(() => (docs.get(id)?._rev === rev ? docs.get(id) : undefined)),
        info: () => read(() => ({ documents: docs.size, copies: 1 })),
        mayPurge: () => read(() => true),
        tombstones: (ids: readonly string[]) =>
          read(
            () =>
              new Map(
                ids.flatMap((id) => [
                  ...(tombstones.has(id) ? [[id, String(tombstones.get(id))] as const] : []),
                ]),
              ),
          ),
        purge: (revs: ReadonlyMap<string, string>) => write(() => purge(revs)),
        rangePages: async function* (prefix: string) {
          const all = await read(() => [...docs.values()]);
          yield* all.filter(({ _id }) => _id.startsWith(prefix));
        },
        compact: () => read(() => true),
        view,
        rows: async function* (name: string, query: Query) {
          yield* await view(name, query);
        },
        write: (doc: NewDocument) => write(() => put(doc)),
        remove: (_id: string, _rev: string) => write(() => put({ _id, _rev, _deleted: true })),
      } as unknown as Store;
    },
  };
}

type Query = {
  readonly keys?: readonly string[];
  readonly startKey?: readonly unknown[];
  readonly endKey?: readonly unknown[];
  readonly startKeyDocId?: string;
  readonly limit?: number;
};

function parentOf({ parent }: StoredDocument): string {
  return isObject(parent) ? String(parent['job']) : '';
}

function ofType(docs: ReadonlyMap<string, StoredDocument>, type: string) {
  const found = [...docs.values()].filter((doc) => doc['type'] === type);
  return found.map((doc) => ({ id: doc._id, doc }));
}

type Row = {
  readonly id: string;
  readonly key: readonly [string, string, number];
  readonly value: unknown;
};

/** The view of searches, newest first, sorted anew after a write. */
function searchIn(docs: ReadonlyMap<string, StoredDocument>, version: () => number) {
  let of = -1;
  let rows: ReadonlyMap<string, readonly Row[]> = new Map();
  const sort = (): void => {
    of = version();
    const all = new Map<string, Row[]>();
    for (const doc of docs.values()) {
      if (doc['type'] !== 'job') continue;
      const { flow, owner, start } = doc;
      const status = statusOf(doc, Number(doc['end'] ?? 0));
      const value = [flow, owner, status, null, null];
      const keys: readonly Row['key'][] = [
        ['status', status, Number(start ?? 0)],
        ['flow', String(flow), Number(start ?? 0)],
      ];
      for (const key of keys) {
        const group = all.get(key.slice(0, 2).join()) ?? [];
        all.set(key.slice(0, 2).join(), group);
        group.push({ id: doc._id, key, value });
      }
    }
    for (const group of all.values())
      group.sort((a, b) => b.key[2] - a.key[2] || (a.id < b.id ? 1 : -1));
    rows = all;
  };
  return ({ startKey = [], endKey = [], startKeyDocId: id, limit = Infinity }: Query) => {
    if (of !== version()) sort();
    const group = rows.get(startKey.slice(0, 2).join()) ?? [];
    const [from, to] = [startKey[2], Number(endKey[2])];
    const isBefore = ({ id: one, key: [, , when] }: Row): boolean =>
      typeof from === 'number' && (when > from || (when === from && id !== undefined && one > id));
    const found = group.filter((row) => !isBefore(row) && row.key[2] >= to);
    return found.slice(0, limit);
  };
}

/** Files in memory. `onPut` is called when one is there. */
export function modelledObjects(onPut: (name: string, all: ReadonlyMap<string, Buffer>) => void) {
  const files = new Map<string, Buffer>();
  const objects = (beforeWrite?: BeforeWrite): ArchiveObjects => {
    const { read, write } = mortal(beforeWrite);
    return {
      name: 'memory',
      put: (name, bytes) =>
        write(() => {
          files.set(name, bytes);
          onPut(name, files);
        }),
      get: (name: string, range?: ByteRange) =>
        read(() => {
          const bytes = files.get(name) ?? Buffer.alloc(0);
          return range === undefined ? bytes : bytes.subarray(range.first, range.last + 1);
        }),
      async *names() {
        yield* await read(() => [...files.keys()]);
      },
      close: () => Promise.resolve(),
    };
  };
  return { files, objects };
}
