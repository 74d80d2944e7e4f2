import {
  Agent as AgentHttp,
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as AgentHttps, request as requestHttps } from 'node:https';
import { StringDecoder } from 'node:string_decoder';
import { urlToHttpOptions } from 'node:url';
import { causeOf } from './causes.js';
import { credentialsOf, serverUrl, type Connection } from './connection.js';
import { nextTurn, watchSilence } from '../turns.js';
import { parsePieces } from './parse-pieces.js';

/**
 * How long requests of one kind may be silent. A server that hangs is given up soon; one that is
 * slow is found out and waited for.
 *
 * T1 The limit grows only by answers that took long, also by late ones: silence teaches nothing, so
 *    an outage, however long, makes nobody wait longer afterwards.
 * T2 Each answer that was fast takes a part of what was learnt back.
 */
export type Patience = {
  /** The limit for a request with so many bytes to send, ms. */
  readonly limitMs: (bytes: number) => number;
  /** Records how long an answer took, ms, for a request of so many bytes. */
  readonly answered: (ms: number, bytes: number) => void;
};

/** A request on a server that neither hangs nor is overloaded is answered by then, ms. */
const usualMs = 3_000;
/** No answer is waited for longer, ms. */
const longestMs = 60_000;
/** What a link is expected to carry, bytes a millisecond; a slower one is found out. */
const usualRate = 1_000;
/** Of the time that an answer took, what the next may take. */
const margin = 2;
/** What one fast answer leaves of what was learnt. */
const forgetting = 0.8;

/** For a question that nothing but its caller limits, who aborts its signal. */
export const unlimited: Patience = {
  // As long as a timer can be.
  limitMs: () => 2 ** 31 - 1,
  answered: () => undefined,
};

export function createPatience(leastMs: number = usualMs): Patience {
  /** Times of the usual limit. */
  let factor = 1;
  return {
    limitMs: (bytes) => {
      const usual = leastMs + bytes / usualRate;
      return Math.min(Math.max(longestMs, usual), factor * usual);
    },
    answered: (ms, bytes) => {
      const usual = leastMs + bytes / usualRate;
      factor = Math.max(1, forgetting * factor, (margin * ms) / usual);
    },
  };
}

/** One HTTP request. `path` is encoded, with its query, and begins with a slash. */
export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** JSON, or a body that is made as it is sent. */
  readonly body?: string | StreamedBody | undefined;
  readonly patience: Patience;
  /** A longer answer is not taken, bytes. */
  readonly mostBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** A body of so many bytes; its pieces are asked for one after the other, each as the one before has gone. */
export type StreamedBody = {
  readonly contentType: string;
  readonly bytes: number;
  readonly pieces: () => Iterator<string, unknown, undefined>;
};

/**
 * `failed`: there is no whole answer; nobody knows what the server did. `isTooLong`: there would be one,
 * but it is longer than was asked for.
 */
export type ExchangeResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly text: string;
      /** The `Date` of the answer: the time of the server. */
      readonly date?: string | undefined;
    }
  | { readonly kind: 'failed'; readonly cause: string; readonly isTooLong?: true };

/** Sends requests to one server. */
export type HttpExchange = {
  /** Never rejects. Redirects are not followed. */
  readonly send: (call: HttpRequest) => Promise<ExchangeResult>;
};

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
  const isSecure = base.protocol === 'https:';
  const server: Server = {
    target: urlToHttpOptions(base),
    above: base.pathname.replace(/\/+$/, ''),
    // Idle connections keep no process alive.
    agent: new (isSecure ? AgentHttps : AgentHttp)({ keepAlive: true }),
    request: isSecure ? requestHttps : requestHttp,
    headers: { accept: 'application/json', ...credentialsOf(connection) },
    scout: undefined,
  };
  return { send: send.bind(undefined, server) };
}

/** A server, and how it is asked. */
type Server = {
  readonly target: ReturnType<typeof urlToHttpOptions>;
  /** The path of a proxy, before every path. */
  readonly above: string;
  readonly agent: AgentHttp | AgentHttps;
  readonly request: typeof requestHttp;
  readonly headers: Readonly<Record<string, string>>;
  /** The request that is overdue and was left open. */
  scout: ClientRequest | undefined;
};

