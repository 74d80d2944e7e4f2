/**
 * What the server needs of a document store. Two stand behind it: PouchDB on LevelDB
 * (`pouch-store.ts`) and SQLite (`sqlite/sqlite-store.ts`); `databases-folder.ts` chooses.
 */

/** A JSON document as CouchDB shows it: `_id`, `_rev` and the other underscore members included. */
export type Doc = { [field: string]: unknown; _id: string; _rev?: string; _deleted?: boolean };

/** One result of a write, in the order of the request. */
export type DocWriteResult =
  | { readonly ok: true; readonly id: string; readonly rev: string }
  | {
      readonly id: string;
      readonly error: string;
      readonly reason: string;
      readonly status: number;
    };

/** The figures of one database. Sizes are bytes. */
export type StoreInfo = {
  readonly docCount: number;
  readonly deletedCount: number;
  readonly updateSeq: number;
  readonly fileBytes: number;
};

/** What to show of a document besides its body. */
export type ReadOptions = {
  readonly rev?: string;
  readonly latest?: boolean;
  readonly revs?: boolean;
  readonly revsInfo?: boolean;
  readonly conflicts?: boolean;
  readonly deletedConflicts?: boolean;
  readonly localSeq?: boolean;
  /** Attachment bodies as base64 `data` instead of stubs. */
  readonly attachments?: boolean;
};

/** The answer for one revision: its document, or the revision that is not there. */
export type OpenRev = { readonly ok: Doc } | { readonly missing: string };

/** A read that found nothing, and why. A class, since documents may have any members. */
export class Absent {
  constructor(readonly why: 'missing' | 'deleted') {}
}

/** Thrown by every method of a store that was closed or removed. */
export class StoreClosed extends Error {
  override readonly name = 'StoreClosed';
  readonly code = 'store_closed';

  constructor() {
    super('The database was closed or removed.');
  }
}

export type RangeOptions = {
  readonly startkey?: string;
  readonly endkey?: string;
  readonly inclusiveEnd?: boolean;
  readonly descending?: boolean;
  readonly skip?: number;
  readonly limit?: number;
  readonly includeDocs?: boolean;
  readonly conflicts?: boolean;
  readonly attachments?: boolean;
};

export type DocRow = {
  readonly id: string;
  readonly rev: string;
  readonly deleted: boolean;
  /** Only with `includeDocs`; null for a deleted document. */
  readonly doc?: Doc | null;
};

/** The newest state of one document, as a feed shows it. */
export type FeedChange = {
  readonly seq: number;
  readonly id: string;
  readonly deleted: boolean;
  /** All leaf revisions, the winner first. */
  readonly leaves: readonly string[];
  /** Live leaves that lost, for `conflicts=true`. */
  readonly conflicts: readonly string[];
  /** The winning revision. */
  readonly doc: Doc;
};

/** A change with its document as JSON, which all feeds share. */
export type StoredChange = FeedChange & { readonly json: string };

/** What a write meets: the stored state of the document that it names. */
export type Parent =
  /** No document, or a deleted one that is made again. */
  | { readonly kind: 'none' }
  /** The revision given is a leaf: this is its body as JSON. */
  | { readonly kind: 'leaf'; readonly json: string }
  /** The write will be refused with 409. */
  | { readonly kind: 'conflict' };

export type Attachment = {
  readonly contentType: string;
  /** `md5-…` in base64. */
  readonly digest: string;
  /** Bytes. */
  readonly length: number;
  readonly rev: string;
  /** The bytes between two places, both included, in pieces. */
  read(first: number, last: number): AsyncIterable<Buffer>;
  /** To be called when it is read no more: until then its bytes are kept. */
  close(): void;
};

/** Leaf revisions by the id of their document. */
export type LeavesById = ReadonlyMap<string, readonly string[]>;

/** What one purge took of a document; purges are counted from 1. */
export type Purge = {
  readonly seq: number;
  readonly id: string;
  readonly revs: readonly string[];
};

