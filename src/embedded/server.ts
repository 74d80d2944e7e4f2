import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import Fastify, { type FastifyInstance } from 'fastify';

import { packageRoot } from '../package.js';
import { createAccounts, type SignedInUser } from './auth/accounts.js';
import { loadCredentials, type Credentials } from './auth/credentials.js';
import { USERS, userDocId } from './auth/users.js';
import type { ServerContext } from './context.js';
import { createDatabases, type Databases } from './databases/databases.js';
import { createUpdateLog } from './feeds/update-log.js';
import { createFunctionPool } from './functions/pool.js';
import { CouchError, refuse } from './http/couch-error.js';
import { parseTarget, sendError, type Exchange } from './http/exchange.js';
import { createReplications } from './replication/replications.js';
import { answerRequest } from './router.js';
import { openDatabasesFolder } from './storage/databases-folder.js';
import { lockDirectory } from './storage/directory-lock.js';
import { isDiskFull, watchDisk } from './storage/disk.js';
import { Absent } from './storage/storage.js';
import type { StorageKind } from '../storage-kinds.js';

export type Server = {
  readonly url: string;
  readonly credentials: Credentials;
  /** Ends feeds and replications, lets writes finish, closes the stores. */
  close(): Promise<void>;
};

/**
 * Starts the server on a directory of its own.
 * @throws TwsError `embedded_dir_in_use` when another process holds the directory
 */
export async function startServer(options: {
  readonly dir: string;
  readonly host: string;
  readonly port: number;
  /** What one call of a design document's function may take, ms; default 5,000. */
  readonly functionMs?: number | undefined;
  /** What new databases are kept in; by default see `openDatabasesFolder`. */
  readonly storage?: StorageKind | undefined;
  /** Called with what the operator of the server should know. */
  readonly tell?: (message: string) => void;
}): Promise<Server> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 });
  const unlock = await lockDirectory(options.dir);
  const credentials = await loadCredentials(options.dir);
  const storage = await openDatabasesFolder(join(options.dir, 'databases'), options.storage);
  const pool = createFunctionPool(options.functionMs);
  const updates = createUpdateLog();
  const databases = createDatabases({
    storage,
    pool,
    happened: (name, event) => updates.add(name, event),
  });
  const disk = watchDisk({
    dir: options.dir,
    reopen: () => databases.reopen(),
    tell: options.tell ?? (() => undefined),
  });
  const replications = createReplications();
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const context: ServerContext = {
    databases,
    pool,
    credentials,
    accounts: createAccounts({ credentials, findUser: userFinder(databases) }),
    updates,
    replications,
    disk,
    fauxtonDir: fauxtonDirectory(),
    uuid: randomUUID().replaceAll('-', ''),
    stopping: stopping.signal,
  };
  await createSystemDatabases(databases);
  const app = createApp(context);
  await app.listen({ host: options.host, port: options.port });
  const { port } = app.server.address() as AddressInfo;

  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    credentials,
    async close() {
      stopping.abort();
      await replications.close();
      await disk.close();
      await app.close();
      await pool.close();
      await databases.close();
      await unlock();
    },
  };
}

/** Where the build puts it. */
const fauxtonDirectory = (): string => join(packageRoot(), 'dist', 'fauxton');

async function createSystemDatabases(databases: Databases): Promise<void> {
  for (const name of [USERS, '_replicator']) {
    if ((await databases.find(name)) === undefined) await databases.create(name);
  }
}

const userFinder =
  (databases: Databases) =>
  async (name: string): Promise<Record<string, unknown> | undefined> => {
    const users = await databases.get(USERS);
    const doc = await users.store.get(userDocId(name));
    return doc instanceof Absent ? undefined : doc;
  };

/** Targets as clients sent them; Fastify itself sees one path, since it would decode `%2F`. */
const targets = new WeakMap<object, string>();

function createApp(context: ServerContext): FastifyInstance {
  const app = Fastify({
    forceCloseConnections: true,
    keepAliveTimeout: 120_000,
    requestTimeout: 0,
    connectionTimeout: 0,
    http: { maxHeaderSize: 64 * 1024 },
    rewriteUrl: (request) => {
      targets.set(request, request.url ?? '/');
      return '/';
    },
  });
  // The answer is given here for every method and every path, before a body would be parsed.
  app.addHook('onRequest', (request, reply, next) => {
    reply.hijack();
    answer(context, request.raw, reply.raw).then(() => next(), next);
  });
  app.get('/', () => undefined);
  return app;
}

/** Answers one request; whatever goes wrong becomes an answer too. */
async function answer(
  context: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  response.on('error', () => gone.abort());
  response.setHeader('server', 'TWS embedded (CouchDB protocol)');
  try {
    const target = targets.get(request) ?? request.url ?? '/';
    const { path, query } = parseTarget(target);
    const { user, by } = await signIn(context, request, path);
    const x: Exchange = {
      request,
      response,
      method: request.method ?? 'GET',
      target,
      path,
      query,
      user,
      signedInBy: by,
      context,
      gone: gone.signal,
    };
    if (by === 'cookie') await renewCookie(x);
    await answerRequest(x);
  } catch (error) {
    await giveUp(request, response, ofDisk(context, error));
  }
}

/** A store that the disk has no room for fails in many ways; some are no more than its consequence. */
function ofDisk({ disk }: ServerContext, error: unknown): unknown {
  if (isDiskFull(error)) disk.noticed();
  else if (!disk.isFull() || error instanceof CouchError) return error;
  return refuse.diskFull();
}

/** Signing in must work with a wrong cookie or password at hand, and so must its page. */
const signIn = (
  { accounts }: ServerContext,
  request: IncomingMessage,
  [first]: readonly string[],
): Promise<SignedInUser> => {
  const open =
    first === '_utils' || first === '_up' || (first === '_session' && request.method !== 'GET');
  return open
    ? Promise.resolve({ user: { name: null, roles: [] }, by: undefined })
    : accounts.signIn(request);
};

async function renewCookie({ context, user, response }: Exchange): Promise<void> {
  const cookie = user.name === null ? undefined : await context.accounts.cookie(user.name);
  if (cookie !== undefined) response.setHeader('set-cookie', cookie);
}

/** Before the head is out an error is an answer; after that the answer can only end. */
async function giveUp(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  if (response.headersSent) {
    response.end();
    return;
  }
  if (request.readable && !request.readableEnded) await drain(request);
  sendError(response, error);
}

/** A client that still sends sees the refusal only when somebody takes what it sends. */
function drain(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => resolve();
    request.on('end', done).on('close', done).on('error', done);
    request.resume();
  });
}
