import type { IncomingMessage } from 'node:http';

import { createKeyedQueue } from '../../keyed-queue.js';
import type { JsonObject } from '../http/body.js';
import { refuse } from '../http/couch-error.js';
import type { Credentials } from './credentials.js';
import { createGuesses } from './guesses.js';
import { checkNothing, createProvedPasswords, sameText } from './passwords.js';
import { createSessionCookies } from './session-cookies.js';
import {
  isServerAdmin,
  NOBODY,
  rolesOf,
  temporarilyLocked,
  wrongPassword,
  type UserContext,
} from './users.js';

/** How a request showed who it comes from. */
export type SignedInUser = {
  readonly user: UserContext;
  readonly by: 'default' | 'cookie' | undefined;
};

/** Tells who somebody is, from name and password or from a cookie. */
export type Accounts = {
  /**
   * The user; undefined for a wrong name or password. `address`: where the request comes from.
   * @throws CouchError 403 when too many were wrong
   */
  check(name: string, password: string, address: string): Promise<UserContext | undefined>;
  /**
   * Where a request comes from. A server admin, who signs in with the same request, may say that it is
   * made for a client at another address (`x-forwarded-for`); nobody else is believed.
   * @throws CouchError 401 for credentials that are wrong, 403 when too many were wrong
   */
  addressOf(request: IncomingMessage): Promise<string>;
  /** @throws CouchError 401 for credentials that are wrong; none at all is nobody */
  signIn(request: IncomingMessage): Promise<SignedInUser>;
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
  const admin: UserContext = { name: credentials.user, roles: ['_admin'] };
  const check = passwordCheck({ credentials, findUser }, admin);
  const cookies = createSessionCookies(credentials.secret, async (name) => {
    if (name === credentials.user) return { user: admin, salt: credentials.password };
    const doc = await findUser(name);
    if (doc === undefined) return undefined;
    return { user: { name, roles: rolesOf(doc) }, salt: String(doc['salt']) };
  });

  const byPassword = async (request: IncomingMessage): Promise<UserContext | undefined> => {
    const given = basicOf(request);
    if (given === undefined) return undefined;
    const user = await check(given.name, given.password, peerOf(request));
    if (user === undefined) throw wrongPassword();
    return user;
  };

  return {
    check,
    async addressOf(request) {
      const forwarded = forwardedFor(request);
      if (forwarded === undefined) return peerOf(request);
      const user = (await byPassword(request)) ?? NOBODY;
      return isServerAdmin(user) ? forwarded : peerOf(request);
    },
    async signIn(request) {
      const proved = await byPassword(request);
      if (proved !== undefined) return { user: proved, by: 'default' };
      const user = await cookies.read(request);
      if (user === undefined) return { user: NOBODY, by: undefined };
      checkOrigin(request);
      return { user, by: 'cookie' };
    },
    cookie: (name) => cookies.make(name),
  };
}

/** Checks names and passwords, and locks out who guesses them. */
function passwordCheck({ credentials, findUser }: Options, admin: UserContext): Accounts['check'] {
  const proved = createProvedPasswords(credentials.secret);
  const guesses = createGuesses();

  const isAdmin = (name: string, password: string): boolean =>
    name === credentials.user && sameText(password, credentials.password, credentials.secret);
  const assertUnlocked = (name: string, address: string): void => {
    if (guesses.lockedMs(name, address) > 0) throw temporarilyLocked();
  };
  const queue = createKeyedQueue();
  /** By its hash. An address that waits for one has no other made: it may be locked by then. */
  const prove = (name: string, password: string, address: string, doc: JsonObject | undefined) =>
    queue.take(address, async () => {
      assertUnlocked(name, address);
      const isRight =
        doc === undefined ? await checkNothing(password) : await proved.check(doc, password);
      if (!isRight) guesses.failed(name, address);
      return isRight;
    });
  return async (name, password, address) => {
    // Nobody guesses a long random password, so no guesser locks out the engines that have it.
    const isSafe = credentials.password.length >= SAFE_LENGTH && isAdmin(name, password);
    if (isSafe) return admin;
    assertUnlocked(name, address);
    if (name === credentials.user) {
      const isRight = isAdmin(name, password);
      if (isRight) guesses.passed(name, address);
      else guesses.failed(name, address);
      return isRight ? admin : undefined;
    }
    const doc = await findUser(name);
    const isKnown = doc !== undefined && proved.knows(doc, password);
    if (!isKnown && !(await prove(name, password, address, doc))) return undefined;
    guesses.passed(name, address);
    return { name, roles: rolesOf(doc ?? {}) };
  };
}

const peerOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? '';

/** The client that the last proxy names. */
function forwardedFor({ headers }: IncomingMessage): string | undefined {
  const address = [headers['x-forwarded-for']].join().split(',').at(-1)?.trim().slice(0, 100);
  return address === '' ? undefined : address;
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
