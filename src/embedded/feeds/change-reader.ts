import type { Database } from '../databases/database.js';
import type { RequestQuery } from '../http/query.js';
import { Absent, type FeedChange, type StoredChange } from '../storage/storage.js';
import { withJson } from './recent-changes.js';
import type { ChangeFilter } from './filters.js';

const PAGE = 100;

/** Reads the rows of a feed as JSON texts. */
export type ChangeReader = {
  /**
   * Rows after `since`, some at a time, until there are no more or `limit` is met; returns the
   * sequence reached.
   */
  rows(since: number, limit: number): AsyncGenerator<readonly string[], number>;
};

/** A reader with the parameters of a request: what rows show, their order, their filter. */
export function changeReader(
  database: Database,
  query: RequestQuery,
  filter: ChangeFilter | undefined,
): ChangeReader {
  const shown = {
    docs: query.flag('include_docs') === true,
    conflicts: query.flag('conflicts') === true,
    attachments: query.flag('attachments') === true,
    allLeaves: query.text('style') === 'all_docs',
  };
  const descending = query.flag('descending') === true;
  const toRow = async (change: StoredChange): Promise<string> => {
    const doc = shown.docs ? `,"doc":${await docOf(database, change, shown)}` : '';
    const leaves = shown.allLeaves ? change.leaves : change.leaves.slice(0, 1);
    const changes = JSON.stringify(leaves.map((rev) => ({ rev })));
    const seq = JSON.stringify(database.formatSeq(change.seq));
    const deleted = change.deleted ? ',"deleted":true' : '';
    return `{"seq":${seq},"id":${JSON.stringify(change.id)},"changes":${changes}${deleted}${doc}}`;
  };

  return {
    async *rows(since, limit) {
      let at = since;
      let left = limit;
      for (;;) {
        const size = filter === undefined ? Math.min(PAGE, left) : PAGE;
        const page = descending ? await newestFirst(database) : await database.hub.after(at, size);
        const passed = filter === undefined ? undefined : await filter(page);
        const rows: string[] = [];
        for (const [i, change] of page.entries()) {
          if (rows.length === left) break;
          at = change.seq;
          if (passed === undefined || passed[i] === true) rows.push(await toRow(change));
        }
        left -= rows.length;
        if (rows.length > 0) yield rows;
        if (page.length < size || left === 0 || descending) return at;
      }
    },
  };
}

/**
 * From the newest to the oldest there is no resuming: all that there is. It is read in pages, as they
 * hold up writes; a document that changed between two of them is taken from the later one.
 */
async function newestFirst({ store }: Database): Promise<StoredChange[]> {
  const all = new Map<string, FeedChange>();
  let since = 0;
  for (;;) {
    const page = await store.changes({ since, limit: PAGE });
    for (const change of page) {
      all.delete(change.id);
      all.set(change.id, change);
      since = change.seq;
    }
    if (page.length < PAGE) return [...all.values()].reverse().map(withJson);
  }
}

async function docOf(
  { store }: Database,
  change: StoredChange,
  shown: { readonly conflicts: boolean; readonly attachments: boolean },
): Promise<string> {
  let json = change.json;
  if (shown.attachments && change.doc['_attachments'] !== undefined) {
    const doc = await store.get(change.id, { rev: change.leaves[0] ?? '', attachments: true });
    if (!(doc instanceof Absent)) json = JSON.stringify(doc);
  }
  if (!shown.conflicts || change.conflicts.length === 0) return json;
  return `${json.slice(0, -1)},"_conflicts":${JSON.stringify(change.conflicts)}}`;
}
