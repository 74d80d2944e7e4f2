import { Agent as AgentHttp, request as requestHttp, type ClientRequest } from 'node:http';
import { Agent as AgentHttps, request as requestHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { causeOf } from './causes.js';
import { credentialsOf, serverUrl, type Connection } from './connection.js';
import { longestMs, watchSilence, type Patience } from './patience.js';
import { nextTurn } from '../turns.js';
import { parsePieces } from './parse-pieces.js';

/** One HTTP request. `path` is encoded, with its query, and begins with a slash. */
export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** JSON. */
  readonly body?: string | undefined;
  readonly patience: Patience;
  /** A longer answer is not taken, bytes. */
  readonly mostBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * `failed`: there is no whole answer; nobody knows what the server did. `isTooLong`: there would be one,
 * but it is longer than was asked for.
 */
export type ExchangeResult =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  | { readonly kind: 'failed'; readonly cause: string; readonly isTooLong?: true };

/** Sends requests to one server. */
export type HttpExchange = {
  /** Never rejects. Redirects are not followed. */
  readonly send: (call: HttpRequest) => Promise<ExchangeResult>;
};

const json = { 'content-type': 'application/json' } as const;

/** So much of a body is sent at a time, so that a slow link shows that it goes on, bytes. */
const sliceBytes = 65_536;

/**
 * Opens the way to the server of a connection; nothing is sent yet. Plain requests take a fraction of
 * the processor time of `fetch`, and show how far they are: what limits a request is silence, not the
 * time that a large body takes. One request that is overdue is left open for a while, after its
 * caller was told, to learn whether the server is slow or gone (T1).
 */
export function openExchange(connection: Connection): HttpExchange {
  const base = new URL(serverUrl(connection));
  const target = urlToHttpOptions(base);
  const above = base.pathname.replace(/\/+$/, '');
  const isSecure = base.protocol === 'https:';
  // Idle connections keep no process alive.
  const agent = new (isSecure ? AgentHttps : AgentHttp)({ keepAlive: true });
  const request = isSecure ? requestHttps : requestHttp;
  const headers = { accept: 'application/json', ...credentialsOf(connection) };
  let scout: ClientRequest | undefined;

  const send = (call: HttpRequest): Promise<ExchangeResult> =>
    new Promise((resolve) => {
      const { method, path, body, patience, mostBytes = Infinity, signal } = call;
      if (signal?.aborted === true) return resolve({ kind: 'failed', cause: 'aborted' });
      const payload = body === undefined ? undefined : Buffer.from(body);
      const bytes = payload?.length ?? 0;
      const began = performance.now();
      const outgoing = request({
        ...target,
        method,
        path: `${above}${path}`,
        agent,
        headers: payload === undefined ? headers : { ...headers, ...json, 'content-length': bytes },
      });
      let hasBegun = false;
      const watch = watchSilence(patience.limitMs(bytes), () => {
        resolve({ kind: 'failed', cause: 'no answer in time' });
        dropIdle(agent);
        if (scout === undefined && !hasBegun) keepAsScout();
        else outgoing.destroy();
      });
      const keepAsScout = (): void => {
        scout = outgoing;
        outgoing.socket?.unref();
        setTimeout(() => outgoing.destroy(), longestMs).unref();
      };
      const abort = (): void => void outgoing.destroy();
      const settle = (answer: ExchangeResult): void => {
        watch.stop();
        if (scout === outgoing) scout = undefined;
        signal?.removeEventListener('abort', abort);
        resolve(answer);
      };
      const fail = (error: unknown): void => {
        dropIdle(agent);
        settle({ kind: 'failed', cause: causeOf(error) });
      };
      signal?.addEventListener('abort', abort);
      outgoing.on('error', fail);
      outgoing.on('response', (response) => {
        hasBegun = true;
        patience.answered(performance.now() - began, bytes);
        watch.heard();
        if (scout === outgoing) {
          // It has done what it was kept for.
          scout = undefined;
          return void outgoing.destroy();
        }
        const parts: Buffer[] = [];
        let length = 0;
        response.on('data', (part: Buffer) => {
          watch.heard();
          parts.push(part);
          length += part.length;
          if (length <= mostBytes) return;
          settle({ kind: 'failed', cause: 'the answer is too long', isTooLong: true });
          outgoing.destroy();
        });
        response.on('error', fail);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          settle({ kind: 'answered', status: response.statusCode ?? 0, text });
        });
      });
      if (payload === undefined || bytes <= sliceBytes) outgoing.end(payload);
      else sendSlices(outgoing, payload, watch.heard);
    });
  return { send };
}

/** `moved` is called whenever a part has gone out. */
function sendSlices(request: ClientRequest, payload: Buffer, moved: () => void): void {
  let sent = 0;
  const next = (error?: Error | null): void => {
    if (error != null || request.destroyed) return;
    moved();
    const slice = payload.subarray(sent, sent + sliceBytes);
    sent += slice.length;
    if (sent < payload.length) request.write(slice, next);
    else request.end(slice);
  };
  next();
}

/** Where one connection is dead, those that were kept beside it may be. */
function dropIdle(agent: AgentHttp | AgentHttps): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}

/** A text of so many characters is read in a few milliseconds, whatever it holds. */
const shortText = 65_536;

/**
 * Reads the JSON of an answer of the database, however large it is, without holding up the event loop.
 * Answers undefined when it is no JSON.
 */
export async function readJson(text: string): Promise<unknown> {
  if (text.length > shortText) {
    await nextTurn();
    const value = await parsePieces(text);
    // Nothing that is nested too deeply for pieces can be stored: the database could not check it.
    if (value !== undefined) return value;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
