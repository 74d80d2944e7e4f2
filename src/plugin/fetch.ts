import * as http from 'node:http';
import * as https from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { egressAgents } from './connect.js';
import type { EgressPolicy } from './egress.js';
import { PluginError } from './errors.js';
import { pluginProblem } from './failures.js';

/** What is asked for; the words mean what they mean to `fetch`. */
export type FetchOptions = {
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
  readonly redirect: 'follow' | 'manual' | 'error';
  readonly signal: AbortSignal;
  readonly egress: EgressPolicy;
};

/** What came back. `body`: decompressed. */
export type FetchAnswer = {
  readonly status: number;
  /** The status is one of 200 to 299. */
  readonly ok: boolean;
  readonly headers: Headers;
  readonly body: Readable;
};

const mostRedirects = 20;

/**
 * Makes an HTTP request as `fetch` does, but for two things: each connection, also that of a redirect,
 * is judged by the address that it uses, and no connection is kept. `fetch` of Node.js does not say to
 * which address it connects.
 * @throws PluginError `EgressDenied`; TypeError with a `cause` when there is no answer
 */
export async function fetchWithin(url: URL, options: FetchOptions): Promise<FetchAnswer> {
  const agents = egressAgents(options.egress);
  let at = url;
  let asked: Asked = options;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await ask(at, asked, agents).catch((error: unknown) => {
      throw error instanceof PluginError || options.signal.aborted ? error : failed(error);
    });
    const location = isRedirect(answer.status) ? answer.headers.get('location') : null;
    if (location === null || options.redirect === 'manual') return answer;
    answer.body.destroy();
    if (options.redirect === 'error') throw failed(new Error('unexpected redirect'));
    if (redirects === mostRedirects) throw failed(new Error('redirect count exceeded'));
    const next = URL.canParse(location, at.href) ? new URL(location, at) : undefined;
    if (next === undefined) throw failed(new Error('invalid redirect'));
    asked = afterRedirect(asked, answer.status, next.origin !== at.origin);
    if (asked.body !== undefined && !isSameServer(at, next)) {
      throw pluginProblem('RedirectRefused', { from: at.origin, to: next.origin });
    }
    at = next;
  }
}

type Asked = Pick<FetchOptions, 'method' | 'headers' | 'body' | 'signal'>;

function failed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause });
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** Headers that say nothing of who asks; another server gets no other ones. */
const isForAnybody = /^(?:accept(?:-.*)?|content-.*|user-agent)$/;

/** Servers that move to TLS send everybody there. */
function isSameServer(at: URL, next: URL): boolean {
  const isUpgrade = at.protocol === 'http:' && next.protocol === 'https:' && at.host === next.host;
  return at.origin === next.origin || isUpgrade;
}

/** What a redirect leaves of a request (https://fetch.spec.whatwg.org/#http-redirect-fetch). */
function afterRedirect(
  { method, headers: before, body, signal }: Asked,
  status: number,
  isElsewhere: boolean,
): Asked {
  const headers = new Headers(before);
  if (isElsewhere) {
    for (const name of before.keys()) if (!isForAnybody.test(name)) headers.delete(name);
  }
  const becomesGet =
    ([301, 302].includes(status) && method === 'POST') ||
    (status === 303 && method !== 'GET' && method !== 'HEAD');
  if (!becomesGet) return { method, headers, signal, ...(body === undefined ? {} : { body }) };
  for (const name of ['encoding', 'language', 'location', 'type', 'length']) {
    headers.delete(`content-${name}`);
  }
  return { method: 'GET', headers, signal };
}

function ask(
  url: URL,
  { method, headers, body, signal }: Asked,
  { httpAgent, httpsAgent }: ReturnType<typeof egressAgents>,
): Promise<FetchAnswer> {
  return new Promise((done, fail) => {
    refuseOdd(url, headers);
    signal.throwIfAborted();
    const isSafe = url.protocol === 'https:';
    const content = body === undefined ? undefined : Buffer.from(body, 'utf8');
    const request = (isSafe ? https : http).request(url, {
      method,
      headers: sentHeaders(headers, content),
      agent: isSafe ? httpsAgent : httpAgent,
      signal,
    });
    request.once('error', (error) => fail(signal.aborted ? (signal.reason as Error) : error));
    request.once('response', (response) => {
      const answer = answerOf(response, method);
      const { body } = answer;
      const stop = (): void => void body.destroy(signal.reason as Error);
      signal.addEventListener('abort', stop);
      body.once('close', () => signal.removeEventListener('abort', stop));
      done(answer);
    });
    request.end(content);
  });
}

/** Ports of other protocols, which no browser asks (https://fetch.spec.whatwg.org/#port-blocking). */
const badPorts: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95],
  ...[101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179],
  ...[389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601],
  ...[636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);

/** The connection makes these itself. */
const ofConnection = ['connection', 'expect', 'keep-alive', 'transfer-encoding', 'upgrade'];

function refuseOdd(url: URL, headers: Headers): void {
  if (!/^https?:$/.test(url.protocol)) throw new Error('URL scheme must be http or https');
  if (url.port !== '' && badPorts.has(Number(url.port))) throw new Error('bad port');
  const odd = ofConnection.find((name) => headers.has(name));
  if (odd !== undefined) throw new Error(`invalid ${odd} header`);
}

function sentHeaders(given: Headers, content: Buffer | undefined): Record<string, string> {
  const usual = {
    accept: '*/*',
    'accept-encoding': 'gzip, deflate, br',
    'accept-language': '*',
    'user-agent': 'node',
    ...(content === undefined ? {} : { 'content-type': 'text/plain;charset=UTF-8' }),
  };
  const length = content === undefined ? {} : { 'content-length': String(content.length) };
  return { ...usual, ...Object.fromEntries(given), ...length };
}

function answerOf(response: http.IncomingMessage, method: string): FetchAnswer {
  const headers = new Headers();
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) {
    headers.append(response.rawHeaders[i] ?? '', response.rawHeaders[i + 1] ?? '');
  }
  const status = response.statusCode ?? 0;
  const hasNoBody = method === 'HEAD' || [204, 205, 304].includes(status);
  const body = hasNoBody ? response : decompressed(response, headers);
  return { status, ok: status >= 200 && status < 300, headers, body };
}

const lenient = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotli = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
};

function decompressed(response: Readable, headers: Headers): Readable {
  const codings = (headers.get('content-encoding') ?? '').toLowerCase().split(',');
  const streams = codings.toReversed().flatMap((coding) => {
    switch (coding.trim()) {
      case 'gzip':
      case 'x-gzip':
        return [createGunzip(lenient)];
      case 'deflate':
        return [createInflate(lenient)];
      case 'br':
        return [createBrotliDecompress(brotli)];
      default:
        return [];
    }
  });
  const [last] = streams.slice(-1);
  if (last === undefined) return response;
  // Whoever reads the last stream hears of what goes wrong in any of them.
  pipeline([response, ...streams], () => undefined);
  return last;
}
