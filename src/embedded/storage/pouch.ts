import type { LevelDown } from 'leveldown';
import { createRequire } from 'node:module';
import LevelAdapter from 'pouchdb-adapter-leveldb-core';

import { syncedLevel } from './level.js';
import type { Doc } from './storage.js';

/** A node of a revision tree: id, state, children. */
export type RevNode = readonly [id: string, state: RevState, children: readonly RevNode[]];
export type RevState = { readonly status: string; readonly deleted?: boolean };
export type RevTree = readonly { readonly pos: number; readonly ids: RevNode }[];

export type PouchMetadata = {
  readonly seq: number;
  readonly winningRev: string;
  readonly deleted: boolean;
  readonly rev_tree: RevTree;
};

/** The shape of PouchDB's errors; `reason` tells missing from deleted. */
export type PouchError = { status?: number; name?: string; reason?: string; message?: string };

export type PouchWrite = PouchError & { ok?: boolean; id?: string; rev?: string; error?: unknown };

type Callback<T> = (error: PouchError | null, value: T) => void;

/** The methods of a PouchDB database that `pouch-store.ts` calls; underscored ones skip PouchDB's deep copies. */
export type Pouch = {
  id(): Promise<string>;
  info(): Promise<{ doc_count: number; update_seq: number }>;
  get(id: string, options: object): Promise<Doc>;
  put(doc: object): Promise<{ rev: string }>;
  remove(doc: object): Promise<unknown>;
  allDocs(options: object): Promise<{
    rows: { id: string; value: { rev: string; deleted?: boolean }; doc?: Doc | null }[];
  }>;
  changes(options: object): Promise<{
    results: { id: string; seq: number; deleted?: boolean; changes: { rev: string }[]; doc: Doc }[];
  }>;
  revsDiff(wanted: object): Promise<Record<string, { missing: string[] }>>;
  getAttachment(id: string, name: string, options: object): Promise<Buffer>;
  close(): Promise<void>;
  _get(id: string, options: object, done: Callback<{ doc: Doc; metadata: PouchMetadata }>): void;
  _getRevisionTree(id: string, done: Callback<RevTree>): void;
  _bulkDocs(
    request: { docs: object[] },
    options: { new_edits: boolean },
    done: Callback<PouchWrite[]>,
  ): void;
};

type PouchClass = {
  new (location: string, options: object): Pouch & { taskqueue: TaskQueue };
  adapter(name: string, adapter: object, preferred: boolean): void;
};
type TaskQueue = {
  isReady: boolean;
  failed: unknown;
  addTask(task: (failed: unknown) => void): void;
};

// The types published for pouchdb-core pull browser globals into the whole project.
const PouchDB = createRequire(import.meta.url)('pouchdb-core') as PouchClass;

const levels = new Map<string, LevelDown>();
const db = syncedLevel((location, level) => levels.set(location, level));

function SyncedAdapter(this: unknown, options: object, done: (error: unknown) => void): void {
  LevelAdapter.call(this, { ...options, db }, done);
}
SyncedAdapter.valid = () => true;
SyncedAdapter.use_prefix = false;
PouchDB.adapter('leveldb', SyncedAdapter, true);

/**
 * Opens one LevelDB as a PouchDB, with revisions beyond `revsLimit` forgotten and the bodies of
 * superseded revisions dropped at once. Rejects when another process holds the directory.
 */
export async function openPouch(
  location: string,
  revsLimit: number,
): Promise<{ pouch: Pouch; level: LevelDown }> {
  const pouch = new PouchDB(location, {
    adapter: 'leveldb',
    revs_limit: revsLimit,
    auto_compaction: true,
  });
  await new Promise<void>((resolve, reject) => {
    const settle = (failed: unknown): void => {
      if (failed) reject(failed instanceof Error ? failed : new Error(JSON.stringify(failed)));
      else resolve();
    };
    if (pouch.taskqueue.isReady) settle(undefined);
    else pouch.taskqueue.addTask(settle);
  });
  const level = levels.get(location);
  if (level === undefined) throw new Error(`no LevelDB was opened at ${location}`);
  levels.delete(location);
  // Every PouchDB is a promise-like for its first callers; handing it out of an async function
  // inside a record keeps `await` from unwrapping it.
  return { pouch, level };
}
