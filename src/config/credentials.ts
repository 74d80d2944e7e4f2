import { filled, type Environment } from './environment.js';
import { problem } from '../errors.js';
import { percentDecoded } from '../model/percent.js';
import type { EmbeddedFile } from './dev.js';
import type { SettingsFile } from './file.js';
import { flagName, settings } from './table.js';

type Server = {
  readonly url: string;
  readonly origin: string;
  readonly user: string;
  readonly password: string;
};

type Known = { readonly value: string; readonly origin: string };

/** Takes the credentials out of a URL, so that the URL alone may be shown. */
export function splitUrl({ value, origin }: Known): Server {
  const written = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const reason = 'it must be a URL such as http://127.0.0.1:5984.';
    throw problem('setting_invalid', { name: 'url', origin, reason });
  }
  const user = percentDecoded(url.username);
  const password = percentDecoded(url.password);
  url.username = '';
  url.password = '';
  return { url: url.href.replace(/\/+$/, ''), origin, user, password };
}

/** User and password, and where both were said. */
export type Login = {
  readonly values: { readonly user?: string; readonly password?: string };
  readonly origin: string;
};

/** Name and password always come from one source, so that a password never meets a foreign name. */
export function loginOf(from: {
  readonly env: Environment;
  readonly file: SettingsFile;
  readonly server: Server;
  readonly dev: EmbeddedFile | undefined;
  readonly devOrigin: string;
}): Login {
  const { env, file, server, dev } = from;
  const inUrl = (wanted: string): Login | undefined =>
    server.user !== '' && server.origin === wanted
      ? login(server.user, server.password, server.origin)
      : undefined;
  const {
    user: { variable: user },
    pass: { variable: pass },
    key: { variable: key },
  } = settings;
  return (
    inUrl(flagName(settings.url)) ??
    keyLogin(env[key], env[pass], key) ??
    nameLogin(env[user], env[pass], user) ??
    inUrl(settings.url.variable) ??
    keyLogin(file.key, file.pass, 'tws.json') ??
    nameLogin(file.user, file.pass, 'tws.json') ??
    inUrl('tws.json') ??
    (dev === undefined ? undefined : login(dev.user, dev.password, from.devOrigin)) ?? {
      values: {},
      origin: 'not set',
    }
  );
}

function login(user: string, password: string, origin: string): Login {
  return { values: { user, password }, origin };
}

/** An API key stands for the user; written as `key:password` it carries its own password. */
function keyLogin(
  key: string | undefined,
  pass: string | undefined,
  from: string,
): Login | undefined {
  if (filled(key) === undefined || key === undefined) return undefined;
  const at = key.indexOf(':');
  return at < 0 ? login(key, pass ?? '', from) : login(key.slice(0, at), key.slice(at + 1), from);
}

function nameLogin(
  user: string | undefined,
  pass: string | undefined,
  from: string,
): Login | undefined {
  return filled(user) === undefined ? undefined : login(user ?? '', pass ?? '', from);
}
