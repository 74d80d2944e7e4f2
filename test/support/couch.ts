/**
 * What tests need to speak CouchDB's protocol: requests, databases that are removed after the
 * test file, and readers of streaming feeds. Requests go through `node:http` and not through
 * `fetch`, because `fetch` rewrites `..` in paths and forbids bodies on GET.
 */
import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { inject } from 'vitest';
import type { CouchKind } from './couch-server.js';

export type Document = {
  readonly _id?: string | undefined;
  readonly _rev?: string | undefined;
  readonly [key: string]: unknown;
};

/** A row of a view, of `_all_docs` or of `_local_docs`. */
export type Row = {
  readonly id?: string;
  readonly key?: unknown;
  readonly value?: unknown;
  readonly doc?: Document | null;
  readonly error?: string;
};

/** One change of a `_changes` feed; `last_seq` stands alone in the line that ends a feed. */
export type Change = {
  readonly seq: string;
  readonly id: string;
  readonly changes: readonly { readonly rev: string }[];
  readonly deleted?: true;
  readonly doc?: Document;
  readonly last_seq?: string;
  readonly pending?: number;
};

/** The fields that CouchDB's answers share; which of them are there depends on the endpoint. */
export type CouchBody = {
  readonly ok?: boolean;
  readonly id?: string;
  readonly rev?: string;
  readonly _id?: string;
  readonly _rev?: string;
  readonly error?: string;
  readonly reason?: string;
  readonly rows?: readonly Row[];
  readonly docs?: readonly Document[];
  readonly results?: readonly Change[];
  readonly last_seq?: string;
  readonly update_seq?: string;
  readonly [key: string]: unknown;
};

export type Credentials = { readonly user: string; readonly password: string };

export type RequestOptions = {
  /** A value that is sent as JSON. */
  readonly body?: unknown;
  /** Bytes that are sent as they are, instead of `body`. */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Left out: the admin of the URL; `null`: nobody. */
  readonly auth?: Credentials | null;
  readonly signal?: AbortSignal;
};

/** `body` is the parsed JSON, or undefined when `text` is not JSON. */
export type Answer<T> = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: T;
  readonly text: string;
  readonly bytes: Buffer;
};

/** The URL of this worker's server with the admin's name and password, without a slash at the end. */
export function couchUrl(): string {
  const { urls } = inject('couch');
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 1);
  return urls[(worker - 1) % urls.length] as string;
}

/** Whether this run talks to the embedded server or to a CouchDB. */
export function couchKind(): CouchKind {
  return inject('couch').kind;
}

/** The admin of `couchUrl()`. */
export function admin(): Credentials {
  const { username, password } = new URL(couchUrl());
  return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/** One request and its whole answer, within 60 s. `path` goes over the wire character by character. */
export async function request<T = CouchBody>(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer<T>> {
  const signal = AbortSignal.any([
    AbortSignal.timeout(60_000),
    ...(options.signal ? [options.signal] : []),
  ]);
  const response = await send(method, path, { ...options, signal });
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const bytes = Buffer.concat(parts);
  const text = bytes.toString('utf8');
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: parsed(text) as T, text, bytes };
}

const created = new Set<string>();

/** Closes the feeds and removes the databases of a test file: each file's set-up calls it at the end. */
export async function cleanUp(): Promise<void> {
  for (const feed of feeds) feed.close();
  feeds.clear();
  for (const name of created) await request('DELETE', `/${encodeURIComponent(name)}`);
  created.clear();
}

/**
 * Creates an empty database with one copy per shard (in a cluster only that makes 409 exact) and
 * a name of its own, starting with `prefix`; it is removed after the test file. Returns the name.
 */
export async function freshDatabase(prefix = 'tws-test'): Promise<string> {
  const name = `${prefix}-${randomUUID()}`;
  const { status, text } = await request('PUT', `/${encodeURIComponent(name)}?n=1`);
  if (status !== 201 && status !== 202) throw new Error(`PUT /${name}: ${status} ${text}`);
  removeAfterwards(name);
  return name;
}

/** Has a database removed after the test file, if it is still there then. */
export function removeAfterwards(name: string): void {
  created.add(name);
}

/** Stores a document that has an `_id` and returns its revision. Throws unless CouchDB says 201. */
export async function store(database: string, document: Document): Promise<string> {
  const path = `/${encodeURIComponent(database)}/${documentPath(document._id ?? '')}`;
  const { status, body, text } = await request('PUT', path, { body: document });
  if (status !== 201 || body.rev === undefined) throw new Error(`PUT ${path}: ${status} ${text}`);
  return body.rev;
}

/** Stores documents in one request and returns their revisions. Throws unless all are stored. */
export async function storeAll(
  database: string,
  docs: readonly Document[],
): Promise<readonly string[]> {
  const path = `/${encodeURIComponent(database)}/_bulk_docs`;
  const { status, body, text } = await request<readonly CouchBody[]>('POST', path, {
    body: { docs },
  });
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
  return body.map(({ rev, error, id }) => {
    if (rev === undefined) throw new Error(`${id}: ${error}`);
    return rev;
  });
}

/** A feed that is being read. */
export type Feed = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The next line, '' for a heartbeat, undefined at the end. Throws after `deadlineMs` of silence. */
  readonly line: (deadlineMs?: number) => Promise<string | undefined>;
  /** The next line that is not a heartbeat, as JSON; undefined at the end. */
  readonly change: (deadlineMs?: number) => Promise<Change | undefined>;
  readonly close: () => void;
};

