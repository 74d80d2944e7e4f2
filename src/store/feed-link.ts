import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { causeOf } from './causes.js';
import { databasePath } from './client.js';
import { credentialsOf, serverUrl, type Connection } from './connection.js';
import { watchSilence } from '../turns.js';

/** Where a feed begins, and how often the server has to give a sign of life. */
export type FeedQuery = {
  readonly since: string;
  readonly heartbeatMs: number;
  /** Whether conflicts are told: by the documents, or by all leaf revisions where there are none. */
  readonly conflicts: boolean;
  /** Whether each change brings its document. */
  readonly documents: boolean;
};

/** An open feed: `lines` ends or throws when the connection does; leaving it closes the connection. */
export type FeedLink = { readonly status: number; readonly lines: AsyncIterable<string> };

/**
 * Opens one continuous feed on a connection of its own. Lines are read from the socket only as they
 * are asked for, so a busy consumer slows the server down. Silence of three heartbeats, counted only
 * while somebody waits for a line, breaks the connection.
 * @throws Error with a short cause as message; whatever `signal` aborts with
 */
export async function openFeedLink(
  connection: Connection,
  query: FeedQuery,
  signal: AbortSignal,
): Promise<FeedLink> {
  const silenceMs = 3 * query.heartbeatMs;
  const response = await getResponse(connection, feedPath(connection, query), silenceMs, signal);
  const { statusCode: status = 0 } = response;
  return { status, lines: linesOf(response, silenceMs) };
}

function feedPath(connection: Connection, query: FeedQuery): string {
  const { since, heartbeatMs, conflicts, documents } = query;
  const parameters = new URLSearchParams({
    feed: 'continuous',
    ...(documents ? { include_docs: 'true' } : {}),
    ...(conflicts ? (documents ? { conflicts: 'true' } : { style: 'all_docs' }) : {}),
    heartbeat: String(heartbeatMs),
    since,
  });
  return databasePath(connection, `/_changes?${parameters.toString()}`);
}

function getResponse(
  connection: Connection,
  path: string,
  silenceMs: number,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = `${serverUrl(connection)}${path}`;
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  const headers = { accept: 'application/json', ...credentialsOf(connection) };
  return new Promise((resolve, reject) => {
    const request = send(url, { headers, agent: false, signal });
    const watch = watchSilence(silenceMs, () => request.destroy(new Error(silence(silenceMs))));
    request.on('response', (response) => {
      watch.stop();
      resolve(response);
    });
    // Stays for the life of the connection: later errors reach the reader of the lines as well.
    request.on('error', (error) => {
      watch.stop();
      reject(new Error(causeOf(error), { cause: error }));
    });
    request.end();
  });
}

async function* linesOf(response: IncomingMessage, silenceMs: number): AsyncGenerator<string> {
  response.setEncoding('utf8');
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<string>;
  // One watch for the life of a connection: silence counts only while somebody waits.
  let isWaiting = false;
  const watch = watchSilence(silenceMs, () => {
    if (isWaiting) response.destroy(new Error(silence(silenceMs)));
  });
  let begun = '';
  try {
    for (;;) {
      isWaiting = true;
      watch.heard();
      const next = await chunks.next();
      isWaiting = false;
      if (next.done === true) return;
      begun += next.value;
      // A long document comes in many chunks: it is split once, when its end is there.
      if (!next.value.includes('\n')) continue;
      const lines = begun.split('\n');
      begun = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    throw new Error(causeOf(error), { cause: error });
  } finally {
    watch.stop();
    response.destroy();
  }
}

function silence(ms: number): string {
  return `nothing heard for ${ms / 1000} s`;
}
