import { type CouchError, refuse } from '../http/couch-error.js';
import type { JsonObject } from '../http/body.js';
import type { Doc } from '../storage/storage.js';
import { hashPassword, hashProblem } from './passwords.js';

/** Who a request comes from; `name` is null for nobody. */
export type UserContext = { readonly name: string | null; readonly roles: readonly string[] };

export const NOBODY: UserContext = { name: null, roles: [] };
export const USERS = '_users';
const PREFIX = 'org.couchdb.user:';

export const isServerAdmin = (user: UserContext): boolean => user.roles.includes('_admin');

export const userDocId = (name: string): string => PREFIX + name;

/**
 * Checks a document on its way into `_users` and hashes its password. `before` is the stored one.
 * Admins may write all of them; users their own, without changing their roles.
 * @throws CouchError 403
 */
export async function prepareUserDoc(
  doc: Doc,
  before: JsonObject | undefined,
  user: UserContext,
): Promise<Doc> {
  if (doc._id.startsWith('_design/')) {
    if (!isServerAdmin(user)) throw refuse.forbidden('You are not a db or server admin.');
    return doc;
  }
  if (!isServerAdmin(user)) checkOwnership(doc, before, user);
  if (doc._deleted === true) return doc;
  checkShape(doc);
  const problem = typeof doc['password'] === 'string' ? undefined : hashProblem(doc);
  if (problem !== undefined) throw refuse.forbidden(`doc.${problem}`);
  return (await hashPassword(doc)) as Doc;
}

function checkOwnership(doc: Doc, before: JsonObject | undefined, user: UserContext): void {
  const own = user.name !== null && doc._id === userDocId(user.name) && before !== undefined;
  if (!own) throw refuse.forbidden('You may only update your own user document.');
  if (doc._deleted === true) throw refuse.forbidden('Only admins may delete user documents.');
  if (JSON.stringify(sorted(doc['roles'])) !== JSON.stringify(sorted(before['roles']))) {
    throw refuse.forbidden('Only _admin may edit roles');
  }
}

const sorted = (roles: unknown): unknown =>
  Array.isArray(roles) ? [...(roles as unknown[])].sort() : roles;

function checkShape(doc: Doc): void {
  const { name, roles, type } = doc;
  if (type !== 'user') throw refuse.forbidden('doc.type must be user');
  if (typeof name !== 'string' || name === '') throw refuse.forbidden('doc.name is required');
  if (doc._id !== userDocId(name)) {
    throw refuse.forbidden(`Doc ID must be of the form ${PREFIX}name`);
  }
  if (name.includes(':')) throw refuse.forbidden("Character ':' is not allowed in usernames.");
  if (!Array.isArray(roles)) throw refuse.forbidden('doc.roles must be an array');
  for (const role of roles as unknown[]) {
    if (typeof role !== 'string') throw refuse.forbidden('doc.roles can only contain strings');
    if (role.startsWith('_')) {
      throw refuse.forbidden('No system roles (starting with underscore) in users db.');
    }
  }
}

/** What `_users` shows of a document: everything to admins and its owner, nothing to others. */
export function mayReadUserDoc(id: string, user: UserContext): boolean {
  return isServerAdmin(user) || (user.name !== null && id === userDocId(user.name));
}

/** The roles of a user document that are safe to act on. */
export function rolesOf(doc: JsonObject): string[] {
  const { roles } = doc;
  if (!Array.isArray(roles)) return [];
  return (roles as unknown[]).filter(
    (role): role is string => typeof role === 'string' && !role.startsWith('_'),
  );
}

/** The answer after too many wrong passwords, in CouchDB's words: clients know the refusal by them. */
export const temporarilyLocked = (): CouchError =>
  refuse.forbidden('Account is temporarily locked due to multiple authentication failures');

/** CouchDB's answer to a wrong name or password. */
export const wrongPassword = (): CouchError =>
  refuse.unauthorized('Name or password is incorrect.');
