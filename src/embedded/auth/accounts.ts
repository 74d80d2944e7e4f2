import type { IncomingMessage } from 'node:http';

import type { JsonObject } from '../http/body.js';
import { refuse } from '../http/couch-error.js';
import type { Credentials } from './credentials.js';
import { createGuesses } from './guesses.js';
import { checkNothing, createProvedPasswords, sameText } from './passwords.js';
import { createSessionCookies } from './session-cookies.js';
import { NOBODY, rolesOf, temporarilyLocked, wrongPassword, type UserContext } from './users.js';

/** How a request showed who it comes from. */
export type SignIn = { readonly user: UserContext; readonly by: 'default' | 'cookie' | undefined };

/** Tells who somebody is, from name and password or from a cookie. */
export type Accounts = {
  /**
   * The user; undefined for a wrong name or password. `address`: where the request comes from.
   * @throws CouchError 403 when too many were wrong
   */
  check(name: string, password: string, address: string): Promise<UserContext | undefined>;
  /** @throws CouchError 401 for credentials that are wrong; none at all is nobody */
  signIn(request: IncomingMessage): Promise<SignIn>;
  /** The `Set-Cookie` of a new or renewed session; undefined for nobody. */
  cookie(name: string): Promise<string | undefined>;
};

type Options = {
  readonly credentials: Credentials;
  readonly findUser: (name: string) => Promise<JsonObject | undefined>;
};

/** The password that is made at the first run is longer, and random. */
const SAFE_LENGTH = 20;

export function createAccounts({ credentials, findUser }: Options): Accounts {
  const proved = createProvedPasswords(credentials.secret);
  const guesses = createGuesses();
  const admin: UserContext = { name: credentials.user, roles: ['_admin'] };

  const isAdmin = (name: string, password: string): boolean =>
    name === credentials.user && sameText(password, credentials.password, credentials.secret);
  const find = async (name: string, password: string): Promise<UserContext | undefined> => {
    if (name === credentials.user) return isAdmin(name, password) ? admin : undefined;
    const doc = await findUser(name);
    if (doc === undefined) {
      await checkNothing(password);
      return undefined;
    }
    return (await proved.check(doc, password)) ? { name, roles: rolesOf(doc) } : undefined;
  };
  const check: Accounts['check'] = async (name, password, address) => {
    // Nobody guesses a long random password, so no guesser locks out the engines that have it.
    const isSafe = credentials.password.length >= SAFE_LENGTH && isAdmin(name, password);
    if (isSafe) return admin;
    if (guesses.lockedMs(name, address) > 0) throw temporarilyLocked();
    const user = await find(name, password);
    if (user === undefined) guesses.failed(name, address);
    else guesses.passed(name, address);
    return user;
  };

  const cookies = createSessionCookies(credentials.secret, async (name) => {
    if (name === credentials.user) return { user: admin, salt: credentials.password };
    const doc = await findUser(name);
    if (doc === undefined) return undefined;
    return { user: { name, roles: rolesOf(doc) }, salt: String(doc['salt']) };
  });

  return {
    check,
    async signIn(request) {
      const given = basicOf(request);
      if (given !== undefined) {
        const address = request.socket.remoteAddress ?? '';
        const user = await check(given.name, given.password, address);
        if (user === undefined) throw wrongPassword();
        return { user, by: 'default' };
      }
      const user = await cookies.read(request);
      if (user === undefined) return { user: NOBODY, by: undefined };
      checkOrigin(request);
      return { user, by: 'cookie' };
    },
    cookie: (name) => cookies.make(name),
  };
}

/** Name and password of an `Authorization: Basic` header. @throws CouchError 400 */
function basicOf({ headers }: IncomingMessage): { name: string; password: string } | undefined {
  const basic = /^Basic\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (basic === undefined) return undefined;
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(basic)) {
    throw refuse.badRequest('Authorization header has invalid base64 value');
  }
  const [name = '', ...rest] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return { name, password: rest.join(':') };
}

/** A page of another origin must not write with the visitor's cookie. @throws CouchError 403 */
export function checkOrigin(request: IncomingMessage): void {
  const { origin, host } = request.headers;
  const reads = ['GET', 'HEAD', 'OPTIONS'];
  if (origin === undefined || reads.includes(request.method ?? '')) return;
  if (!URL.canParse(origin) || new URL(origin).host !== host) {
    throw refuse.forbidden(
      `Requests from ${origin} may neither sign in nor write with a session cookie.`,
    );
  }
}
