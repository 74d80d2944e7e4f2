import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Client } from '../../client.js';
import { problem } from '../../errors.js';
import { createCache } from './cache.js';
import { cookieIn } from './cookies.js';
import { localPrincipal, principalOf, type Principal } from './principal.js';

/** Who a request comes from. `renewed`: the session as its cookie should say it from now on. */
type Identity = {
  readonly principal: Principal | undefined;
  /** Known by its cookie, which browsers send by themselves. */
  readonly byCookie: boolean;
  readonly renewed?: string;
};

export type Identify = {
  /** @throws TwsError `token_refused`, and those of a database that is away */
  readonly of: (headers: IncomingHttpHeaders) => Promise<Identity>;
  /** Whether the database need not be asked who it is. */
  readonly isKnown: (headers: IncomingHttpHeaders) => boolean;
  /** Ends a session here, whatever CouchDB still thinks of it. */
  readonly end: (cookie: string) => Promise<void>;
};

export type IdentifyOptions = {
  readonly client: Pick<Client, 'checkToken' | 'whoIs'>;
  /** Whether nobody has to sign in. */
  readonly open: boolean;
  /** How long an answer of the database counts, ms: so long a revoked token may still work. */
  readonly keepMs: number;
  /** Of any clock that goes on steadily, ms. */
  readonly now: () => number;
};

/** So long a session of CouchDB may last without being renewed, ms. */
const endedMs = 24 * 3_600_000;

const nobody: Identity = { principal: undefined, byCookie: false };

/** Tells users by their session, programs by their token, and lets others in where none is needed. */
export function createIdentify({ client, open, keepMs, now }: IdentifyOptions): Identify {
  const tokens = createCache<Principal | undefined>(keepMs, now);
  const sessions = createCache<Identity>(keepMs, now);
  const ended = createCache<true>(endedMs, now);

  const byToken = (token: string): Promise<Principal | undefined> =>
    tokens.get(digest(token), async () => {
      const known = await client.checkToken(token);
      return known === undefined ? undefined : principalOf('token', known.name, known.roles);
    });
  const bySession = (cookie: string): Promise<Identity> =>
    sessions.get(digest(cookie), async () => {
      const known = await client.whoIs(cookie);
      if (known === undefined) return nobody;
      const principal = principalOf('user', known.name, known.roles);
      const renewed = known.cookie === cookie ? {} : { renewed: known.cookie };
      return { principal, byCookie: true, ...renewed };
    });
  return {
    of: async (headers) => {
      const { authorization, cookie: header } = headers;
      if (authorization !== undefined) {
        const token = tokenIn(authorization);
        const principal = token === undefined ? undefined : await byToken(token);
        if (principal === undefined)
          throw problem('token_refused', { basic: /^Basic\b/i.test(authorization) });
        return { principal, byCookie: false };
      }
      const cookie = cookieIn(header);
      const isEnded = cookie === undefined || ended.has(digest(cookie));
      const known = isEnded ? nobody : await bySession(cookie);
      if (known.principal !== undefined) return known;
      return open && !isForwarded(headers)
        ? { principal: localPrincipal, byCookie: false }
        : nobody;
    },
    isKnown: ({ authorization, cookie: header }) => {
      if (authorization !== undefined) {
        const token = tokenIn(authorization);
        return token === undefined || tokens.has(digest(token));
      }
      const cookie = cookieIn(header);
      return cookie === undefined || ended.has(digest(cookie)) || sessions.has(digest(cookie));
    },
    end: async (cookie) => {
      // It may have been renewed a moment ago: then there are two of it. Not by a database that is away.
      const { renewed } = await bySession(cookie).catch(() => nobody);
      for (const one of [cookie, renewed ?? cookie]) {
        await ended.get(digest(one), () => Promise.resolve(true));
      }
    },
  };
}

function tokenIn(authorization: string): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1];
}

/** A proxy on this machine brings requests of others. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return forwardingHeaders.some((name) => headers[name] !== undefined);
}

const forwardingHeaders = [
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'],
] as const;

/** What is remembered is not what opens the door. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
