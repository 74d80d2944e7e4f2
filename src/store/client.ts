import { problem, type TwsError } from '../errors.js';
import { openNano } from './by-nano.js';
import { serverUrl, type Connection } from './connection.js';
import {
  createPatience,
  openExchange,
  readJson,
  unlimited,
  type ExchangeResult,
  type HttpExchange,
} from './exchange.js';
import { askLong } from './long-ask.js';

/** Path of the database below the server, with what follows it: `/my_tasks/_changes`. */
export function databasePath(connection: Connection, rest = ''): string {
  return `/${encodeURIComponent(connection.database)}${rest}`;
}

/** Path of a document below its database. The slash of `_design/` and `_local/` stays one. */
export function documentPath(id: string): string {
  const space = /^_(design|local)\//.exec(id)?.[0] ?? '';
  return `/${space}${encodeURIComponent(id.slice(space.length))}`;
}

/** One request that is answered with JSON. `path` is encoded and begins with a slash. */
export type CouchRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Keys are written as JSON, everything else as it is. */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** What it is for, after "could not": "read the view jobs". */
  readonly action: string;
  /** The answer may take minutes, as that of a view that is being built; else seconds. */
  readonly long?: boolean;
  readonly signal?: AbortSignal;
};

/** `refused`: CouchDB answered with an error that the caller may expect (404 of a document, 409). */
export type Reply =
  | { readonly kind: 'answered'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string };

/** Requests to the server of one connection. What concerns every request alike is thrown. */
export type CouchClient = {
  readonly connection: Connection;
  readonly exchange: HttpExchange;
  /**
   * @throws TwsError `couch_unreachable`, `couch_unauthorized`, `couch_locked`,
   * `couch_not_admin`, `couch_forbidden`, `database_missing`, `couch_failed` (5xx, 429, an answer
   * that is not CouchDB's)
   */
  readonly ask: (request: CouchRequest) => Promise<Reply>;
  /** The same; undefined when the answer is longer than `mostBytes`. */
  readonly askWithin: (request: CouchRequest, mostBytes: number) => Promise<Reply | undefined>;
};

/** Makes the client of a connection; nothing is sent yet. */
export function openClient(connection: Connection): CouchClient {
  const exchange = openExchange(connection);
  const send = createSender(connection, exchange);
  const read = async (request: CouchRequest, answered: ExchangeResult): Promise<Reply> => {
    const answer = await readAnswer(answered);
    if (answer.kind === 'broken') {
      const { cause } = answer;
      throw problem('couch_unreachable', { url: serverUrl(connection), cause });
    }
    if (answer.kind === 'answered') return answer;
    const known = toProblem(connection, request.action, answer);
    if (known !== undefined) throw known;
    return answer;
  };
  return {
    connection,
    exchange,
    ask: async (request) => read(request, await send(request)),
    askWithin: async (request, mostBytes) => {
      const answer = await send(request, mostBytes);
      const isTooLong = answer.kind === 'failed' && answer.isTooLong === true;
      return isTooLong ? undefined : read(request, answer);
    },
  };
}

/** Sends each request with the limit that suits it; administration by nano. */
function createSender(connection: Connection, exchange: HttpExchange) {
  const patience = createPatience();
  const administrate = openNano(connection);
  let looking: Promise<boolean> | undefined;
  /** One look at a time serves all who ask. */
  const isAlive = (): Promise<boolean> =>
    (looking ??= exchange
      .send({ method: 'GET', path: databasePath(connection), patience })
      .then(({ kind }) => kind === 'answered')
      .finally(() => (looking = undefined)));

  return async (request: CouchRequest, mostBytes?: number): Promise<ExchangeResult> => {
    const { method = 'GET', path, query, body, long = false, signal } = request;
    const call = {
      method,
      path: query === undefined ? path : `${path}${queryText(query)}`,
      body: body === undefined ? undefined : JSON.stringify(body),
      mostBytes,
    };
    const repeatable = method !== 'PUT';
    const twice = async (
      send: () => Promise<ExchangeResult>,
      until?: AbortSignal,
    ): Promise<ExchangeResult> => {
      const first = await send();
      const isBroken = first.kind === 'failed' && first.cause === 'connection broken';
      // A kept-alive connection may have died unseen: reading is repeated once on a new one.
      return isBroken && repeatable && until?.aborted !== true ? send() : first;
    };
    if (!long) return twice(() => exchange.send({ ...call, patience, signal }), signal);
    const ask = (until: AbortSignal): Promise<ExchangeResult> => {
      if (method === 'PUT') return administrate(call, until);
      return twice(() => exchange.send({ ...call, patience: unlimited, signal: until }), until);
    };
    return askLong({ ask, isAlive, repeatable, signal });
  };
}

const jsonParameters = new Set(['startkey', 'endkey', 'key', 'keys', 'start_key', 'end_key']);

function queryText(query: Readonly<Record<string, unknown>>): string {
  const parameters = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    jsonParameters.has(name) ? JSON.stringify(value) : String(value),
  ]);
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`;
}

type Read = Reply | { readonly kind: 'broken'; readonly cause: string };

/** What an answer says; one that is not CouchDB's own (of a proxy, cut off) says nothing. */
async function readAnswer(answer: ExchangeResult): Promise<Read> {
  if (answer.kind === 'failed') return { kind: 'broken', cause: answer.cause };
  const { status, text } = answer;
  const body = await readJson(text);
  if (status >= 200 && status < 300) {
    const isValue = body !== undefined && body !== null && typeof body !== 'string';
    if (isValue) return { kind: 'answered', body };
    return { kind: 'broken', cause: 'the answer is not the JSON of a CouchDB' };
  }
  if (status >= 300 && status < 400) {
    return { kind: 'broken', cause: `it answers with a redirect (${status})` };
  }
  const { error, reason } = (body ?? {}) as { readonly error?: unknown; readonly reason?: unknown };
  if (typeof reason === 'string') return { kind: 'refused', status, reason };
  if (typeof error === 'string') return { kind: 'refused', status, reason: error };
  // That a document is not there is believed of the database alone.
  const isProxy = status === 404 || status === 409 || status === 412;
  if (isProxy) return { kind: 'broken', cause: `${status}, and not in the form of a CouchDB` };
  return { kind: 'refused', status, reason: `couch returned ${status}` };
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
  if (status >= 500 || status === 429) {
    return problem('couch_failed', { url, action, status, reason });
  }
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
