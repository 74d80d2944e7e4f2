import type { StoredDocument } from '../model/document.js';
import type { Store } from '../store/store.js';
import type { NotifyQuery, NotifyTarget, NotifyTest, NotifyTestQuery } from './notify.js';

/** Who is notified, and tests of that. */
export type Notifying = {
  /** Who is notified of jobs of an owner. @throws TwsError `definition_missing`, `document_invalid` */
  readonly notified: (query: NotifyQuery) => Promise<readonly NotifyTarget[]>;
  /** The notify lists that are stored, by id. */
  readonly notifyLists: () => Promise<readonly StoredDocument[]>;
  /**
   * Stores a notification for each entry that asks for an event; engines send them.
   * @throws TwsError `definition_missing`, `document_invalid`
   */
  readonly testNotify: (query: NotifyTestQuery) => Promise<readonly NotifyTest[]>;
};

const load = () => import('./notify.js');

/** The part of the client for notifications; it is loaded when it is asked for. */
export function notifying(store: Store): Notifying {
  return {
    notifyLists: async () => (await load()).storedLists(store),
    notified: async (query) => (await load()).listNotify(store, query),
    testNotify: async (query) => (await load()).testNotify(store, query, Date.now()),
  };
}
