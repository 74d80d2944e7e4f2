import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { createClient, inspectServer, type Client } from '../../src/client.js';
import type { Log } from '../../src/engine/log.js';
import { startHttp, type ServerOptions } from '../../src/http/server.js';
import type { HttpSettings } from '../../src/config/http.js';
import { request as couchRequest } from '../support/couch.js';
import { userDocument, type User } from '../support/users.js';
import { openWorkspace, type Workspace } from '../support/workspace.js';
import { untruthOf } from './truth.js';

/** What came back. `body` is parsed JSON, or undefined. */
export type Reply<T = Record<string, unknown>> = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: T;
};

export type Asking = {
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string | undefined;
  readonly signal?: AbortSignal;
};

/** A running API on a database of its own. */
export type TestApi = Workspace & {
  readonly client: Client;
  readonly url: string;
  /** A request to a path below `/_tws`, or to a whole path: below `/_tws` or `/ojs`, or `/metrics`. */
  readonly ask: <T = Record<string, unknown>>(
    method: string,
    path: string,
    asking?: Asking,
  ) => Promise<Reply<T>>;
  /** Makes a token of these roles. */
  readonly tokenOf: (...roles: readonly string[]) => Promise<string>;
  readonly lines: readonly {
    readonly level: string;
    readonly about: object;
    readonly message: string;
  }[];
  readonly close: () => Promise<void>;
};

export type TestOptions = Partial<Omit<ServerOptions, 'settings'>> & {
  readonly settings?: HttpSettings;
  readonly files?: Readonly<Record<string, string>>;
  readonly workspace?: Workspace;
};

/** Starts the API over real HTTP; it ends with the test. */
export async function openApi(options: TestOptions = {}): Promise<TestApi> {
  const { settings = {}, files = {}, workspace: given, ...more } = options;
  const workspace = given ?? (await openWorkspace(files));
  const client = createClient({ store: workspace.store });
  const { connection } = workspace.store;
  const lines: TestApi['lines'][number][] = [];
  const at = (level: string) => (about: object, message: string) => {
    lines.push({ level, about, message });
  };
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const server = await startHttp({
    client,
    inspect: () => inspectServer({ ...connection }),
    settings: { port: 0, ...settings },
    root: workspace.folder,
    log,
    version: '0.0.0',
    ...more,
  });
  onTestFinished(server.close);
  return {
    ...workspace,
    client,
    url: server.url,
    lines,
    close: server.close,
    tokenOf: async (...roles) => (await client.createToken({ name: roles.join('+'), roles })).token,
    ask: (method, path, asking) => ask(server.url, method, path, asking),
  };
}

/** One request and its whole answer, which must be as the reference says. */
export async function ask<T>(
  url: string,
  method: string,
  path: string,
  { body, raw, headers = {}, token, signal }: Asking = {},
): Promise<Reply<T>> {
  const whole = /^\/(?:_tws|metrics|ojs)(?:[/?]|$)/.test(path) ? path : `/_tws${path}`;
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const reply = await fetch(`${url}${whole}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await reply.text();
  const type = reply.headers.get('content-type') ?? '';
  const untruth = untruthOf({ method, path: whole, status: reply.status, type, text });
  if (untruth !== undefined) throw new Error(untruth);
  return { status: reply.status, headers: reply.headers, text, body: parsed(text) as T };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Makes a user of CouchDB; answers his name and password. */
export async function makeUser(...roles: readonly string[]): Promise<User> {
  const user = { name: `tws-test-${randomUUID()}`, password: randomUUID() };
  await couchRequest('PUT', '/_users');
  const body = userDocument(user, roles);
  const path = `/_users/${encodeURIComponent(body._id)}`;
  const { status, body: made } = await couchRequest('PUT', path, { body });
  if (status !== 201) throw new Error(`The user was not made: ${status}`);
  onTestFinished(async () => {
    await couchRequest('DELETE', `${path}?rev=${made.rev ?? ''}`);
  });
  return user;
}