/** One database. Every method may be called at any time; writes are durable when they return. */
export type DocumentStore = {
  /** Identity of this database: another one after it was deleted and made again. */
  readonly instance: string;
  info(): Promise<StoreInfo>;
  /** The newest sequence, cheaply. */
  updateSeq(): Promise<number>;
  /** Writes in the order given; with `newEdits: false` revisions are taken as they come (replication). */
  write(docs: readonly Doc[], options: { readonly newEdits: boolean }): Promise<DocWriteResult[]>;
  /**
   * Has a listener told what each write changed, oldest first, as soon as it is on disk; undefined
   * when `changes` has to be asked.
   */
  watch(onWrite: (changes: readonly StoredChange[] | undefined) => void): void;
  get(id: string, options?: ReadOptions): Promise<Doc | Absent>;
  openRevs(id: string, revs: 'all' | readonly string[], options: ReadOptions): Promise<OpenRev[]>;
  parents(docs: readonly Doc[]): Promise<Parent[]>;
  range(options: RangeOptions): Promise<DocRow[]>;
  /** One row per key, in their order; null where there never was such a document. */
  rows(keys: readonly string[], options: RangeOptions): Promise<(DocRow | null)[]>;
  /** The documents whose newest change lies after `since`, oldest change first. */
  changes(options: { readonly since: number; readonly limit: number }): Promise<FeedChange[]>;
  revsDiff(
    wanted: Readonly<Record<string, readonly string[]>>,
  ): Promise<Record<string, { missing: string[] }>>;
  /** Undefined when the document has no such attachment. */
  attachment(id: string, name: string, rev?: string): Promise<Attachment | Absent | undefined>;
  getLocal(id: string): Promise<Doc | undefined>;
  /** Overwrites without compare-and-set, as CouchDB does; returns the new revision. */
  putLocal(doc: Doc): Promise<string>;
  /** False when there was none. */
  removeLocal(id: string): Promise<boolean>;
  listLocal(): Promise<Doc[]>;
  revsLimit(): number;
  setRevsLimit(limit: number): Promise<void>;
  /** Small values kept beside the documents: security, for one. */
  setting(name: string): unknown;
  saveSetting(name: string, value: unknown): Promise<void>;
  compact(): Promise<void>;
  /**
   * Forgets leaf revisions as if they had never been; resolves with those that there were, for every
   * document that was asked for. A document without any other leaf is gone and in no list of changes;
   * one with others has a new sequence.
   */
  purge(wanted: LeavesById): Promise<LeavesById>;
  /** The number of the newest purge; 0 before the first. */
  purgeSeq(): Promise<number>;
  /** The purges after a number, oldest first, as far as they are remembered. */
  purges(since: number): Promise<readonly Purge[]>;
  /** Forgets the purges up to a number: every index has taken them in. */
  forgetPurges(upTo: number): Promise<void>;
  /** An ordered map of strings beside the documents, for one index; not synced on every write. */
  index(name: string): Promise<OrderedMap>;
  indexes(): Promise<string[]>;
  removeIndex(name: string): Promise<void>;
  /** Opens all files again, after a failure that they do not recover from by themselves. */
  reopen(): Promise<void>;
  close(): Promise<void>;
  /** Closes and removes everything. */
  destroy(): Promise<void>;
};

/** Bounds are inclusive; keys are ordered by code point. */
export type ScanOptions = {
  readonly from: string;
  readonly to: string;
  readonly reverse?: boolean;
};

export type OrderedMap = {
  getMany(keys: readonly string[]): Promise<(string | undefined)[]>;
  /** Applied as one; a value of null removes the key. */
  apply(changes: readonly (readonly [key: string, value: string | null])[]): Promise<void>;
  /** Values in the order of their keys, as they were when it began. */
  scan(options: ScanOptions): AsyncIterable<string>;
  /** How many keys lie between two keys, both included. */
  count(from: string, to: string): Promise<number>;
  bytes(): Promise<number>;
  compact(): Promise<void>;
  /** Opens its file again, after a failure that it does not recover from by itself. */
  reopen(): Promise<void>;
  close(): Promise<void>;
};

/** All databases of a directory. */
export type Storage = {
  names(): Promise<string[]>;
  exists(name: string): Promise<boolean>;
  /** Opens a database, or makes it when `create` is set. */
  open(name: string, options: { readonly create: boolean }): Promise<DocumentStore>;
};
