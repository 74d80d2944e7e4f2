import { randomUUID } from 'node:crypto';
import type { Connection } from '../../src/store/connection.js';
import { admin, couchUrl } from '../support/couch.js';

/** The connection of the test server's admin to a database. */
export function connect(database: string, url = new URL(couchUrl()).origin): Connection {
  return { url, database, app: 'tws', ...admin() };
}

/**
 * The connection of a user who does not exist. Wrong passwords of a real one would lock that account
 * for all tests: CouchDB does so after five.
 */
export function connectAsStranger(database: string, password = 'wrong-password'): Connection {
  return { ...connect(database), user: `stranger-${randomUUID()}`, password };
}
