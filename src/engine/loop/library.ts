import { systemClock } from '../../clock/clock.js';
import type { Found } from '../../decide/world.js';
import type { NameAndOwner } from '../../decide/queries.js';
import type { Flow } from '../../model/flow.js';
import { chooseVersion, type VersionAsk } from '../../model/flow-versions.js';
import { parseDocument } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import type { Problem } from '../../model/problems.js';
import { defaultOwner, keyOf, type Task } from '../../model/task.js';
import type { Store } from '../../store/store.js';
import { roundTurn } from '../../turns.js';
import { writesBetween } from './serializer.js';

type Kind = 'flow' | 'task';
type Definition = { flow: Flow; task: Task };
type Entry<T> = EntryVersion &
  (
    | { readonly ok: true; readonly value: T }
    | { readonly ok: false; readonly problems: readonly Problem[] }
  );
/** What a document says of its version, whatever else is wrong with it; nothing of a task. */
type EntryVersion = {
  readonly id: string;
  readonly version?: unknown;
  readonly current?: unknown;
  readonly current_since?: unknown;
};

/**
 * The flows and tasks of the database, kept in memory by the feed.
 *
 * E10 Nobody is told that there is no definition at all unless the store was just asked for it.
 * E11 That an owner has none of its own, so that the one of everybody counts, is believed while the
 *    feed goes on without a break, and no definition that it has brought is unread. A definition under an
 *    id of its author's choice is read by the first eight engines in their turn (I2, I5), and by the others
 *    at their next `load`. The store is not asked meanwhile: each question makes CouchDB update its views.
 */
export type Library = {
  /**
   * Reads all definitions; called at the start, and again to find what the feed missed. Resolves with
   * whether there was anything new.
   */
  readonly load: () => Promise<boolean>;
  /** The feed is broken: until the next `load` there may be definitions that it did not bring. */
  readonly doubt: () => void;
  /** Takes a changed or deleted document; false when it is no definition. */
  readonly update: (id: string, doc: StoredDocument | undefined) => boolean;
  readonly flow: (name: string, owner: string, ask?: VersionAsk) => Found<Flow>;
  readonly task: (name: string, owner: string) => Found<Task>;
  /** Asks the store for what `flow` or `task` called unknown. */
  readonly find: (kind: Kind, wanted: readonly NameAndOwner[]) => Promise<void>;
  /** What is known right after `find`: the store was just asked, so nothing is unknown. */
  readonly foundFlow: (name: string, owner: string, ask?: VersionAsk) => Found<Flow>;
  readonly foundTask: (name: string, owner: string) => Found<Task>;
  /**
   * The document of a definition of exactly that owner, as it is stored; undefined: none, or several of which
   * none counts. `ask`: the version of a flow.
   */
  readonly stored: (
    kind: Kind,
    name: string,
    owner: string,
    ask?: VersionAsk,
  ) => StoredDocument | undefined;
  /** All documents that it holds, by id, valid or not. */
  readonly held: ReadonlyMap<string, StoredDocument>;
  /** The ids of the flows and tasks that limit how many of their jobs or attempts go on. */
  readonly limiting: ReadonlySet<string>;
};

/**
 * `onMalformed` is called for a definition that comes by the feed and cannot be read; `isBehind` tells
 * whether the feed has brought definitions that are not read yet. `now`: epoch ms.
 */
export function createLibrary(
  store: Store,
  onMalformed: OnMalformed = () => undefined,
  isBehind: () => boolean = () => false,
  now: () => number = systemClock.now,
): Library {
  let breaks = 0;
  let loadedAfter = -1;
  const isWhole = (): boolean => loadedAfter === breaks && !isBehind();
  const held = createHoldings(onMalformed, isWhole, now);
  const asked = new Map<string, Promise<void>>();
  const look = async (kind: Kind, keys: readonly string[]): Promise<void> => {
    await held.reading(async (add) => {
      const rows = await store.view(`${kind}s`, { keys, includeDocs: true });
      for (const { id, doc } of rows) add(id, doc);
    });
    held.shelves[kind].confirmAbsent(keys);
  };
  return {
    update: held.update,
    doubt: () => {
      breaks += 1;
    },
    load: async () => {
      const begun = breaks;
      let isNews = false;
      await held.reading(async (add, before) => {
        const kinds = ['flows', 'tasks'] as const;
        const read = await Promise.all(kinds.map((it) => store.view(it, { includeDocs: true })));
        const rows = read.flat();
        for (const { id, doc } of rows) {
          await roundTurn();
          if (add(id, doc)) isNews = true;
        }
        const present = new Set(rows.map(({ id }) => id));
        for (const id of before) if (!present.has(id) && add(id, undefined)) isNews = true;
      });
      loadedAfter = begun;
      return isNews;
    },
    flow: held.shelves.flow.get,
    task: held.shelves.task.get,
    find: (kind, wanted) => {
      const keys = [...new Set(wanted.flatMap(({ name, owner }) => keysOf(name, owner)))].sort();
      // Many jobs may miss the same definition at the same time.
      const question = JSON.stringify([kind, keys]);
      const answer = asked.get(question) ?? look(kind, keys).finally(() => asked.delete(question));
      asked.set(question, answer);
      return answer;
    },
    foundFlow: held.shelves.flow.getKnown,
    foundTask: held.shelves.task.getKnown,
    stored: held.stored,
    held: held.documents,
    limiting: held.limiting,
  };
}

