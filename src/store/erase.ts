import { setTimeout as sleep } from 'node:timers/promises';
import { problem } from '../errors.js';
import { databasePath, openClient, unexpected, type CouchClient } from './client.js';
import { serverUrl, type Connection } from './connection.js';
import { mayPurge, mostPurged, purgeTombstones, readTombstones } from './purge.js';
import { openStore, type Store } from './store.js';

/** Others may write a document while it is erased; after so many rounds it is given up. */
const mostRounds = 20;

/**
 * Erases documents so that no file of the database has their content any more: deletes all their revisions, purges
 * the tombstones, and waits until the database is compacted. Resolves with the ids of those that were there.
 * @throws TwsError `couch_not_admin` before anything is deleted, where the server does not let us purge; `couch_failed`
 * where the embedded server tells that the compaction failed: then the files may still have the content
 */
export async function eraseDocuments(
  connection: Connection,
  ids: readonly string[],
): Promise<readonly string[]> {
  const erased = await forgetDocuments(connection, ids);
  // Also when there was nothing: a former call may have ended before.
  await compactToEnd(openClient(connection));
  return erased;
}

/**
 * As `eraseDocuments`, but files may have their content until somebody compacts the database.
 * @throws TwsError `couch_not_admin` before anything is deleted, where the server does not let us purge
 */
export async function forgetDocuments(
  connection: Connection,
  ids: readonly string[],
): Promise<readonly string[]> {
  const client = openClient(connection);
  await assertMayPurge(client);
  const store = openStore(connection);
  try {
    const erased: string[] = [];
    for (let from = 0; from < ids.length; from += mostPurged) {
      erased.push(...(await eraseSome(client, store, ids.slice(from, from + mostPurged))));
    }
    return erased;
  } finally {
    await store.close();
  }
}

/** @throws TwsError `couch_not_admin` where the server does not let us erase documents */
export const assertMayErase = (connection: Connection): Promise<void> =>
  assertMayPurge(openClient(connection));

async function assertMayPurge(client: CouchClient): Promise<void> {
  if (await mayPurge(client)) return;
  const url = serverUrl(client.connection);
  throw problem('couch_not_admin', { url, action: 'purge documents' });
}

async function eraseSome(
  client: CouchClient,
  store: Store,
  ids: readonly string[],
): Promise<readonly string[]> {
  const there = new Set<string>();
  for (let round = 1; round <= mostRounds; round += 1) {
    let left = 0;
    for (const id of ids) {
      for (const { _rev } of await store.leaves(id, 1)) {
        left += 1;
        there.add(id);
        const result = await store.remove(id, _rev);
        if (result.kind === 'refused') {
          throw problem('document_refused', { id, reason: result.reason });
        }
      }
    }
    const tombstones = await readTombstones(client, ids);
    if (left === 0 && tombstones.size === 0) return [...there];
    if (tombstones.size === 0) continue;
    for (const id of tombstones.keys()) there.add(id);
    if ((await purgeTombstones(client, tombstones)) === undefined) await assertMayPurge(client);
  }
  throw problem('write_unknown', { id: String(ids[0]), cause: 'it is written again and again' });
}

const lookMs = 100;

const action = 'compact the database';

/** Compacts a database and resolves when that has ended. @throws TwsError those of `CouchClient.ask` */
async function compactToEnd(client: CouchClient): Promise<void> {
  // One that runs already may have copied what was erased since; the server begins no other beside it.
  const { compacted: before } = await untilCompacted(client);
  const path = databasePath(client.connection, '/_compact');
  const reply = await client.ask({ method: 'POST', path, body: {}, action, long: true });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  const { compact_error: failed, compacted } = await untilCompacted(client);
  // The embedded server numbers those that succeeded; one that was started anew knows none of before.
  const isDone = typeof before !== 'number' || Number(compacted ?? 0) > before;
  if (isDone && failed === undefined) return;
  const reason = typeof failed === 'string' ? failed : 'The server was started anew meanwhile.';
  throw unexpected(client.connection, action, { status: 500, reason });
}

/** What a database tells of its compactions; CouchDB does not tell how they ended. */
type CompactionTold = {
  readonly compact_running?: unknown;
  readonly compact_error?: unknown;
  readonly compacted?: unknown;
};

/** Resolves when no compaction runs. */
async function untilCompacted(client: CouchClient): Promise<CompactionTold> {
  for (;;) {
    const about = await client.ask({ path: databasePath(client.connection), action });
    if (about.kind === 'refused') throw unexpected(client.connection, action, about);
    const told = about.body as CompactionTold;
    if (told.compact_running !== true) return told;
    await sleep(lookMs);
  }
}