function send(server: Server, call: HttpRequest): Promise<ExchangeResult> {
  return new Promise((resolve) => {
    const { method, path, body, patience, mostBytes = Infinity, signal } = call;
    if (signal?.aborted === true) return resolve({ kind: 'failed', cause: 'aborted' });
    const payload = body === undefined ? undefined : payloadOf(body);
    const bytes = payload?.bytes ?? 0;
    const began = performance.now();
    const outgoing = server.request({
      ...server.target,
      method,
      path: `${server.above}${path}`,
      agent: server.agent,
      headers:
        payload === undefined
          ? server.headers
          : { ...server.headers, 'content-type': payload.contentType, 'content-length': bytes },
    });
    let hasBegun = false;
    const watch = watchSilence(patience.limitMs(bytes), () => {
      resolve({ kind: 'failed', cause: 'no answer in time' });
      dropIdle(server.agent);
      if (server.scout === undefined && !hasBegun) keepAsScout();
      else outgoing.destroy();
    });
    const keepAsScout = (): void => {
      server.scout = outgoing;
      outgoing.socket?.unref();
      setTimeout(() => outgoing.destroy(), longestMs).unref();
    };
    const abort = (): void => void outgoing.destroy();
    const settle = (answer: ExchangeResult): void => {
      watch.stop();
      if (server.scout === outgoing) server.scout = undefined;
      signal?.removeEventListener('abort', abort);
      resolve(answer);
    };
    const fail = (error: unknown): void => {
      dropIdle(server.agent);
      settle({ kind: 'failed', cause: causeOf(error) });
    };
    signal?.addEventListener('abort', abort);
    outgoing.on('error', fail);
    outgoing.on('response', (response) => {
      hasBegun = true;
      patience.answered(performance.now() - began, bytes);
      watch.heard();
      if (server.scout === outgoing) {
        // It has done what it was kept for.
        server.scout = undefined;
        return void outgoing.destroy();
      }
      response.on('error', fail);
      collect(response, mostBytes, watch.heard, (answer) => {
        settle(answer);
        if (answer.kind === 'failed') outgoing.destroy();
      });
    });
    if (payload === undefined || payload.whole !== undefined) outgoing.end(payload?.whole);
    else sendPieces(outgoing, payload.pieces(), watch.heard);
  });
}

/** Reads an answer to its end, or up to `mostBytes`. `heard` is called with each part of it. */
function collect(
  response: IncomingMessage,
  mostBytes: number,
  heard: () => void,
  end: (answer: ExchangeResult) => void,
): void {
  // Decoded as they come, long answers are in memory once.
  const decoder = new StringDecoder('utf8');
  let text = '';
  let length = 0;
  response.on('data', (part: Buffer) => {
    heard();
    text += decoder.write(part);
    length += part.length;
    if (length > mostBytes)
      end({ kind: 'failed', cause: 'the answer is too long', isTooLong: true });
  });
  response.on('end', () => {
    text += decoder.end();
    const { statusCode: status = 0, headers } = response;
    end({ kind: 'answered', status, text, date: headers.date });
  });
}

/** `whole`: a body that is sent at once, in the same packet as the end of the request. */
type Payload = Omit<StreamedBody, 'pieces'> & {
  readonly whole?: Buffer;
  readonly pieces: () => Iterator<Buffer | string, unknown, undefined>;
};

function payloadOf(body: string | StreamedBody): Payload {
  if (typeof body !== 'string') return body;
  const whole = Buffer.from(body);
  const pieces = (): Generator<Buffer, void, undefined> => slicesOf(whole);
  const payload = { contentType: 'application/json', bytes: whole.length, pieces };
  return whole.length <= sliceBytes ? { ...payload, whole } : payload;
}

function* slicesOf(whole: Buffer): Generator<Buffer, void, undefined> {
  for (let from = 0; from < whole.length; from += sliceBytes) {
    yield whole.subarray(from, from + sliceBytes);
  }
}

/** `moved` is called whenever a part has gone out. The last one ends the request in the same packet. */
function sendPieces(
  request: ClientRequest,
  pieces: Iterator<Buffer | string, unknown, undefined>,
  moved: () => void,
): void {
  const take = (): Buffer | string | undefined => {
    const next = pieces.next();
    return next.done === true ? undefined : next.value;
  };
  let piece = take();
  const next = (error?: Error | null): void => {
    if (error != null || request.destroyed) return;
    moved();
    const last = piece;
    try {
      piece = last === undefined ? undefined : take();
    } catch (thrown) {
      return void request.destroy(thrown as Error);
    }
    if (last === undefined || piece === undefined) request.end(last);
    else request.write(last, next);
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
