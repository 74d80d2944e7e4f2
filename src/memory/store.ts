import type { StoredDocument } from '../model/document.js';
import type { Change } from '../store/change.js';
import { readDesign, type DesignSource } from '../store/design-source.js';
import { usualDocumentLimit } from '../store/document-limit.js';
import { createKeptAnswers } from '../store/kept-answers.js';
import type { Store } from '../store/store.js';
import type { ViewName, ViewQuery, ViewRow } from '../store/views.js';
import {
  createMemoryDatabase,
  type MemoryLeaf,
  type MemoryChange,
  type MemoryDatabase,
} from './database.js';
import { storedForm, withBytes, type MemoryAttachments, type Stub } from './documents.js';
import { revisionOfCopy, shownHistory } from './revisions.js';
import { createMemoryView, type MemoryView } from './views.js';

/** A database in memory with our design documents; each store is a connection to it. */
export type StoredInMemory = {
  readonly database: MemoryDatabase;
  readonly open: () => Store;
};

/** What the stores of one database share. */
type Shared = {
  readonly database: MemoryDatabase;
  readonly attachments: MemoryAttachments;
  readonly views: ReadonlyMap<string, MemoryView>;
};

/** Makes a database in memory, with the design documents that `tws init` stores. */
export async function createMemoryStore(): Promise<StoredInMemory> {
  const database = createMemoryDatabase();
  const sources = { design: await readDesign('design'), search: await readDesign('search') };
  const views = new Map<string, MemoryView>();
  for (const { views: own } of Object.values(sources)) {
    for (const [name, source] of Object.entries(own)) {
      views.set(name, createMemoryView(database, source));
    }
  }
  const store = (name: string, { views: own, ...rest }: DesignSource): void =>
    void database.write({ _id: `_design/${name}`, ...rest, views: own });
  store('tws', sources.design);
  store('tws_search', sources.search);
  const shared: Shared = { database, attachments: new Map(), views };
  return { database, open: () => openMemory(shared) };
}

/** What an answer takes: others go on meanwhile, as with a request. */
const turn = (): Promise<void> => new Promise((next) => setImmediate(next));

function openMemory(shared: Shared): Store {
  const { database } = shared;
  const ended = new AbortController();
  const after = async <T>(read: () => T): Promise<T> => {
    await turn();
    return read();
  };
  const get = (id: string): StoredDocument | undefined => copyOf(database.get(id));
  const view = <N extends ViewName>(name: N, query: ViewQuery = {}) =>
    after(() => rowsOf(shared, name, query));
  const range = (prefix: string, from = prefix): readonly StoredDocument[] =>
    database
      .ids()
      .filter((id) => id.startsWith(prefix) && id >= from)
      .flatMap((id) => get(id) ?? []);
  return {
    connection: { url: 'http://in-memory', database: 'memory', app: 'tws' },
    info: () =>
      after(() => ({
        updateSeq: String(database.seq()),
        documents: database.ids().filter((id) => !id.startsWith('_design/')).length,
        copies: 1,
        identity: 'memory',
      })),
    movedTo: () => after(() => undefined),
    get: (id) => after(() => get(id)),
    isDeleted: (id) => after(() => database.leaves(id)[0]?.isDeleted === true),
    leaves: (id) => after(() => liveLeaves(database, id)),
    getMany: (ids, { conflicts } = { conflicts: false }) =>
      after(() => {
        const found = ids.flatMap((id) => withConflictsOf(database, id, conflicts) ?? []);
        return new Map(found.map((doc) => [doc._id, doc]));
      }),
    range: (prefix) => after(() => range(prefix)),
    async *rangePages(prefix, from) {
      yield* await after(() => range(prefix, from));
    },
    exceeds: (prefix, most) => after(() => range(prefix).length > most),
    ...writesOf(shared, ended.signal),
    ...copiesOf(shared),
    attachment: (id, name, of) => after(() => attachmentOf(shared, { id, name, rev: of?.rev })),
    compact: () => after(() => true),
    documentLimit: () => after(() => usualDocumentLimit),
    view,
    rows: async function* (name, query, signal) {
      for (const row of await view(name, query)) {
        if (signal?.aborted === true) return;
        yield row;
      }
    },
    ...feedOf(database),
    // The database is as near as what would be kept.
    kept: { ...createKeptAnswers(), answer: (_question, { read }) => read() },
    written: () => undefined,
    close: async () => {
      await turn();
      ended.abort();
    },
  };
}

/** X12: what goes out is a copy. */
function copyOf<T extends StoredDocument | undefined>(doc: T): T {
  return doc === undefined ? doc : (JSON.parse(JSON.stringify(doc)) as T);
}

function liveLeaves(database: MemoryDatabase, id: string): readonly StoredDocument[] {
  return database.leaves(id).flatMap(({ doc, isDeleted }) => (isDeleted ? [] : [copyOf(doc)]));
}

function withConflictsOf(
  database: MemoryDatabase,
  id: string,
  conflicts: boolean,
): StoredDocument | undefined {
  const [winner, ...others] = liveLeaves(database, id);
  if (winner === undefined || !conflicts || others.length === 0) return winner;
  return { ...winner, _conflicts: others.map(({ _rev }) => _rev) };
}

function stubsIn(leaf: MemoryLeaf | undefined): Readonly<Record<string, Stub>> {
  return (leaf?.doc['_attachments'] ?? {}) as Readonly<Record<string, Stub>>;
}

