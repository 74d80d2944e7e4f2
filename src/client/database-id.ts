import { randomUUID } from 'node:crypto';
import {
  databasePath,
  documentPath,
  openClient,
  unexpected,
  type CouchClient,
} from '../store/client.js';
import type { Connection } from '../store/connection.js';

/*
 * What tells a database from all others, whatever its address is. Local documents are never replicated, and end with
 * their database: a copy, and one that is made anew under the same name, are others.
 */
const ownId = '_local/tws-move-id';
/** In the target of a move: the id of the database that was moved there. */
const movedFrom = '_local/tws-move-of';
/** In the target of a move: how it was before the cut-over. */
const cutOverId = '_local/tws-move-cut-over';

/** In the target of a move: up to where its feed has nothing but what the move brought. */
const copiedId = '_local/tws-move-copied';

const action = 'tell databases apart';

/** The id of a database, then that of the one that was moved there, as far as they have one; the own is first. */
export async function readDatabaseIds(connection: Connection): Promise<readonly string[]> {
  const client = openClient(connection);
  const ids = [await readMark(client, ownId), await readMark(client, movedFrom)];
  return ids.filter((id) => id !== undefined);
}

/** The id of a database, made where it has none. @throws TwsError those of `CouchClient.ask` */
export async function makeDatabaseId(connection: Connection): Promise<string> {
  const client = openClient(connection);
  const known = await readMark(client, ownId);
  if (known !== undefined) return known;
  const made = randomUUID();
  await writeMark(client, ownId, made);
  // Of two processes that write one at the same time, the later one counts.
  return (await readMark(client, ownId)) ?? made;
}

/** Whether this database was marked as the target of a move of that one; undefined: of none. */
export function readMoveMark(client: CouchClient): Promise<string | undefined> {
  return readMark(client, movedFrom);
}

/** Marks a database as the target of a move of the database with this id. */
export function writeMoveMark(client: CouchClient, id: string): Promise<void> {
  return writeMark(client, movedFrom, id);
}

/** Where the feed of a target stood before the cut-over, and the ids that are to be erased there. */
export type CutOver = { readonly seq: string; readonly forgets: readonly string[] };

type Local = Partial<CutOver> & { readonly id?: unknown; readonly _rev?: string };

/** What was noted before the cut-over of a move to this database. @throws TwsError those of `CouchClient.ask` */
export async function readCutOver(client: CouchClient): Promise<CutOver | undefined> {
  const { seq, forgets = [] } = (await readLocal(client, cutOverId)) ?? {};
  return seq === undefined ? undefined : { seq, forgets };
}

/** Notes it, instead of what was noted before. @throws TwsError those of `CouchClient.ask` */
export function writeCutOver(client: CouchClient, cutOver: CutOver): Promise<void> {
  return replaceLocal(client, cutOverId, cutOver);
}

/** Up to where the feed of a target has nothing but what the move brought. @throws TwsError those of `CouchClient.ask` */
export async function readCopiedSeq(client: CouchClient): Promise<string | undefined> {
  return (await readLocal(client, copiedId))?.seq;
}

/** Notes it, instead of what was noted before. @throws TwsError those of `CouchClient.ask` */
export function writeCopiedSeq(client: CouchClient, seq: string): Promise<void> {
  return replaceLocal(client, copiedId, { seq });
}

async function replaceLocal(client: CouchClient, id: string, content: object): Promise<void> {
  const { _rev } = (await readLocal(client, id)) ?? {};
  const path = databasePath(client.connection, documentPath(id));
  const body = { ...content, ...(_rev === undefined ? {} : { _rev }) };
  const reply = await client.ask({ method: 'PUT', path, body, action });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
}

async function readMark(client: CouchClient, mark: string): Promise<string | undefined> {
  const local = await readLocal(client, mark);
  return local === undefined ? undefined : String(local.id);
}

async function readLocal(client: CouchClient, id: string): Promise<Local | undefined> {
  const path = databasePath(client.connection, documentPath(id));
  const reply = await client.ask({ path, action });
  if (reply.kind === 'answered') return reply.body as Local;
  if (reply.status === 404) return undefined;
  throw unexpected(client.connection, action, reply);
}

async function writeMark(client: CouchClient, mark: string, id: string): Promise<void> {
  const path = databasePath(client.connection, documentPath(mark));
  const reply = await client.ask({ method: 'PUT', path, body: { id }, action });
  // A conflict: somebody else has written one.
  if (reply.kind === 'refused' && reply.status !== 409)
    throw unexpected(client.connection, action, reply);
}
