/** How many revisions of a document are remembered unless `_revs_limit` says otherwise. */
export const DEFAULT_REVS_LIMIT = 50;

/** Values kept beside the documents of a database; `save` is on disk when it returns. */
export type Settings = {
  get(name: string): unknown;
  save(name: string, value: unknown): Promise<void>;
};

/** The directory of one database. */
export type StoreHome = {
  readonly home: string;
  readonly settings: Settings;
  /** Removes the directory. */
  readonly remove: () => Promise<void>;
};
