import { changeOf, type Change } from './change.js';
import { unexpected, type CouchClient, databasePath } from './client.js';

/**
 * What had changed up to a moment. `seq` is where it ends; `more`: there is more after it;
 * `unknown`: the sequence is of another database, or of none.
 */
export type PastChanges =
  | {
      readonly kind: 'known';
      readonly changes: readonly Change[];
      readonly seq: string;
      readonly more: boolean;
    }
  | { readonly kind: 'unknown' };

/** Reads `_changes` once, with documents, or with all leaf revisions instead. @throws TwsError, see `CouchClient.ask` */
export async function readChanges(
  client: CouchClient,
  since: string,
  limit: number,
  { documents = true }: { readonly documents?: boolean } = {},
): Promise<PastChanges> {
  const action = 'tell what has changed';
  const path = databasePath(client.connection, '/_changes');
  const query = { since, limit, ...(documents ? { include_docs: true } : { style: 'all_docs' }) };
  const reply = await client.ask({ path, query, action, long: true });
  if (reply.kind === 'refused') {
    if (reply.status === 400) return { kind: 'unknown' };
    throw unexpected(client.connection, action, reply);
  }
  const { results, last_seq: seq, pending } = reply.body as Written;
  if (!Array.isArray(results)) {
    throw unexpected(client.connection, action, { status: 200, reason: 'it has no results' });
  }
  const changes = results.flatMap((row) => changeOf(row) ?? []);
  const more = typeof pending === 'number' ? pending > 0 : results.length >= limit;
  return { kind: 'known', changes, seq: String(seq), more };
}

type Written = {
  readonly results?: unknown;
  readonly last_seq?: unknown;
  readonly pending?: unknown;
};
