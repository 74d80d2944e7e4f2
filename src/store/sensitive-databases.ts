import { databasePath, openClient, unexpected } from './client.js';
import type { Connection } from './connection.js';
import { createDatabase } from './database.js';

/** Who reads and writes a database, beside server admins. */
export type DatabaseMembers = { readonly roles: readonly string[] };

/**
 * Creates a database that only server admins and the roles can read, unless it exists, and sets who may read it
 * in any case. `validate`: the text of its `validate_doc_update`. @throws TwsError as `createDatabase`
 */
export async function createClosedDatabase(
  connection: Connection,
  { roles }: DatabaseMembers,
  validate?: string,
): Promise<'created' | 'exists'> {
  const { database } = await createDatabase(connection);
  const client = openClient(connection);
  const put = async (rest: string, body: unknown, action: string): Promise<void> => {
    const path = databasePath(connection, rest);
    const reply = await client.ask({ method: 'PUT', path, body, action, long: true });
    if (reply.kind === 'refused') throw unexpected(connection, action, reply);
  };
  const members = { names: [], roles: ['_admin', ...roles] };
  const security = { admins: { names: [], roles: ['_admin'] }, members };
  await put('/_security', security, 'set who may read the database');
  if (validate === undefined) return database;
  const action = 'install the rules of the database';
  const place = '/_design/sensitive';
  const there = await client.ask({ path: databasePath(connection, place), action });
  const stored = there.kind === 'answered' ? (there.body as Readonly<Record<string, unknown>>) : {};
  if (stored['validate_doc_update'] === validate) return database;
  await put(place, { ...stored, validate_doc_update: validate, language: 'javascript' }, action);
  return database;
}
