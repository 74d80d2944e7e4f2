import { randomUUID } from 'node:crypto';
import { problem } from '../../errors.js';
import {
  databasePath,
  documentPath,
  openClient,
  unexpected,
  type CouchClient,
} from '../../store/client.js';
import type { Connection } from '../../store/connection.js';
import { readDatabase } from '../../store/database-state.js';
import { addressOf } from '../../store/moved.js';

/** Local documents are never replicated: each database has its own. */
const sourceMark = '_local/tws-move-id';
const targetMark = '_local/tws-move-of';

/**
 * Marks an empty database as the target of a move of this one; one that is marked so is taken again.
 * @throws TwsError `move_target_used`, and those of `CouchClient.ask`
 */
export async function claimTarget(from: Connection, to: Connection): Promise<void> {
  const [source, target] = [openClient(from), openClient(to)];
  const id =
    (await readMark(source, sourceMark)) ?? (await writeMark(source, sourceMark, randomUUID()));
  const of = await readMark(target, targetMark);
  if (of === id) return;
  const { documents } = await readDatabase(target);
  if (of !== undefined || documents > 0) {
    throw problem('move_target_used', { place: addressOf(to), documents });
  }
  await writeMark(target, targetMark, id);
}

const action = 'remember where a database is moved';

async function readMark(client: CouchClient, mark: string): Promise<string | undefined> {
  const path = databasePath(client.connection, documentPath(mark));
  const reply = await client.ask({ path, action });
  if (reply.kind === 'answered') return String((reply.body as { readonly id?: unknown }).id);
  if (reply.status === 404) return undefined;
  throw unexpected(client.connection, action, reply);
}

async function writeMark(client: CouchClient, mark: string, id: string): Promise<string> {
  const path = databasePath(client.connection, documentPath(mark));
  const reply = await client.ask({ method: 'PUT', path, body: { id }, action });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  return id;
}
