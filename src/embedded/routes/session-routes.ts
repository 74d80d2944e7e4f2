import { checkOrigin } from '../auth/accounts.js';
import { noCookie, SESSION_SECONDS } from '../auth/session-cookies.js';
import { wrongPassword } from '../auth/users.js';
import { isJsonObject, MAX_JSON_BYTES, parseJsonBytes, readBody } from '../http/body.js';
import { refuse } from '../http/couch-error.js';
import { sendJson, type Exchange } from '../http/exchange.js';

/** GET of `_session`: who the request comes from. */
export function getSession(x: Exchange): void {
  const { name, roles } = x.user;
  sendJson(x, 200, {
    ok: true,
    userCtx: { name, roles },
    info: {
      authentication_handlers: ['cookie', 'default'],
      ...(x.signedInBy === undefined ? {} : { authenticated: x.signedInBy }),
      authentication_db: '_users',
      timeout: SESSION_SECONDS,
    },
  });
}

/** POST of `_session`: name and password, as JSON or as a form, for a cookie. */
export async function postSession(x: Exchange): Promise<void> {
  checkOrigin(x.request);
  const { name, password } = await readCredentials(x);
  if (typeof name !== 'string' || typeof password !== 'string') {
    throw refuse.badRequest('name and password are required');
  }
  const { accounts } = x.context;
  const user = await accounts.check(name, password, await accounts.addressOf(x.request));
  if (user === undefined) throw wrongPassword();
  const cookie = await accounts.cookie(name);
  const headers = cookie === undefined ? {} : { 'set-cookie': cookie };
  const next = x.query.text('next');
  // Only a path of this server: a session must not end in a redirect elsewhere.
  if (next !== undefined && /^\/(?![/\\])/.test(next)) {
    x.response.writeHead(302, { location: next, ...headers }).end();
    return;
  }
  sendJson(x, 200, { ok: true, name, roles: user.roles }, headers);
}

async function readCredentials(x: Exchange): Promise<{ name?: unknown; password?: unknown }> {
  const body = await readBody(x.request, MAX_JSON_BYTES);
  const [type = ''] = (x.request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() === 'application/json') {
    const value = parseJsonBytes(body);
    return isJsonObject(value) ? value : {};
  }
  const form = new URLSearchParams(body.toString('utf8'));
  return { name: form.get('name') ?? form.get('username'), password: form.get('password') };
}

/** DELETE of `_session`. */
export function deleteSession(x: Exchange): void {
  sendJson(x, 200, { ok: true }, { 'set-cookie': noCookie() });
}
