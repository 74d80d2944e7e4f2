import type { Found, NameAndOwner } from '../decide/intent.js';
import type { Flow } from '../model/flow.js';
import { parseDocument, type StoredDocument } from '../model/parse.js';
import type { Problem } from '../model/job.js';
import { defaultOwner, keyOf, type Task } from '../model/task.js';
import type { Store } from '../store/store.js';
import { generationOf } from './desk.js';

type Kind = 'flow' | 'task';
type Definition = { flow: Flow; task: Task };
type Entry<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * The flows and tasks of the database, kept in memory by the feed. What it does not have is looked
 * up in the store before anybody is told that it is absent.
 */
export type Library = {
  /** Reads all definitions; called at the start, and again to find what the feed missed. */
  readonly load: () => Promise<void>;
  /** Takes a changed or deleted document; false when it is no definition. */
  readonly update: (id: string, doc: StoredDocument | undefined) => boolean;
  readonly flow: (name: string, owner: string) => Found<Flow>;
  readonly task: (name: string, owner: string) => Found<Task>;
  /** Asks the store for what `flow` or `task` called unknown. */
  readonly find: (kind: Kind, wanted: readonly NameAndOwner[]) => Promise<void>;
  /** All documents that it holds, valid or not. */
  readonly documents: () => readonly StoredDocument[];
};

export function createLibrary(store: Store): Library {
  const shelves = { flow: createShelf<Flow>(), task: createShelf<Task>() };
  const documents = new Map<string, StoredDocument>();
  const update = (id: string, doc: StoredDocument | undefined): boolean => {
    const had = documents.delete(id);
    shelves.flow.remove(id);
    shelves.task.remove(id);
    if (doc === undefined || (doc['type'] !== 'flow' && doc['type'] !== 'task')) return had;
    const parsed = parseDocument(doc);
    if (parsed.kind !== 'flow' && parsed.kind !== 'task') return had;
    documents.set(id, doc);
    const entry = parsed.ok
      ? ({ ok: true, value: parsed.value } as const)
      : ({ ok: false, problems: parsed.problems } as const);
    shelves[parsed.kind].put(id, keyOfDocument(doc), entry as Entry<never>);
    return true;
  };
  /** Takes what was read; the feed may have brought a newer version in the meantime. */
  const add = (id: string, doc: StoredDocument | undefined): void => {
    const held = documents.get(id);
    const isOlder = held && doc && generationOf(doc._rev) < generationOf(held._rev);
    if (!isOlder) update(id, doc);
  };
  return {
    update,
    load: async () => {
      const rows = await Promise.all(
        (['flows', 'tasks'] as const).map((view) => store.view(view, { includeDocs: true })),
      );
      const present = new Set(rows.flat().map(({ id }) => id));
      for (const id of [...documents.keys()]) if (!present.has(id)) update(id, undefined);
      for (const { id, doc } of rows.flat()) add(id, doc);
    },
    flow: (name, owner) => shelves.flow.get(name, owner),
    task: (name, owner) => shelves.task.get(name, owner),
    find: async (kind, wanted) => {
      const keys = wanted.flatMap(({ name, owner }) => keysOf(name, owner));
      const view = kind === 'flow' ? 'flows' : 'tasks';
      const rows = await store.view(view, { keys: [...new Set(keys)], includeDocs: true });
      for (const { id, doc } of rows) add(id, doc);
      shelves[kind].confirmAbsent(keys);
    },
    documents: () => [...documents.values()],
  };
}

function keysOf(name: string, owner: string): readonly string[] {
  return owner === defaultOwner
    ? [keyOf(name, owner)]
    : [keyOf(name, owner), keyOf(name, undefined)];
}

/** Also of a malformed document, so that a job that names it is told what is wrong with it. */
function keyOfDocument(doc: StoredDocument): string {
  const { owner } = doc;
  return keyOf(String(doc['name']), typeof owner === 'string' ? owner : undefined);
}

type Shelf<T> = {
  readonly put: (id: string, key: string, entry: Entry<T>) => void;
  readonly remove: (id: string) => void;
  readonly get: (name: string, owner: string) => Found<T>;
  readonly confirmAbsent: (keys: readonly string[]) => void;
};

/** How long "the store has none" is believed, ms: the feed brings a new definition sooner. */
const absentMs = 1_000;

function createShelf<T extends Definition[Kind]>(): Shelf<T> {
  const byKey = new Map<string, Map<string, Entry<T>>>();
  const keyOfId = new Map<string, string>();
  const absentSince = new Map<string, number>();
  const isAbsent = (key: string): boolean => Date.now() - (absentSince.get(key) ?? 0) < absentMs;
  return {
    put: (id, key, entry) => {
      keyOfId.set(id, key);
      absentSince.delete(key);
      const entries = byKey.get(key) ?? new Map<string, Entry<T>>();
      byKey.set(key, entries.set(id, entry));
    },
    remove: (id) => {
      const key = keyOfId.get(id);
      if (key === undefined) return;
      keyOfId.delete(id);
      byKey.get(key)?.delete(id);
    },
    get: (name, owner) => {
      const keys = keysOf(name, owner);
      for (const key of keys) {
        const entries = byKey.get(key);
        if (entries !== undefined && entries.size > 0) return toFound(entries);
        if (!isAbsent(key)) return { kind: 'unknown' };
      }
      return { kind: 'absent' };
    },
    confirmAbsent: (keys) => {
      // What was found absent a moment ago stays so: one decision may ask for several in turn.
      for (const key of absentSince.keys()) if (!isAbsent(key)) absentSince.delete(key);
      for (const key of keys) absentSince.set(key, Date.now());
    },
  };
}

function toFound<T>(entries: ReadonlyMap<string, Entry<T>>): Found<T> {
  const [first] = entries;
  if (first === undefined) return { kind: 'absent' };
  if (entries.size > 1) return { kind: 'ambiguous', ids: [...entries.keys()].sort() };
  const [id, entry] = first;
  if (!entry.ok) return { kind: 'invalid', id, problems: entry.problems };
  return { kind: 'found', value: entry.value as T & { _id?: string; _rev?: string } };
}
