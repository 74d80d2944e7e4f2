import type { IncomingMessage, ServerResponse } from 'node:http';

import type { UserContext } from '../auth/users.js';
import type { ServerContext } from '../context.js';
import { asCouchError, refuse } from './couch-error.js';
import { parseQuery, type RequestQuery } from './query.js';

/** One request on its way to its answer. */
export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** Path and query as the client sent them. */
  readonly target: string;
  /** The path's segments, percent-decoded one by one: a `%2F` stays inside its segment. */
  readonly path: readonly string[];
  readonly query: RequestQuery;
  readonly user: UserContext;
  /** How the user was told: by a cookie or by name and password. */
  readonly signedInBy: 'cookie' | 'default' | undefined;
  readonly context: ServerContext;
  /** Aborts when the client went away. */
  readonly gone: AbortSignal;
};

/** Splits a request's target. @throws CouchError 400 for broken percent encoding */
export function parseTarget(target: string): { path: string[]; query: RequestQuery } {
  const [raw = '/', ...search] = target.split('?');
  const path = raw.replace(/^\/+/, '').split('/').map(decodeSegment);
  if (path.at(-1) === '') path.pop();
  return { path, query: parseQuery(search.join('?')) };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw refuse.badRequest(`Invalid percent encoding in ${JSON.stringify(segment)}`);
  }
}

type Headers = Readonly<Record<string, string | number>>;

/** Answers with JSON, a newline at its end. */
export function sendJson(x: Exchange, status: number, value: unknown, headers: Headers = {}): void {
  sendBytes(x.response, status, Buffer.from(`${JSON.stringify(value)}\n`), {
    'content-type': 'application/json',
    'cache-control': 'must-revalidate',
    ...headers,
  });
}

/** Answers with a body that is complete. */
export function sendBytes(
  response: ServerResponse,
  status: number,
  body: Buffer,
  headers: Headers,
): void {
  if (response.headersSent || response.destroyed) return;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('content-length', body.length);
  response.statusCode = status;
  response.end(body);
}

/** Answers with the error in CouchDB's form; whatever it does not know becomes a 500. */
export function sendError(response: ServerResponse, error: unknown): void {
  const answer = asCouchError(error);
  const body = { error: answer.error, reason: answer.reason };
  sendBytes(response, answer.status, Buffer.from(`${JSON.stringify(body)}\n`), {
    'content-type': 'application/json',
    'cache-control': 'must-revalidate',
    ...answer.headers,
  });
}

/** Writes a piece of a streamed answer and waits while the client is slow; false when it went away. */
export function writePiece(x: Exchange, piece: string | Buffer): Promise<boolean> {
  const { response } = x;
  if (response.destroyed || x.gone.aborted) return Promise.resolve(false);
  if (response.write(piece)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve(!response.destroyed);
    };
    response.on('drain', done);
    response.on('close', done);
  });
}