export type OnMalformed = (doc: StoredDocument, problems: readonly Problem[]) => void;

/** Takes one document that was read; undefined: it is not there. Answers whether it is news. */
type Add = (id: string, doc: StoredDocument | undefined) => boolean;

/**
 * The definitions, fed by the feed and by readings that may overtake each other. `isWhole`: what is not
 * here is not in the store either, as far as the feed has brought.
 */
function createHoldings(onMalformed: OnMalformed, isWhole: () => boolean, now: () => number) {
  const shelves = { flow: createShelf<Flow>(isWhole, now), task: createShelf<Task>(isWhole, now) };
  const documents = new Map<string, StoredDocument>();
  const limiting = new Set<string>();
  /** Ids that the feed brought while something was read: one set for each reading under way. */
  const broughtMeanwhile = new Set<Set<string>>();

  const put = (id: string, doc: StoredDocument | undefined, isNews = false): boolean => {
    const had = documents.delete(id);
    if (had) for (const shelf of [shelves.flow, shelves.task]) shelf.remove(id);
    limiting.delete(id);
    if (doc === undefined || (doc['type'] !== 'flow' && doc['type'] !== 'task')) return had;
    const parsed = parseDocument(doc);
    if (parsed.kind !== 'flow' && parsed.kind !== 'task') return had;
    documents.set(id, doc);
    const { max_running: most, concurrency } = doc;
    if (most !== undefined || concurrency !== undefined) limiting.add(id);
    if (isNews && !parsed.ok) onMalformed(doc, parsed.problems);
    const of = parsed.kind === 'flow' ? versionFields(doc) : unversioned(doc);
    const entry = parsed.ok
      ? ({ ...of, ok: true, value: parsed.value } as const)
      : ({ ...of, ok: false, problems: parsed.problems } as const);
    shelves[parsed.kind].put(id, keyOfDocument(doc), entry as Entry<never>);
    return true;
  };
  return {
    shelves,
    documents: documents as ReadonlyMap<string, StoredDocument>,
    limiting: limiting as ReadonlySet<string>,
    update: (id: string, doc: StoredDocument | undefined): boolean => {
      const concerned = put(id, doc, true);
      if (concerned || doc === undefined) for (const ids of broughtMeanwhile) ids.add(id);
      return concerned;
    },
    stored: (kind: Kind, name: string, owner: string, ask?: VersionAsk) => {
      const ids = shelves[kind].ids(keyOf(name, owner));
      const docs = ids.flatMap((id) => documents.get(id) ?? []);
      const choice = chooseVersion(docs.map(kind === 'flow' ? versionFields : unversioned), ask);
      return choice.kind === 'chosen' ? documents.get(choice.doc.id) : undefined;
    },
    /** Runs something that reads; what the feed brings meanwhile is newer, unless revisions tell. */
    reading: async (
      read: (add: Add, before: readonly string[]) => Promise<void>,
    ): Promise<void> => {
      const meanwhile = new Set<string>();
      broughtMeanwhile.add(meanwhile);
      const add: Add = (id, doc) => {
        const now = documents.get(id);
        // Every sweep reads all of them, and a large one takes a while to parse.
        if (doc !== undefined && now?._rev === doc._rev) return false;
        const isOlder = doc && now && writesBetween(doc._rev, now._rev) > 0;
        const isGone = now === undefined && meanwhile.has(id);
        const isMissed = doc === undefined && meanwhile.has(id);
        return isOlder !== true && !isGone && !isMissed && put(id, doc);
      };
      await read(add, [...documents.keys()]).finally(() => broughtMeanwhile.delete(meanwhile));
    },
  };
}

