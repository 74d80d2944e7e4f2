/** What a column holds. Texts must be free of U+0000: Node 22 cuts them there when it reads them. */
type Value = string | number | Uint8Array | null;

type Row = Readonly<Record<string, Value>>;

/** A prepared statement; it runs to its end within the call, on this thread. */
export type Statement = {
  get(...values: readonly Value[]): Row | undefined;
  all(...values: readonly Value[]): Row[];
  iterate(...values: readonly Value[]): IterableIterator<Row>;
  run(...values: readonly Value[]): { readonly changes: number };
};

/** What we use of `DatabaseSync`. The types of Node 20, the oldest that TWS runs on, lack the module. */
export type Sqlite = {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
};

type Module = {
  readonly DatabaseSync: new (file: string, options?: { readonly readOnly?: boolean }) => Sqlite;
};

let loaded: Module | undefined;

/** Whether this Node has `node:sqlite` without a flag: 22.13 and later have. */
export const hasSqlite = (): boolean => load() !== undefined;

/** Opens a file of SQLite. @throws Error where Node has no SQLite, or of SQLite */
export function openSqlite(file: string, options: { readonly readOnly?: boolean } = {}): Sqlite {
  const module = load();
  if (module === undefined) throw new Error(`Node ${process.version} has no SQLite`);
  return new module.DatabaseSync(file, options);
}

/** Node warns that the module is experimental; the operator of a server can do nothing about it. */
function load(): Module | undefined {
  if (loaded !== undefined) return loaded;
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    loaded = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as Module | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
  return loaded;
}
