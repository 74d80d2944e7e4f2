import type { Connection } from '../store/connection.js';
import { createDatabase, type CreatedDatabase } from '../store/database.js';
import { installDesign, type DesignOptions, type Installed } from '../store/design.js';
import { measureGuard, type GuardCost } from '../store/guard-cost.js';
import { checkServer, type ServerReport } from '../store/server.js';
import { openStore, type Store, type StoreOptions } from '../store/store.js';
import { createClient, type Client } from './client.js';

export type { GuardCost } from '../store/guard-cost.js';
export type { ServerReport } from '../store/server.js';

/** A client and what it stands on: the engine takes the store, nobody else needs it. */
export type Opened = {
  readonly client: Client;
  readonly store: Store;
  readonly close: () => Promise<void>;
};

/** Opens the database that the settings name; nothing is sent before the first request. */
export function openDatabase(settings: Connection, options: StoreOptions = {}): Opened {
  const store = openStore(connectionOf(settings), options);
  return { client: createClient({ store }), store, close: store.close };
}

/** What `prepareDatabase` found and did. */
export type PreparedDatabase = { readonly database: CreatedDatabase; readonly design: Installed };

/**
 * Creates the database and the design documents, or what is missing of them. `guard`: whether it has
 * the guard; without it a new database has one, and any other is left as it was chosen before.
 * @throws TwsError `couch_not_admin`, `database_name_invalid` and those of a server out of reach
 */
export async function prepareDatabase(
  settings: Connection,
  options: { readonly copies?: number | undefined } & DesignOptions = {},
): Promise<PreparedDatabase> {
  const connection = connectionOf(settings);
  const { copies, guard } = options;
  const database = await createDatabase(connection, copies === undefined ? {} : { copies });
  return { database, design: await installDesign(connection, { guard }) };
}

/** Installs the design documents alone, the guard as it was chosen before. @throws TwsError as `prepareDatabase` */
export function pushDesign(settings: Connection): Promise<Installed> {
  return installDesign(connectionOf(settings));
}

/**
 * Measures what the guard costs on the server of these settings, in databases of its own.
 * @throws TwsError `couch_not_admin` without the right to create databases
 */
export function guardCost(settings: Connection): Promise<GuardCost> {
  return measureGuard(connectionOf(settings));
}

/** How far one can get with these settings; never throws for the server's sake. */
export function inspectServer(settings: Connection): Promise<ServerReport> {
  return checkServer(connectionOf(settings));
}

/** Nothing but the connection, of settings that hold more. */
export function connectionOf({ url, user, password, database, app }: Connection): Connection {
  return {
    url,
    database,
    app,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
  };
}
