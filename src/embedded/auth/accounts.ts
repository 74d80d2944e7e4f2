import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import type { JsonObject } from '../http/body.js';
import { refuse } from '../http/couch-error.js';
import type { Credentials } from './credentials.js';
import { createProvedPasswords, sameText } from './passwords.js';
import { NOBODY, rolesOf, wrongPassword, type UserContext } from './users.js';

/** How long a session cookie is good, s; each answer within it renews it. */
export const SESSION_SECONDS = 600;
const COOKIE = 'AuthSession';

/** How a request showed who it comes from. */
export type SignIn = { readonly user: UserContext; readonly by: 'default' | 'cookie' | undefined };

/** Tells who somebody is, from name and password or from a cookie. */
export type Accounts = {
  /** The user; undefined for a wrong name or password. */
  check(name: string, password: string): Promise<UserContext | undefined>;
  /** @throws CouchError 401 for credentials that are wrong; none at all is nobody */
  signIn(request: IncomingMessage): Promise<SignIn>;
  /** The `Set-Cookie` of a new or renewed session; undefined for nobody. */
  cookie(name: string): Promise<string | undefined>;
};

type Options = {
  readonly credentials: Credentials;
  readonly findUser: (name: string) => Promise<JsonObject | undefined>;
};

export function createAccounts({ credentials, findUser }: Options): Accounts {
  const proved = createProvedPasswords(credentials.secret);
  const admin: UserContext = { name: credentials.user, roles: ['_admin'] };

  const check: Accounts['check'] = async (name, password) => {
    if (name === credentials.user) {
      return sameText(password, credentials.password, credentials.secret) ? admin : undefined;
    }
    const doc = await findUser(name);
    if (doc === undefined || !(await proved.check(doc, password))) return undefined;
    return { name, roles: rolesOf(doc) };
  };

  /** Changing the password ends the sessions: the key of a cookie depends on it. */
  const identity = async (
    name: string,
  ): Promise<{ user: UserContext; salt: string } | undefined> => {
    if (name === credentials.user) return { user: admin, salt: credentials.password };
    const doc = await findUser(name);
    if (doc === undefined) return undefined;
    return { user: { name, roles: rolesOf(doc) }, salt: String(doc['salt']) };
  };
  const sign = (name: string, time: string, salt: string): Buffer =>
    createHmac('sha256', `${credentials.secret}${salt}`).update(`${name}:${time}`).digest();

  const readCookie = async (cookie: string): Promise<UserContext | undefined> => {
    const text = Buffer.from(cookie, 'base64url');
    const split = /^([^:]*):([0-9A-F]{1,12}):/.exec(text.toString('latin1'));
    if (split === null) return undefined;
    const [head, rawName = '', time = ''] = split;
    const name = Buffer.from(rawName, 'latin1').toString('utf8');
    const age = Date.now() / 1000 - Number.parseInt(time, 16);
    const known = age >= -60 && age < SESSION_SECONDS ? await identity(name) : undefined;
    if (known === undefined) return undefined;
    const given = text.subarray(head.length);
    const expected = sign(name, time, known.salt);
    return given.length === expected.length && timingSafeEqual(given, expected)
      ? known.user
      : undefined;
  };

  return {
    check,
    async signIn(request) {
      const basic = /^Basic\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
      if (basic !== undefined) {
        if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(basic)) {
          throw refuse.badRequest('Authorization header has invalid base64 value');
        }
        const [name = '', ...rest] = Buffer.from(basic, 'base64').toString('utf8').split(':');
        const user = await check(name, rest.join(':'));
        if (user === undefined) throw wrongPassword();
        return { user, by: 'default' };
      }
      const cookie = cookieOf(request);
      if (cookie === undefined || cookie === '') return { user: NOBODY, by: undefined };
      const user = await readCookie(cookie);
      if (user === undefined) return { user: NOBODY, by: undefined };
      checkOrigin(request);
      return { user, by: 'cookie' };
    },
    async cookie(name) {
      const known = await identity(name);
      if (known === undefined) return undefined;
      const time = Math.floor(Date.now() / 1000)
        .toString(16)
        .toUpperCase();
      const head = Buffer.from(`${name}:${time}:`);
      const value = Buffer.concat([head, sign(name, time, known.salt)]).toString('base64url');
      return setCookie(value, SESSION_SECONDS);
    },
  };
}

/** The `Set-Cookie` that ends a session. */
export const noCookie = (): string => setCookie('', 0);

function setCookie(value: string, seconds: number): string {
  const expires = new Date(Date.now() + seconds * 1000).toUTCString();
  return `${COOKIE}=${value}; Version=1; Expires=${expires}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict`;
}

function cookieOf(request: IncomingMessage): string | undefined {
  const found = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;\\s]*)`).exec(request.headers.cookie ?? '');
  return found?.[1]?.replace(/^"(.*)"$/, '$1');
}

/** A page of another origin must not write with the visitor's cookie. @throws CouchError 403 */
function checkOrigin(request: IncomingMessage): void {
  const { origin, host } = request.headers;
  const reads = ['GET', 'HEAD', 'OPTIONS'];
  if (origin === undefined || reads.includes(request.method ?? '')) return;
  if (!URL.canParse(origin) || new URL(origin).host !== host) {
    throw refuse.forbidden(`Requests from ${origin} may not write with a session cookie.`);
  }
}
