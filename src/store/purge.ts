import { unexpected, databasePath, type CouchClient } from './client.js';

/** CouchDB takes at most so many documents in one request. */
export const mostPurged = 100;

/** Deleted documents: the revision of its tombstone, by id. */
export type Tombstones = ReadonlyMap<string, string>;

/**
 * Whether the server purges for this user: CouchDB asks for a server administrator. @throws TwsError those of
 * `CouchClient.ask`
 */
export async function mayPurge(client: CouchClient): Promise<boolean> {
  return (await send(client, new Map())) !== undefined;
}

/** Those of the documents that are deleted. @throws TwsError those of `CouchClient.ask` */
export async function readTombstones(
  client: CouchClient,
  ids: readonly string[],
): Promise<Tombstones> {
  const action = 'read tombstones';
  const path = databasePath(client.connection, '/_all_docs');
  const reply = await client.ask({ method: 'POST', path, body: { keys: ids }, action, long: true });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  const { rows } = reply.body as { readonly rows?: unknown };
  if (!Array.isArray(rows)) {
    throw unexpected(client.connection, action, { status: 200, reason: 'it has no rows' });
  }
  return new Map(
    (rows as readonly Row[]).flatMap(({ id, value }): [string, string][] =>
      typeof id === 'string' && value?.deleted === true && typeof value.rev === 'string'
        ? [[id, value.rev]]
        : [],
    ),
  );
}

type Row = {
  readonly id?: unknown;
  readonly value?: { readonly rev?: unknown; readonly deleted?: unknown } | null;
};

/**
 * Purges tombstones, at most `mostPurged` of them; resolves with those that were one until then, or with undefined
 * where the server refuses. CouchDB 3.4 takes the rows of a document that is none any more out of the views.
 * @throws TwsError those of `CouchClient.ask`
 */
export async function purgeTombstones(
  client: CouchClient,
  tombstones: Tombstones,
): Promise<ReadonlySet<string> | undefined> {
  const purged = await send(client, tombstones);
  if (purged === undefined) return undefined;
  const isPurged = ([id, rev]: readonly [string, string]): boolean => {
    const revs = purged[id];
    return Array.isArray(revs) && revs.includes(rev);
  };
  return new Set([...tombstones].filter(isPurged).map(([id]) => id));
}

/** Resolves with what was purged, by id; undefined: the server does not let us. */
async function send(
  client: CouchClient,
  tombstones: Tombstones,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const action = 'purge tombstones';
  const path = databasePath(client.connection, '/_purge');
  const body = Object.fromEntries([...tombstones].map(([id, rev]) => [id, [rev]]));
  try {
    const reply = await client.ask({ method: 'POST', path, body, action, long: true });
    if (reply.kind === 'refused') return undefined;
    const { purged } = reply.body as { readonly purged?: unknown };
    return typeof purged === 'object' && purged !== null
      ? (purged as Readonly<Record<string, unknown>>)
      : undefined;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (refusals.has(code)) return undefined;
    throw error;
  }
}

const refusals = new Set<unknown>(['couch_not_admin', 'couch_forbidden']);
