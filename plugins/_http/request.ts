import { percentDecoded, PluginError, setsHeader } from '../../src/plugin/index.js';

export type RequestParams = {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Lists give a name several times. */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly json?: unknown;
  readonly body?: string;
  readonly auth?: { readonly user?: string; readonly pass?: string; readonly token?: string };
  readonly redirect?: 'follow' | 'manual' | 'error';
};

/**
 * What goes to `fetch`.
 * @throws PluginError `HttpUrlInvalid` for anything but an http or https address, `HttpRequestInvalid`
 */
export function toRequest(params: RequestParams, key: string) {
  const sends = params.json !== undefined || params.body !== undefined;
  const method = (params.method ?? (sends ? 'POST' : 'GET')).toUpperCase();
  const headers = new Headers();
  for (const [name, value] of Object.entries(params.headers ?? {})) {
    // The value is often a secret.
    if (!setsHeader(headers, name, String(value))) {
      throw invalidRequest(`the header ${JSON.stringify(name)} holds what no header may hold`);
    }
  }
  const addDefault = (name: string, value: string): void => {
    if (!headers.has(name)) headers.set(name, value);
  };
  if (params.json !== undefined) addDefault('content-type', 'application/json');
  const url = toUrl(params);
  const auth = params.auth ?? takeUser(url);
  if (auth) addDefault('authorization', toAuthorization(auth));
  // Servers that know this header carry out a repeated attempt only once.
  if (!/^(?:GET|HEAD|OPTIONS)$/.test(method)) addDefault('idempotency-key', key);
  const body = bodyOf(params, method);
  return {
    url,
    options: {
      method,
      headers,
      redirect: params.redirect ?? ('follow' as const),
      ...(body === undefined ? {} : { body }),
    },
  };
}

function bodyOf({ json, body }: RequestParams, method: string): string | undefined {
  const sent = json === undefined ? body : JSON.stringify(json);
  if (sent === undefined || !/^(?:GET|HEAD)$/.test(method)) return sent;
  throw invalidRequest(`${method} sends no body; use POST, or leave json and body out`);
}

/** The request itself is wrong: no server was asked, and trying again does not help. */
export function invalidRequest(why: string): PluginError {
  return new PluginError(`The request cannot be sent: ${why}.`, {
    name: 'HttpRequestInvalid',
    retryable: false,
    exit: 3,
  });
}

function toUrl({ url, query = {} }: RequestParams): URL {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new PluginError('The parameter url must be an address with http or https.', {
      name: 'HttpUrlInvalid',
      retryable: false,
      exit: 3,
    });
  }
  const full = new URL(url);
  for (const [name, value] of Object.entries(query)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const one of values) if (one != null) full.searchParams.append(name, text(one));
  }
  return full;
}

/** Name and password of an address go into the header: `fetch` refuses such addresses. */
function takeUser(url: URL): RequestParams['auth'] {
  if (url.username === '' && url.password === '') return undefined;
  const [user, pass] = [percentDecoded(url.username), percentDecoded(url.password)];
  url.username = '';
  url.password = '';
  return { user, pass };
}

function toAuthorization({ user = '', pass = '', token }: NonNullable<RequestParams['auth']>) {
  if (token !== undefined) return `Bearer ${token}`;
  return `Basic ${Buffer.from(`${user}:${pass}`, 'utf8').toString('base64')}`;
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