const feeds = new Set<Feed>();

/** Opens a streaming answer; it is read until `close()`, the abort of `signal`, or its end. */
export async function openFeed(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Feed> {
  const response = await send(method, path, options);
  const line = lineReader(response);
  const change = async (deadlineMs = 60_000): Promise<Change | undefined> => {
    for (let text = await line(deadlineMs); text !== undefined; text = await line(deadlineMs)) {
      if (text !== '') return JSON.parse(text) as Change;
    }
    return undefined;
  };
  const { statusCode: status = 0, headers } = response;
  const feed: Feed = { status, headers, line, change, close: () => void response.destroy() };
  feeds.add(feed);
  return feed;
}

/** The path of a document below its database: the slash after `_design` and `_local` stays. */
export function documentPath(id: string): string {
  const [, space = '', name = id] = /^(_design\/|_local\/)?(.*)$/su.exec(id) ?? [];
  return space + encodeURIComponent(name);
}

/** The header that signs in with a name and a password. */
export function basicAuth({ user, password }: Credentials): { authorization: string } {
  const token = Buffer.from(`${user}:${password}`).toString('base64');
  return { authorization: `Basic ${token}` };
}

function send(method: string, path: string, options: RequestOptions): Promise<IncomingMessage> {
  const { auth = admin(), signal } = options;
  const { hostname, port } = new URL(couchUrl());
  const payload = options.raw ?? (options.body === undefined ? '' : JSON.stringify(options.body));
  const json =
    options.raw === undefined && (method === 'POST' || payload !== '')
      ? { 'content-type': 'application/json' }
      : {};
  const length =
    payload === '' && method !== 'POST' && method !== 'PUT'
      ? {}
      : { 'content-length': String(Buffer.byteLength(payload)) };
  const headers = {
    accept: 'application/json',
    ...json,
    ...length,
    ...(auth === null ? {} : basicAuth(auth)),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { hostname, port, method, path, headers, agent: false, ...(signal ? { signal } : {}) },
      resolve,
    );
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

function lineReader(
  response: IncomingMessage,
): (deadlineMs?: number) => Promise<string | undefined> {
  const lines: string[] = [];
  let ended = false;
  let wake = (): void => {};
  const end = (): void => {
    ended = true;
    wake();
  };
  const reader = createInterface({ input: response, crlfDelay: Infinity });
  reader.on('line', (line) => {
    lines.push(line);
    wake();
  });
  reader.on('close', end);
  response.on('error', end);
  response.on('close', end);
  return async (deadlineMs = 60_000) => {
    if (lines.length === 0 && !ended) {
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`The feed was silent for ${deadlineMs} ms.`)),
          deadlineMs,
        );
        wake = () => {
          clearTimeout(late);
          resolve();
        };
      });
    }
    return lines.shift();
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
