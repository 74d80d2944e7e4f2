import type { Environment } from './environment.js';
import { problem } from './errors.js';
import type { EmbeddedFile, SettingsFile } from './settings-file.js';

type Server = {
  readonly url: string;
  readonly origin: string;
  readonly user: string;
  readonly password: string;
};

type Setting = { readonly value: string; readonly origin: string };

/** Takes the credentials out of a URL, so that the URL alone may be shown. */
export function splitUrl({ value, origin }: Setting): Server {
  const written = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const reason = 'it must be a URL such as http://127.0.0.1:5984.';
    throw problem('setting_invalid', { name: 'url', origin, reason });
  }
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  return { url: url.href.replace(/\/+$/, ''), origin, user, password };
}

type Found = {
  readonly values: { readonly user?: string; readonly password?: string };
  readonly origins: Readonly<Record<string, string>>;
};

/** Name and password always come from one source, so that a password never meets a foreign name. */
export function credentialsOf(from: {
  readonly env: Environment;
  readonly file: SettingsFile;
  readonly server: Server;
  readonly dev: EmbeddedFile | undefined;
  readonly devOrigin: string;
}): Found {
  const { env, file, server, dev } = from;
  const inUrl = (wanted: string): Found | undefined =>
    server.user !== '' && server.origin === wanted
      ? login(server.user, server.password, server.origin)
      : undefined;
  const found =
    inUrl('--url') ??
    keyLogin(env['COUCH_KEY'], env['COUCH_PASS'], 'COUCH_KEY') ??
    nameLogin(env['COUCH_USER'], env['COUCH_PASS'], 'COUCH_USER') ??
    inUrl('COUCH_URL') ??
    keyLogin(file.key, file.pass, 'tws.json') ??
    nameLogin(file.user, file.pass, 'tws.json') ??
    inUrl('tws.json') ??
    (dev === undefined ? undefined : login(dev.user, dev.password, from.devOrigin));
  return found ?? { values: {}, origins: { user: 'not set', password: 'not set' } };
}

function login(user: string, password: string, origin: string): Found {
  return { values: { user, password }, origins: { user: origin, password: origin } };
}

/** An API key stands for the user; written as `key:password` it carries its own password. */
function keyLogin(
  key: string | undefined,
  pass: string | undefined,
  from: string,
): Found | undefined {
  if (filled(key) === undefined || key === undefined) return undefined;
  const at = key.indexOf(':');
  return at < 0 ? login(key, pass ?? '', from) : login(key.slice(0, at), key.slice(at + 1), from);
}

function nameLogin(
  user: string | undefined,
  pass: string | undefined,
  from: string,
): Found | undefined {
  return filled(user) === undefined ? undefined : login(user ?? '', pass ?? '', from);
}

/** An empty text says nothing. */
export function filled(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}
