import { isJsonObject } from '../http/body.js';
import { refuse } from '../http/couch-error.js';
import { isServerAdmin, type UserContext } from './users.js';

export type Group = { readonly names?: readonly string[]; readonly roles?: readonly string[] };
/** The security object of a database. */
export type Security = { readonly admins?: Group; readonly members?: Group };

/** CouchDB 3's default: a new database is open to server admins only. */
export const ADMINS_ONLY: Security = {
  members: { roles: ['_admin'] },
  admins: { roles: ['_admin'] },
};

/** Reads a security object. @throws CouchError 400 */
export function parseSecurity(value: unknown): Security {
  if (!isJsonObject(value)) throw refuse.badRequest('security object must be a JSON object');
  for (const name of ['admins', 'members'] as const) {
    const group = value[name];
    if (group === undefined) continue;
    if (!isJsonObject(group)) throw refuse.badRequest(`${name} must be a JSON object`);
    for (const list of ['names', 'roles'] as const) {
      const members = group[list];
      if (members !== undefined && !isListOfStrings(members)) {
        throw refuse.badRequest(`${name}.${list} must be a JSON list of strings`);
      }
    }
  }
  return value;
}

const isListOfStrings = (value: unknown): boolean =>
  Array.isArray(value) && value.every((member) => typeof member === 'string');

export const isDatabaseAdmin = (user: UserContext, security: Security): boolean =>
  isServerAdmin(user) || isIn(user, security.admins);

/** A database without member names and roles is open to everybody who signed in. */
export function isMember(user: UserContext, security: Security): boolean {
  if (isDatabaseAdmin(user, security)) return true;
  const { names = [], roles = [] } = security.members ?? {};
  return (names.length === 0 && roles.length === 0) || isIn(user, security.members);
}

const isIn = (user: UserContext, group: Group = {}): boolean =>
  (user.name !== null && (group.names ?? []).includes(user.name)) ||
  user.roles.some((role) => (group.roles ?? []).includes(role));
