import { problem } from '../errors.js';
import { databasePath, documentPath, openClient, unexpected, type CouchClient } from './client.js';
import { serverUrl, type Connection } from './connection.js';

/**
 * The design document of a database that has moved. Its `validate_doc_update` refuses every write but
 * those of a server admin to design documents, so nothing is stored in a place where nobody looks any more.
 */
export const movedId = '_design/tws_moved';

/** Where the documents of a database are now, for people: `http://db1:5984/orders`. */
export function addressOf(connection: Connection): string {
  return `${serverUrl(connection)}/${connection.database}`;
}

/** Where a database has moved; undefined: it has not. @throws TwsError, see `CouchClient.ask` */
export async function movedTo(client: CouchClient): Promise<string | undefined> {
  return (await readMark(client))?.moved_to;
}

/** Throws when the database has moved. @throws TwsError `database_moved`, and those of `CouchClient.ask` */
export async function refuseMoved(client: CouchClient): Promise<void> {
  const to = await movedTo(client);
  if (to !== undefined)
    throw problem('database_moved', { database: client.connection.database, to });
}

/**
 * Has the database refuse all writes from now on, and say where it has moved.
 * @throws TwsError `couch_not_admin`, and those of `CouchClient.ask`
 */
export async function markMoved(connection: Connection, to: string): Promise<void> {
  const client = openClient(connection);
  const stored = await readMark(client);
  if (stored?.moved_to === to) return;
  const sentence = JSON.stringify(
    `This database has moved to ${to}; nothing is stored here any more.`,
  );
  await change(client, {
    method: 'PUT',
    body: {
      _id: movedId,
      ...(stored === undefined ? {} : { _rev: stored._rev }),
      language: 'javascript',
      moved_to: to,
      validate_doc_update: `function () { throw { forbidden: ${sentence} }; }`,
    },
  });
}

/** Lets the database take writes again. @throws TwsError as `markMoved` */
export async function unmarkMoved(connection: Connection): Promise<void> {
  const client = openClient(connection);
  const stored = await readMark(client);
  if (stored !== undefined) {
    await change(client, { method: 'DELETE', query: { rev: stored._rev } });
  }
}

type Mark = { readonly _rev: string; readonly moved_to: string };

async function readMark(client: CouchClient): Promise<Mark | undefined> {
  const action = 'say whether the database has moved';
  const path = databasePath(client.connection, documentPath(movedId));
  const reply = await client.ask({ path, action });
  if (reply.kind === 'refused') {
    if (reply.status === 404) return undefined;
    throw unexpected(client.connection, action, reply);
  }
  const { _rev, moved_to } = reply.body as Readonly<Record<string, unknown>>;
  if (typeof _rev !== 'string' || typeof moved_to !== 'string') {
    const reason = `the answer is not ${movedId}`;
    throw unexpected(client.connection, action, { status: 200, reason });
  }
  return { _rev, moved_to };
}

async function change(
  client: CouchClient,
  request: {
    readonly method: 'PUT' | 'DELETE';
    readonly body?: unknown;
    readonly query?: { rev: string };
  },
): Promise<void> {
  const action = `store ${movedId}`;
  const path = databasePath(client.connection, documentPath(movedId));
  const reply = await client.ask({ path, action, ...request });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
}
