import { pbkdf2Sync, randomUUID } from 'node:crypto';
import { couchKind } from './couch.js';

/** Somebody who may sign in at the database. */
export type User = { readonly name: string; readonly password: string };

/**
 * The document of a user. The embedded server gets a ready-made hash of few rounds, so that a sign-in
 * costs next to nothing; what hashing costs has tests of its own. CouchDB would replace such a hash at
 * the first sign-in, and the document with it, so it gets the password.
 */
export function userDocument(user: User, roles: readonly string[] = []) {
  const secret = couchKind() === 'couchdb' ? { password: user.password } : cheapHash(user.password);
  return { _id: `org.couchdb.user:${user.name}`, type: 'user', name: user.name, roles, ...secret };
}

const rounds = 10;

/** The hash of a password as a user document of CouchDB holds it. */
export function cheapHash(password: string): Readonly<Record<string, unknown>> {
  const salt = randomUUID();
  const key = pbkdf2Sync(password, salt, rounds, 32, 'sha256').toString('hex');
  const kind = { password_scheme: 'pbkdf2', pbkdf2_prf: 'sha256' };
  return { ...kind, salt, iterations: rounds, derived_key: key };
}
