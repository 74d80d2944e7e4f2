import type { Agent, RequestInit, Response } from 'undici';
import { assertEgress, egressLookup } from './connect.js';
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

/** What came back, as from `fetch`. */
export type FetchAnswer = Response;

const mostRedirects = 20;

/**
 * `fetch`, but each connection, also that of a redirect, is judged by the address that it uses, another
 * server learns nothing of who asks, and no connection is kept.
 * @throws PluginError `EgressDenied`, `RedirectRefused`; TypeError with a `cause` when there is no answer
 */
export async function fetchWithin(url: URL, options: FetchOptions): Promise<FetchAnswer> {
  const { fetch } = await import('undici');
  const dispatcher = await dispatcherWithin(options.egress);
  let at = url;
  let asked: Asked = options;
  for (let redirects = 0; ; redirects += 1) {
    const headers = [...asked.headers];
    const init: RequestInit = { ...asked, headers, redirect: 'manual', dispatcher };
    const answer = await fetch(at, init).catch((error: unknown) => {
      const { cause } = error as Error;
      throw cause instanceof PluginError ? cause : error;
    });
    const location = isRedirect(answer.status) ? answer.headers.get('location') : null;
    if (location === null || options.redirect === 'manual') return answer;
    await answer.body?.cancel();
    if (options.redirect === 'error') throw failed('unexpected redirect');
    if (redirects === mostRedirects) throw failed('redirect count exceeded');
    const next = URL.canParse(location, at.href) ? new URL(location, at) : undefined;
    if (next === undefined || `${next.username}${next.password}` !== '') {
      throw failed('invalid redirect');
    }
    asked = afterRedirect(asked, answer.status, next.origin !== at.origin);
    if (asked.body !== undefined && !isSameServer(at, next)) {
      throw pluginProblem('RedirectRefused', { from: at.origin, to: next.origin });
    }
    at = next;
  }
}

/** Opens the connections of `fetch`. Only the signal limits how long a request takes. */
async function dispatcherWithin(policy: EgressPolicy): Promise<Agent> {
  const { Agent, buildConnector } = await import('undici');
  const open = buildConnector({ lookup: egressLookup(policy), timeout: 0 });
  return new Agent({
    pipelining: 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, opened) => {
      try {
        assertEgress(policy, options.hostname);
      } catch (error) {
        return opened(error as Error, null);
      }
      open(options, opened);
    },
  });
}

type Asked = Pick<FetchOptions, 'method' | 'headers' | 'body' | 'signal'>;

function failed(why: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(why) });
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