function keysOf(name: string, owner: string): readonly string[] {
  return owner === defaultOwner
    ? [keyOf(name, owner)]
    : [keyOf(name, owner), keyOf(name, undefined)];
}

function versionFields({ _id: id, version, current, current_since }: StoredDocument): EntryVersion {
  return { id, version, current, current_since };
}

/** Tasks have no versions. */
function unversioned({ _id: id }: StoredDocument): EntryVersion {
  return { id };
}

/** Also of a malformed document, so that a job that names says what is wrong with it. */
function keyOfDocument(doc: StoredDocument): string {
  const { owner } = doc;
  return keyOf(String(doc['name']), typeof owner === 'string' ? owner : undefined);
}

type Shelf<T> = {
  readonly put: (id: string, key: string, entry: Entry<T>) => void;
  readonly remove: (id: string) => void;
  readonly get: (name: string, owner: string, ask?: VersionAsk) => Found<T>;
  /** The same right after the store was asked: what is not here is nowhere. */
  readonly getKnown: (name: string, owner: string, ask?: VersionAsk) => Found<T>;
  readonly ids: (key: string) => readonly string[];
  readonly confirmAbsent: (keys: readonly string[]) => void;
};

/** How long "the store has none" is believed, ms: the feed brings a new definition sooner. */
const absentMs = 1_000;

function createShelf<T extends Definition[Kind]>(
  isWhole: () => boolean,
  now: () => number,
): Shelf<T> {
  const byKey = new Map<string, Map<string, Entry<T>>>();
  /** What is current in `byKey`; keys without a definition are left out. */
  const found = new Map<string, Found<T>>();
  const there = (key: string, ask: VersionAsk | undefined): Found<T> | undefined => {
    const entries = ask === undefined || isForCurrent(ask) ? undefined : byKey.get(key);
    return entries === undefined ? found.get(key) : toFound(entries, ask);
  };
  const keyOfId = new Map<string, string>();
  const absentSince = new Map<string, number>();
  const isAbsent = (key: string): boolean => now() - (absentSince.get(key) ?? 0) < absentMs;
  return {
    put: (id, key, entry) => {
      keyOfId.set(id, key);
      absentSince.delete(key);
      const entries = (byKey.get(key) ?? new Map<string, Entry<T>>()).set(id, entry);
      byKey.set(key, entries);
      found.set(key, toFound(entries));
    },
    remove: (id) => {
      const key = keyOfId.get(id);
      const entries = key === undefined ? undefined : byKey.get(key);
      if (key === undefined || entries === undefined) return;
      keyOfId.delete(id);
      entries.delete(id);
      if (entries.size > 0) return void found.set(key, toFound(entries));
      byKey.delete(key);
      found.delete(key);
    },
    get: (name, owner, ask) => {
      const own = keyOf(name, owner);
      const ofOwner = there(own, ask);
      if (ofOwner !== undefined) return ofOwner;
      if (!isWhole() && !isAbsent(own)) return { kind: 'unknown' };
      const ofEverybody = keyOf(name, undefined);
      const shared = there(ofEverybody, ask);
      if (shared !== undefined) return shared;
      return { kind: isAbsent(own) && isAbsent(ofEverybody) ? 'absent' : 'unknown' };
    },
    getKnown: (name, owner, ask) =>
      there(keyOf(name, owner), ask) ?? there(keyOf(name, undefined), ask) ?? { kind: 'absent' },
    ids: (key) => [...(byKey.get(key)?.keys() ?? [])],
    confirmAbsent: (keys) => {
      for (const key of absentSince.keys()) if (!isAbsent(key)) absentSince.delete(key);
      for (const key of keys) absentSince.set(key, now());
    },
  };
}

/** Asks for no version, and for that of no running job: what `found` holds. */
function isForCurrent({ version, orCurrent }: VersionAsk): boolean {
  return version === undefined && orCurrent !== true;
}

/** `entries`: at least one. */
function toFound<T>(entries: ReadonlyMap<string, Entry<T>>, ask?: VersionAsk): Found<T> {
  const choice = chooseVersion([...entries.values()], ask);
  switch (choice.kind) {
    case 'none':
      return { kind: 'absent' };
    case 'absent':
      return choice;
    case 'ambiguous': {
      const { docs, cause } = choice;
      return { kind: 'ambiguous', ids: docs.map(({ id }) => id).sort(), cause };
    }
    case 'chosen': {
      const { doc: entry } = choice;
      if (!entry.ok) return { kind: 'invalid', id: entry.id, problems: entry.problems };
      return { kind: 'found', value: entry.value as T & { _id?: string; _rev?: string } };
    }
  }
}
