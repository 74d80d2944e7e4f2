import { randomUUID } from 'node:crypto';
import {
  databasePath,
  documentPath,
  openClient,
  unexpected,
  type CouchClient,
  type CouchRequest,
} from './client.js';
import type { Connection } from './connection.js';

/**
 * Whether two connections lead to the same database, however its address is written: stores a document that is
 * never replicated in the one, looks for it in the other, and removes it.
 * @throws TwsError those of `CouchClient.ask`; also when it cannot be read where it was stored
 */
export async function isSameDatabase(one: Connection, other: Connection): Promise<boolean> {
  const client = openClient(one);
  const action = 'tell two databases apart';
  const mark = documentPath(`_local/tws-mark-${randomUUID()}`);
  const change = async (request: Pick<CouchRequest, 'method' | 'body' | 'query'>) => {
    const reply = await client.ask({ path: databasePath(one, mark), action, ...request });
    if (reply.kind === 'refused') throw unexpected(one, action, reply);
    return reply.body as { readonly rev?: unknown };
  };
  const { rev } = await change({ method: 'PUT', body: {} });
  try {
    const isThere = await isFound(openClient(other), mark, action);
    if (isThere || (await isFound(client, mark, action))) return isThere;
    const reason = 'a document that was just stored cannot be read';
    throw unexpected(one, action, { status: 404, reason });
  } finally {
    // A mark that stays is in nobody's way.
    await change({ method: 'DELETE', query: { rev } }).catch(() => undefined);
  }
}

async function isFound(client: CouchClient, mark: string, action: string): Promise<boolean> {
  const reply = await client.ask({ path: databasePath(client.connection, mark), action });
  if (reply.kind === 'answered') return true;
  if (reply.status === 404) return false;
  throw unexpected(client.connection, action, reply);
}
