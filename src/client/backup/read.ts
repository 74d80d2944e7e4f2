import { databasePath, openClient, unexpected, type CouchClient } from '../../store/client.js';
import type { Connection } from '../../store/connection.js';
import { readDatabase } from '../../store/database-state.js';

/** A document with its whole content: attachments as base64, and the revisions before this one. */
export type BackedUp = Readonly<Record<string, unknown>> & {
  readonly _id: string;
  readonly _rev: string;
};

/** Some documents, in the order in which they were written last. */
export type BackupBatch = { readonly docs: readonly BackedUp[]; readonly expected: number };

/** Revisions asked for at a time; those of jobs may carry large attachments. */
const together = 100;

/**
 * Reads every document of a database, with attachments, conflicts and the numbers of earlier revisions, while others
 * write. One that changes meanwhile comes again, later; one that is deleted meanwhile comes as deleted. It ends when
 * it has caught up, so what was read is what a replica has at that moment.
 * @throws TwsError of `CouchClient.ask`
 */
export async function* readAll(
  connection: Connection,
  signal: AbortSignal,
): AsyncGenerator<BackupBatch> {
  const client = openClient(connection);
  const read = new Set<string>();
  let since: unknown = '0';
  for (;;) {
    signal.throwIfAborted();
    const { changes, last } = await changesSince(client, since, signal);
    since = last;
    const wanted = changes.filter(({ id, deleted }) => deleted !== true || read.has(id));
    const docs = await fetchAll(client, wanted, signal);
    const kept = docs.filter((doc) => doc['_deleted'] !== true || read.has(doc._id));
    for (const { _id } of kept) read.add(_id);
    const { documents } = await readDatabase(client, signal);
    if (kept.length > 0) yield { docs: kept, expected: documents };
    if (changes.length < together) return;
  }
}

type ChangeRow = {
  readonly id: string;
  readonly deleted?: boolean;
  readonly changes: readonly { readonly rev: string }[];
};

async function changesSince(client: CouchClient, since: unknown, signal: AbortSignal) {
  const action = 'read its changes';
  const reply = await client.ask({
    path: databasePath(client.connection, '/_changes'),
    query: { since: String(since), limit: together, style: 'all_docs' },
    ...{ action, long: true, signal },
  });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  const { results, last_seq: last } = reply.body as {
    readonly results: readonly ChangeRow[];
    readonly last_seq: unknown;
  };
  return { changes: results, last };
}

type BulkGot = {
  readonly results: readonly { readonly docs: readonly { readonly ok?: BackedUp }[] }[];
};

async function fetchAll(
  client: CouchClient,
  rows: readonly ChangeRow[],
  signal: AbortSignal,
): Promise<readonly BackedUp[]> {
  if (rows.length === 0) return [];
  const action = 'read its documents';
  const docs = rows.flatMap(({ id, changes }) => changes.map(({ rev }) => ({ id, rev })));
  const reply = await client.ask({
    method: 'POST',
    path: databasePath(client.connection, '/_bulk_get'),
    query: { revs: true, attachments: true },
    body: { docs },
    ...{ action, long: true, signal },
  });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  // A revision that was replaced meanwhile may be gone: the later one comes with the next changes.
  const { results } = reply.body as BulkGot;
  return results.flatMap(({ docs: found }) => found.flatMap(({ ok }) => ok ?? []));
}
