import type { StoredDocument } from '../model/document.js';
import type { DatabaseState } from './database-state.js';
import { createSharedReader } from './shared-reader.js';
import type { Store } from './store.js';

/**
 * The same database for whoever can do with definitions as they were a moment ago: what was read of them is
 * kept while the feed is followed.
 */
export function keepingDefinitions(store: Store): Store {
  return {
    ...store,
    view: (name, query) => {
      if (name !== 'flows' && name !== 'tasks') return store.view(name, query);
      return store.kept.answer(JSON.stringify([name, query]), {
        read: () => store.view(name, query),
        madeOf: (rows) => rows.map(({ id }) => id),
      });
    },
  };
}

/** So long the state of a database is taken for true, ms. */
const stateMs = 10_000;

/**
 * The same database for many who ask the same at the same time: they share requests for documents and rows of
 * a view, of which no answer is older than its question (T11). The state of the database, whose number of
 * copies never changes, is as old as `stateMs` at most.
 */
export function sharingReads(store: Store): Store {
  const share = createSharing();
  let known: { readonly state: Promise<DatabaseState>; readonly at: number } | undefined;
  const get = createSharedReader<StoredDocument | undefined>({
    readOne: (id) => store.get(id),
    readMany: async (ids) => {
      const found = await store.getMany([...new Set(ids)]);
      return ids.map((id) => found.get(id));
    },
  });
  return {
    ...store,
    get: (id) => get(id, 1),
    info: () => {
      const now = performance.now();
      if (known !== undefined && now - known.at < stateMs) return known.state;
      const state = share('info', store.info);
      known = { state, at: now };
      state.catch(() => {
        known = undefined;
      });
      return state;
    },
    view: (name, query) => share(JSON.stringify([name, query]), () => store.view(name, query)),
  };
}

type Running = { readonly now: Promise<unknown>; next?: Promise<unknown> };

/** Who asks while a request is under way shares the one after it, which has not begun yet. */
function createSharing(): <T>(key: string, read: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Running>();
  const begin = <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const now = read();
    const mine: Running = { now };
    running.set(key, mine);
    const end = (): void => {
      if (running.get(key) === mine && mine.next === undefined) running.delete(key);
    };
    now.then(end, end);
    return now;
  };
  return <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const before = running.get(key);
    if (before === undefined) return begin(key, read);
    const again = (): Promise<T> => begin(key, read);
    before.next ??= before.now.then(again, again);
    return before.next as Promise<T>;
  };
}
