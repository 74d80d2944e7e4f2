import { join } from 'node:path';

import { indexMaps } from '../index-maps.js';
import type { Doc, DocumentStore, StoredChange } from '../storage.js';
import { DEFAULT_REVS_LIMIT, type StoreHome } from '../store-home.js';
import { sqliteFiles } from './sqlite-files.js';
import { openSqliteMap } from './sqlite-index.js';
import { sqlitePurges } from './sqlite-purges.js';
import { sqliteReads } from './sqlite-reads.js';
import { openSqliteSession, type SqliteSession } from './sqlite-session.js';
import { writeAll } from './sqlite-writes.js';

/** Pages that a compaction gives back in one go. */
const COMPACT_PAGES = 500;

type Listener = Parameters<DocumentStore['watch']>[0];

/** Opens one database on SQLite; see `storage.ts` for the contract. */
export async function openSqliteStore({
  home,
  settings,
  remove,
}: StoreHome): Promise<DocumentStore> {
  const listeners: Listener[] = [];
  const tell = (changes: readonly StoredChange[]): void =>
    listeners.forEach((listener) => listener(changes));
  const session = await openSqliteSession(join(home, 'documents.sqlite'), tell);
  const files = sqliteFiles(session);
  await files.removeLeftovers();
  const revsLimit = (): number =>
    (settings.get('revs_limit') as number | undefined) ?? DEFAULT_REVS_LIMIT;
  const { closeIndexes, reopenIndexes, ...indexes } = indexMaps({
    use: session.use,
    home: join(home, 'indexes'),
    openMap: openSqliteMap,
  });

  return {
    instance: session.instance,
    watch: (listener) => void listeners.push(listener),
    info: async () => {
      const fileBytes = await session.bytes();
      const { live, deleted, seq } = await session.read((_, counts) => ({ ...counts }));
      return { docCount: live, deletedCount: deleted, updateSeq: seq, fileBytes };
    },
    updateSeq: () => session.read((_, { seq }) => seq),
    write: (docs, { newEdits }) => writeAll({ session, files, revsLimit }, docs, newEdits),
    ...sqliteReads(session, files),
    ...sqlitePurges(session, files, () => listeners.forEach((listener) => listener(undefined))),
    ...sqliteLocals(session),
    ...indexes,
    revsLimit,
    setRevsLimit: (limit) => session.use(() => settings.save('revs_limit', limit)),
    setting: (name) => settings.get(name),
    saveSetting: (name, value) => session.use(() => settings.save(name, value)),
    compact: () => compact(session),
    reopen: async () => {
      await session.reopen();
      await reopenIndexes();
    },
    close: async () => {
      if (!session.closed()) await session.close(closeIndexes);
    },
    destroy: () =>
      session.close(async () => {
        await closeIndexes();
        await remove();
      }),
  };
}

/** The `_local` documents, which have no history: the last write wins. */
function sqliteLocals({
  read,
  change,
}: SqliteSession): Pick<DocumentStore, 'getLocal' | 'putLocal' | 'removeLocal' | 'listLocal'> {
  const toDoc = (id: string, row: Readonly<Record<string, unknown>>): Doc => ({
    _id: id,
    _rev: `0-${Number(row['rev'])}`,
    ...(JSON.parse(String(row['body'])) as object),
  });
  return {
    getLocal: (id) =>
      read((sql) => {
        const row = sql.local.get(id);
        return row === undefined ? undefined : toDoc(id, row);
      }),
    putLocal: ({ _id: id, _rev, ...body }) =>
      change(1, ({ sql, spent }) => {
        const rev = Number(sql.local.get(id)?.['rev'] ?? 0) + 1;
        const json = JSON.stringify(body);
        sql.putLocal.run(id, rev, json);
        spent(json.length);
        return `0-${rev}`;
      }),
    removeLocal: (id) => change(1, ({ sql }) => sql.dropLocal.run(id).changes > 0),
    listLocal: () => read((sql) => sql.locals.all().map((row) => toDoc(String(row['id']), row))),
  };
}

/** Superseded bodies are gone already: what is left to do is to give their pages back to the file system. */
async function compact(session: SqliteSession): Promise<void> {
  let left = await session.freePages(COMPACT_PAGES);
  // What others write meanwhile may need pages: it ends when no page could be given back.
  for (let before = left + 1; left > 0 && left < before;) {
    before = left;
    left = await session.freePages(COMPACT_PAGES);
  }
  await session.shrink();
}
