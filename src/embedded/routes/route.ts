import { isDatabaseAdmin, isMember } from '../auth/security.js';
import { isServerAdmin, mayReadUserDoc, USERS } from '../auth/users.js';
import type { Database } from '../databases/database.js';
import { refuse } from '../http/couch-error.js';
import type { Exchange } from '../http/exchange.js';

/** Who may use an endpoint; a member is somebody whom the database's security lets in. */
export type Right = 'nobody' | 'user' | 'server_admin';
export type DatabaseRight = 'member' | 'database_admin' | 'server_admin';

export type ServerHandler = (x: Exchange) => Promise<void> | void;
export type DatabaseHandler = (x: Exchange, database: Database) => Promise<void> | void;

export type Methods<H> = Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE' | 'COPY', H>>>;

/** Endpoints by name; a method may ask for another right than the rest of its endpoint. */
export type ServerRoute = {
  readonly right: Right;
  readonly methods: Methods<ServerHandler>;
  /** CouchDB has no HEAD here. */
  readonly headless?: boolean;
};
export type DatabaseRoute = {
  readonly right: DatabaseRight | ((method: string) => DatabaseRight);
  readonly methods: Methods<DatabaseHandler>;
  /** CouchDB has no HEAD here. */
  readonly headless?: boolean;
};

/** The handler for the request's method; HEAD is GET without a body. @throws CouchError 405 */
export function methodHandler<H>(
  { methods, headless = false }: { readonly methods: Methods<H>; readonly headless?: boolean },
  method: string,
): H {
  const name = method === 'HEAD' && !headless ? 'GET' : method;
  const handler = Object.hasOwn(methods, name) ? methods[name as 'GET'] : undefined;
  if (handler !== undefined) return handler;
  const allowed = Object.keys(methods);
  throw refuse.methodNotAllowed(
    allowed.includes('GET') && !headless ? ['HEAD', ...allowed] : allowed,
  );
}

/** @throws CouchError 401 */
export function requireRight({ user }: Exchange, right: Right): void {
  if (right === 'nobody') return;
  if (user.name === null)
    throw refuse.unauthorized('You are not authorized to access this server.');
  if (right === 'server_admin' && !isServerAdmin(user)) {
    throw refuse.unauthorized('You are not a server admin.');
  }
}

/** @throws CouchError 401 for nobody, 403 for a user who may not */
export function requireDatabaseRight(x: Exchange, database: Database, right: DatabaseRight): void {
  const { user } = x;
  const security = database.security();
  if (user.name === null) throw refuse.unauthorized('You are not authorized to access this db.');
  const isUsers = database.name === USERS && !isServerAdmin(user);
  if (isUsers ? !isOwnUserDoc(x) : !isMember(user, security)) {
    throw refuse.forbidden('You are not allowed to access this db.');
  }
  if (right === 'database_admin' && !isDatabaseAdmin(user, security)) {
    throw refuse.unauthorized('You are not a db or server admin.');
  }
  if (right === 'server_admin' && !isServerAdmin(user)) {
    throw refuse.unauthorized('You are not a server admin.');
  }
}

/** Users reach their own document in `_users`, and nothing else there. */
const isOwnUserDoc = ({ path, user }: Exchange): boolean =>
  path.length === 2 && mayReadUserDoc(path[1] ?? '', user);
