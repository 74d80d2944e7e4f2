import { problem } from '../errors.js';
import { openClient, unexpected, type CouchClient, databasePath } from './client.js';
import type { Connection } from './connection.js';
import { readDatabase } from './database-state.js';

/** Revisions kept of every document: enough for replication to find what they have in common. */
const wantedRevsLimit = 100;

/** What was done. */
export type CreatedDatabase = {
  readonly database: 'created' | 'exists';
  /** Nodes of the cluster; undefined when it was not asked (the database exists). */
  readonly nodes?: number;
  /** Copies of every document. With more than one a conflict is not always noticed at once. */
  readonly copies: number;
  readonly revsLimit: 'set' | 'unchanged';
};

/**
 * Creates the database of the connection unless it exists. On a cluster of several nodes it gets one
 * copy of every document, because only then exactly one of several writers of a revision is told
 * that it won; `copies` asks for another number. Repeating it changes nothing.
 * @throws TwsError `couch_not_admin`, `database_name_invalid`, and those of `CouchClient.ask`
 */
export async function createDatabase(
  connection: Connection,
  options: { readonly copies?: number } = {},
): Promise<CreatedDatabase> {
  const client = openClient(connection);
  const exists = await isThere(client);
  const made = exists ? ({ database: 'exists' } as const) : await create(client, options.copies);
  const revsLimit = await limitRevisions(client);
  const { copies } = await readDatabase(client);
  return { ...made, copies, revsLimit };
}

/** Creates the database if it is missing; one that exists stays as it is. Throws as `createDatabase` does. */
export async function createMissingDatabase(connection: Connection): Promise<void> {
  if (!(await isDatabaseThere(connection))) await createDatabase(connection);
}

/** Whether a database exists. @throws TwsError `database_name_invalid`, and those of a server out of reach */
export function isDatabaseThere(connection: Connection): Promise<boolean> {
  return isThere(openClient(connection));
}

async function isThere(client: CouchClient): Promise<boolean> {
  const action = 'look for the database';
  const { connection } = client;
  try {
    const reply = await client.ask({ path: databasePath(connection), action, long: true });
    if (reply.kind === 'answered') return true;
    if (reply.status === 400) {
      throw problem('database_name_invalid', { database: connection.database });
    }
    if (reply.status === 404) return false;
    throw unexpected(connection, action, reply);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'database_missing') return false;
    throw error;
  }
}

async function create(
  client: CouchClient,
  copies: number | undefined,
): Promise<{ readonly database: 'created' | 'exists'; readonly nodes: number }> {
  const { connection } = client;
  const action = `create the database "${connection.database}"`;
  const nodes = await countNodes(client, action);
  const n = copies ?? (nodes > 1 ? 1 : undefined);
  const query = n === undefined ? {} : { n };
  const path = databasePath(connection);
  const reply = await client.ask({ method: 'PUT', path, query, action, long: true });
  if (reply.kind === 'answered') return { database: 'created', nodes };
  if (reply.status === 412) return { database: 'exists', nodes };
  if (reply.status === 400) {
    throw problem('database_name_invalid', { database: connection.database });
  }
  throw unexpected(connection, action, reply);
}

/** Nodes of the cluster; 1 where the server knows no clusters. */
export async function countNodes(client: CouchClient, action: string): Promise<number> {
  const reply = await client.ask({ path: '/_membership', action, long: true });
  if (reply.kind === 'refused') return 1;
  const { cluster_nodes: nodes } = reply.body as { cluster_nodes?: unknown };
  return Array.isArray(nodes) ? nodes.length : 1;
}

/** A limit that somebody set lower stays. */
async function limitRevisions(client: CouchClient): Promise<'set' | 'unchanged'> {
  const action = 'limit the revisions kept';
  const path = databasePath(client.connection, '/_revs_limit');
  const now = await client.ask({ path, action, long: true });
  if (now.kind === 'answered' && Number(now.body) <= wantedRevsLimit) return 'unchanged';
  const set = { method: 'PUT', path, body: wantedRevsLimit, action, long: true } as const;
  const reply = await client.ask(set);
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  return 'set';
}