/** `write` reads the document at once; what is stored is told a turn later. */
function writesOf(
  { database, attachments }: Shared,
  ended: AbortSignal,
): Pick<Store, 'write' | 'remove'> {
  const write: Store['write'] = async (given, mostBytes = Infinity) => {
    if (ended.aborted) return { kind: 'unknown', cause: 'the store is closed' };
    const stubsOf = (rev: string | undefined) =>
      stubsIn(database.leaves(given._id).find(({ revision }) => revision.rev === rev));
    const form = storedForm(given, mostBytes, stubsOf, attachments);
    await turn();
    return form.kind === 'refused' ? form : database.write(form.doc);
  };
  return { write, remove: (_id, _rev) => write({ _id, _rev, _deleted: true }) };
}

/** What another database needs, and what removes a document for good. */
function copiesOf({
  database,
  attachments,
}: Shared): Pick<Store, 'copy' | 'putCopies' | 'mayPurge' | 'tombstones' | 'purge'> {
  return {
    mayPurge: async () => true,
    tombstones: async (ids) => {
      await turn();
      const found = ids.flatMap((id) => {
        const [winner] = database.leaves(id);
        return winner?.isDeleted === true ? [[id, winner.revision.rev] as const] : [];
      });
      return new Map(found);
    },
    purge: async (tombstones) => {
      await turn();
      return new Set([...tombstones].flatMap(([id, rev]) => (database.purge(id, rev) ? [id] : [])));
    },
    copy: async (id, rev) => {
      await turn();
      const leaf = database.leaves(id).find(({ revision }) => revision.rev === rev);
      if (leaf === undefined) return undefined;
      const _revisions = shownHistory(leaf.revision);
      return { ...copyOf(withBytes(leaf.doc, attachments)), _revisions };
    },
    putCopies: async (docs) => {
      await turn();
      return docs.flatMap(({ _revisions, ...doc }) => {
        const form = storedForm(doc, Infinity, () => ({}), attachments);
        if (form.kind === 'refused') return [{ id: doc._id, reason: form.reason }];
        const revision = revisionOfCopy(doc._rev, _revisions);
        database.graft(revision, form.doc as StoredDocument);
        return [];
      });
    },
  };
}

type Wanted = { readonly id: string; readonly name: string; readonly rev: string | undefined };

function attachmentOf({ database, attachments }: Shared, { id, name, rev }: Wanted) {
  const leaves = database.leaves(id);
  const leaf = rev === undefined ? leaves[0] : leaves.find(({ revision }) => revision.rev === rev);
  const stub = stubsIn(leaf)[name];
  return stub === undefined ? undefined : attachments.get(stub.digest)?.toString('utf8');
}

function rowsOf<N extends ViewName>(
  { database, views }: Shared,
  name: N,
  query: ViewQuery,
): readonly ViewRow<N>[] {
  const rows = views.get(name)?.query(query) ?? [];
  return rows.map((row) => {
    const { id, key, value } = structuredClone(row);
    const plain = { id, key, value } as ViewRow<N>;
    if (query.includeDocs !== true || id === undefined) return plain;
    const doc = copyOf(database.get(id));
    if (doc === undefined) return plain;
    const inConflict = query.conflicts === true && liveLeaves(database, id).length > 1;
    return { ...plain, doc, ...(inConflict ? { conflicted: true as const } : {}) };
  });
}

function feedOf(database: MemoryDatabase): Pick<Store, 'follow' | 'changes'> {
  const told = (documents: boolean) => (one: MemoryChange) => changeOf(database, one, documents);
  return {
    follow: async function* ({ since, signal, onState, documents = true }) {
      if (signal.aborted) return;
      onState?.({ kind: 'following', copies: 1 });
      let place = since === 'now' ? database.seq() : Number.parseInt(since, 10) || 0;
      while (!signal.aborted) {
        for (const next of await nextChanges(database, place, signal)) {
          place = next.seq;
          yield told(documents)(next);
          if (signal.aborted) return;
        }
      }
    },
    changes: async (since, limit) => {
      await turn();
      if (!/^\d+$/.test(since)) return { kind: 'unknown' };
      const all = database.changes(Number(since));
      const changes = all.slice(0, limit);
      const seq = String(changes.at(-1)?.seq ?? database.seq());
      return { kind: 'known', changes: changes.map(told(true)), seq, more: all.length > limit };
    },
  };
}

function changeOf(
  database: MemoryDatabase,
  { id, seq, leaf: { doc, isDeleted } }: MemoryChange,
  documents: boolean,
): Change {
  const revs = documents
    ? [doc._rev]
    : database.leaves(id).flatMap((one) => (one.isDeleted && !isDeleted ? [] : one.revision.rev));
  const change = { id, seq: String(seq), deleted: isDeleted, revs };
  if (!documents) return change;
  return isDeleted ? { ...change, remains: copyOf(doc) } : { ...change, doc: copyOf(doc) };
}

/** The changes after a place, as soon as there is one; none: the signal comes first. */
async function nextChanges(
  database: MemoryDatabase,
  since: number,
  signal: AbortSignal,
): Promise<readonly MemoryChange[]> {
  await turn();
  const there = database.changes(since);
  if (signal.aborted || there.length > 0) return signal.aborted ? [] : there;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      unsubscribe();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const unsubscribe = database.subscribe(end);
    signal.addEventListener('abort', end);
  });
  return nextChanges(database, since, signal);
}
