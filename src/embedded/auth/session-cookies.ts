import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import type { UserContext } from './users.js';

/** How long a session cookie is good, s; each answer within it renews it. */
export const SESSION_SECONDS = 600;
const COOKIE = 'AuthSession';
/** Clocks of one machine may be set back a little between two requests, s. */
const TOLERANCE_SECONDS = 60;

/** A user, and what the signature depends on besides the secret: it changes with the password. */
type Identity = { readonly user: UserContext; readonly salt: string };

/** Session cookies: name and time, signed with HMAC-SHA-256. Nothing is kept on the server. */
export type SessionCookies = {
  /** The user of a request's cookie; undefined without one, or when it is not good any more. */
  read(request: IncomingMessage): Promise<UserContext | undefined>;
  /** The `Set-Cookie` of a new session; undefined when there is no such user. */
  make(name: string): Promise<string | undefined>;
};

export function createSessionCookies(
  secret: string,
  identify: (name: string) => Promise<Identity | undefined>,
): SessionCookies {
  const sign = (name: string, time: string, salt: string): Buffer =>
    createHmac('sha256', `${secret}${salt}`).update(`${name}:${time}`).digest();

  return {
    async read(request) {
      const cookie = parse(cookieOf(request));
      if (cookie === undefined) return undefined;
      const { name, time, signature } = cookie;
      const age = Date.now() / 1000 - Number.parseInt(time, 16);
      if (age < -TOLERANCE_SECONDS || age >= SESSION_SECONDS) return undefined;
      const known = await identify(name);
      if (known === undefined) return undefined;
      const expected = sign(name, time, known.salt);
      const good = signature.length === expected.length && timingSafeEqual(signature, expected);
      return good ? known.user : undefined;
    },
    async make(name) {
      const known = await identify(name);
      if (known === undefined) return undefined;
      const seconds = Math.floor(Date.now() / 1000);
      const time = seconds.toString(16).toUpperCase();
      const signed = Buffer.concat([Buffer.from(`${name}:${time}:`), sign(name, time, known.salt)]);
      return setCookie(signed.toString('base64url'), SESSION_SECONDS);
    },
  };
}

/** The `Set-Cookie` that ends a session. */
export const noCookie = (): string => setCookie('', 0);

function setCookie(value: string, seconds: number): string {
  const expires = new Date(Date.now() + seconds * 1000).toUTCString();
  return `${COOKIE}=${value}; Version=1; Expires=${expires}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict`;
}

function cookieOf({ headers }: IncomingMessage): string {
  const found = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;\\s]*)`).exec(headers.cookie ?? '');
  return found?.[1]?.replace(/^"(.*)"$/, '$1') ?? '';
}

type Parsed = { readonly name: string; readonly time: string; readonly signature: Buffer };

function parse(cookie: string): Parsed | undefined {
  const bytes = Buffer.from(cookie, 'base64url');
  const [head, name, time] = /^([^:]*):([0-9A-F]{1,12}):/.exec(bytes.toString('latin1')) ?? [];
  if (head === undefined || name === undefined || time === undefined) return undefined;
  return {
    name: Buffer.from(name, 'latin1').toString('utf8'),
    time,
    signature: bytes.subarray(head.length),
  };
}
