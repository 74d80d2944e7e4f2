import type { DocumentStore, LeavesById, Purge } from '../storage.js';
import { headOf, storedChange, type Head } from './documents.js';
import { allLeaves, withoutRevisions, type Revisions } from './histories.js';
import type { SqliteFiles } from './sqlite-files.js';
import type { SqliteSession, Transaction } from './sqlite-session.js';
import { digestsOf, placeLeaves } from './sqlite-writes.js';

type Purging = Pick<DocumentStore, 'purge' | 'purgeSeq' | 'purges' | 'forgetPurges'>;

/** The purges of a store on SQLite. `purged` is called after each: nothing else tells that documents are gone. */
export function sqlitePurges(
  session: SqliteSession,
  files: SqliteFiles,
  purged: () => void,
): Purging {
  const { read, change } = session;
  return {
    async purge(wanted) {
      const taken = await change(
        wanted.size,
        (transaction): LeavesById =>
          new Map(
            [...wanted].map(([id, revs]) => [id, purgeOne({ transaction, files }, id, revs)]),
          ),
      );
      purged();
      return taken;
    },
    purgeSeq: () => read((_, counts) => counts.purged),
    purges: (since) =>
      read((sql) =>
        sql.purges.all(since).map((row): Purge => {
          const revs = JSON.parse(String(row['revs'])) as string[];
          return { seq: Number(row['seq']), id: String(row['id']), revs };
        }),
      ),
    forgetPurges: (upTo) => change(1, ({ sql }) => void sql.dropPurges.run(upTo)),
  };
}

type Context = { readonly transaction: Transaction; readonly files: SqliteFiles };

/** Returns the leaves that the document had. */
function purgeOne(context: Context, id: string, asked: readonly string[]): readonly string[] {
  const { sql, counts, spent } = context.transaction;
  const row = sql.head.get(id);
  if (row === undefined) return [];
  const head = headOf(row);
  const leaves = new Set(allLeaves(head).map(({ rev }) => rev));
  const revs = [...new Set(asked)].filter((rev) => leaves.has(rev));
  if (revs.length === 0) return [];
  counts.purged += 1;
  const text = JSON.stringify(revs);
  sql.putPurge.run(counts.purged, id, text);
  spent(text.length);
  const left = withoutRevisions(head, new Set(revs));
  counts[head.deleted ? 'deleted' : 'live'] -= 1;
  if (left === undefined) removeDocument(context, head);
  else keepLeaves(context, head, left);
  return revs;
}

function removeDocument({ transaction, files }: Context, { key, files: hasFiles }: Head): void {
  const { sql } = transaction;
  sql.dropLeaves.run(key);
  sql.dropDoc.run(key);
  if (hasFiles) files.keep(transaction, key, new Set());
}

/** What is left is the newest change: feeds show it again. */
function keepLeaves({ transaction, files }: Context, head: Head, left: Revisions): void {
  const { sql, counts, wrote } = transaction;
  const { key, id } = head;
  const body = placeLeaves(sql, head, { revisions: left, rev: '', body: '{}' });
  const digests = head.files ? digestsOf(sql, key, body) : new Set<string>();
  counts.seq += 1;
  counts[left.deleted ? 'deleted' : 'live'] += 1;
  const { seq } = counts;
  const { rev, deleted, line, tree } = left;
  const hasFiles = digests.size > 0;
  sql.update.run(seq, rev, Number(deleted), Number(hasFiles), line, tree, body, key);
  if (head.files) files.keep(transaction, key, digests);
  wrote(storedChange({ ...left, key, id, seq, files: hasFiles, body }));
}
