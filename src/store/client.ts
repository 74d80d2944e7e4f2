import nano from 'nano';
import { problem, type TwsError } from '../errors.js';
import { causeOf } from './causes.js';
import { credentialsOf, serverUrl, type Connection } from './connection.js';

/** One request that is answered with JSON. `path` is encoded and begins with a slash. */
export type Ask = {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** What it is for, after "could not": "read the view jobs". */
  readonly action: string;
  readonly signal?: AbortSignal;
};

/** `refused`: CouchDB answered with an error that the caller may expect (404 of a document, 409). */
export type Reply =
  | { readonly kind: 'answered'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string };

/** Requests to the server of one connection. What concerns every request alike is thrown. */
export type Client = {
  readonly connection: Connection;
  /**
   * @throws TwsError `couch_unreachable`, `couch_unauthorized`, `couch_locked`,
   * `couch_not_admin`, `couch_forbidden`, `database_missing`, `couch_failed` (5xx)
   */
  readonly ask: (request: Ask) => Promise<Reply>;
};

/** Building a view over a large database takes its time before the first byte. */
const timeoutMs = 300_000;

/** Makes the client of a connection; nothing is sent yet. */
export function openClient(connection: Connection): Client {
  // Without parseUrl nano takes the path of a proxy for the name of a database.
  const configuration = {
    url: serverUrl(connection),
    headers: credentialsOf(connection),
    parseUrl: false,
  };
  const server = nano(configuration);
  return {
    connection,
    ask: async (request) => {
      const answer = await send(server, request);
      if (answer.kind === 'broken') {
        const { cause } = answer;
        throw problem('couch_unreachable', { url: serverUrl(connection), cause });
      }
      if (answer.kind === 'answered') return answer;
      const known = toProblem(connection, request.action, answer);
      if (known !== undefined) throw known;
      return answer;
    },
  };
}

type Sent = Reply | { readonly kind: 'broken'; readonly cause: string };

/** A kept-alive connection may have died unseen: reading is repeated once on a new one. */
async function send(server: nano.ServerScope, request: Ask): Promise<Sent> {
  const first = await sendOnce(server, request);
  const again = request.method !== 'PUT' && request.signal?.aborted !== true;
  if (first.kind === 'broken' && first.cause === 'connection broken' && again) {
    return sendOnce(server, request);
  }
  return first;
}

async function sendOnce(server: nano.ServerScope, request: Ask): Promise<Sent> {
  const { method = 'GET', path, query = {}, body, signal } = request;
  const late = AbortSignal.timeout(timeoutMs);
  const options = {
    method,
    path: path.slice(1),
    qs: query,
    ...(body === undefined ? {} : { body }),
    signal: signal === undefined ? late : AbortSignal.any([late, signal]),
  };
  try {
    const answer: unknown = await server.request(options);
    // nano makes an empty text of JSON that was cut off, and text or bytes of what is no JSON.
    if (answer == null || typeof answer === 'string' || Buffer.isBuffer(answer)) {
      return { kind: 'broken', cause: 'the answer is not the JSON of a CouchDB' };
    }
    return { kind: 'answered', body: answer };
  } catch (error) {
    const { statusCode, reason, message } = error as nano.RequestError & { statusCode?: number };
    if (statusCode === undefined) return { kind: 'broken', cause: causeOf(error) };
    return { kind: 'refused', status: statusCode, reason: reason ?? message };
  }
}

type Refused = { readonly status: number; readonly reason: string };

/** What is wrong for the whole connection; undefined when the answer is the caller's to judge. */
function toProblem(
  connection: Connection,
  action: string,
  { status, reason }: Refused,
): TwsError | undefined {
  const url = serverUrl(connection);
  const { database } = connection;
  // CouchDB says this with 401, 403, and 500 around a crash report.
  if (/not a (db or )?server admin/i.test(reason)) {
    return problem('couch_not_admin', { url, action });
  }
  if (status === 403 && /temporarily locked/i.test(reason)) return problem('couch_locked', { url });
  if (status === 401) return problem('couch_unauthorized', { url });
  if (status === 403) return problem('couch_forbidden', { url, database, reason });
  if (status === 404 && /database does not exist|no_db_file/i.test(reason)) {
    return problem('database_missing', { url, database });
  }
  if (status >= 500) return problem('couch_failed', { url, action, status, reason });
  return undefined;
}

/** The error of an answer that the caller did not expect either. */
export function unexpected(
  connection: Connection,
  action: string,
  { status, reason }: Refused,
): TwsError {
  return problem('couch_failed', { url: serverUrl(connection), action, status, reason });
}
