import { problem } from '../errors.js';
import { causeOf } from './causes.js';
import { credentialsOf, serverUrl, type Connection } from './connection.js';

/** Somebody CouchDB knows. `cookie` is CouchDB's session, renewed when it was about to end. */
export type SignedIn = {
  readonly name: string;
  readonly roles: readonly string[];
  readonly cookie: string;
};

/** `refused`: wrong name or password; `locked`: too many wrong passwords. */
export type SignInResult =
  | ({ readonly kind: 'signed_in' } & SignedIn)
  | { readonly kind: 'refused' }
  | { readonly kind: 'locked' };

const timeoutMs = 20_000;

/** Who wants to sign in. `address`: where the request comes from. */
export type SigningIn = {
  readonly name: string;
  readonly password: string;
  readonly address: string;
};

/**
 * Signs a user in against CouchDB's own users. CouchDB locks a name for the address that sent wrong
 * passwords; it takes the address from `x-forwarded-for` when the request comes from a private network,
 * the embedded server when it carries the credentials of a server admin.
 * @throws TwsError `couch_unreachable`, `couch_failed`
 */
export async function signInUser(
  connection: Connection,
  { name, password, address }: SigningIn,
): Promise<SignInResult> {
  const answer = await ask(connection, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': address,
      ...credentialsOf(connection),
    },
    body: JSON.stringify({ name, password }),
  });
  if (answer.status === 401) return { kind: 'refused' };
  if (answer.status === 403) return { kind: 'locked' };
  const cookie = cookieIn(answer);
  if (answer.status !== 200 || cookie === undefined) {
    throw failed(connection, 'sign somebody in', answer.status);
  }
  // Older servers leave name and roles of an admin out of this answer.
  const known = await whoIs(connection, cookie);
  return known === undefined ? { kind: 'refused' } : { kind: 'signed_in', ...known };
}

/**
 * Whose session it is; undefined when it has ended or never was one.
 * @throws TwsError `couch_unreachable`, `couch_failed`
 */
export async function whoIs(connection: Connection, cookie: string): Promise<SignedIn | undefined> {
  if (!/^[\w=+/.~-]{1,1000}$/.test(cookie)) return undefined;
  const answer = await ask(connection, { headers: { cookie: `AuthSession=${cookie}` } });
  if (answer.status === 401 || answer.status === 400) return undefined;
  if (answer.status !== 200) throw failed(connection, 'say whose session it is', answer.status);
  const { userCtx } = answer.body as { readonly userCtx?: UserContext };
  const { name, roles } = userCtx ?? {};
  if (typeof name !== 'string' || name === '') return undefined;
  const own = Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [];
  return { name, roles: own, cookie: cookieIn(answer) ?? cookie };
}

type UserContext = { readonly name?: unknown; readonly roles?: unknown };

type Answer = {
  readonly status: number;
  readonly cookies: readonly string[];
  readonly body: unknown;
};

async function ask(connection: Connection, init: RequestInit): Promise<Answer> {
  const url = serverUrl(connection);
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const reply = await fetch(`${url}/_session`, { ...init, redirect: 'manual', signal });
    const text = await reply.text();
    return { status: reply.status, cookies: reply.headers.getSetCookie(), body: parsed(text) };
  } catch (error) {
    throw problem('couch_unreachable', { url, cause: causeOf(error) });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

function cookieIn({ cookies }: Answer): string | undefined {
  const values = cookies.map((line) => /^AuthSession=([^;]*)/.exec(line)?.[1] ?? '');
  return values.find((value) => value !== '');
}

function failed(connection: Connection, action: string, status: number) {
  const reason = 'the answer is not that of a CouchDB';
  return problem('couch_failed', { url: serverUrl(connection), action, status, reason });
}
