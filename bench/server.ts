import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareDatabase } from '../src/client/open.js';
import { startEmbedded } from '../src/embedded/start.js';
import { databasePath } from '../src/store/client.js';
import { credentialsOf, type Connection } from '../src/store/connection.js';
import { createDatabase } from '../src/store/database.js';
import type { StorageKind } from '../src/storage-kinds.js';
import { cpuMsOf } from './processes.js';

/** The server that is measured, and databases on it that are removed at the end. */
export type BenchServer = {
  /** What stands in the figures: `embedded` or `couchdb`. */
  readonly kind: 'embedded' | 'couchdb';
  /** A new database; `project`: with our design document, `plain`: without, for raw writes. */
  readonly database: (content: 'project' | 'plain') => Promise<Connection>;
  readonly remove: (connection: Connection) => Promise<void>;
  /** Processor time it has used, ms; NaN of a server that is not our own, and where there is no `/proc`. */
  readonly cpuMs: () => number;
  /** Removes what is left and ends what was started. */
  readonly close: () => Promise<void>;
};

/** Takes the CouchDB of this URL, or starts an embedded server in a process and folder of its own. */
export async function openServer(
  url: string | undefined,
  storage?: StorageKind,
): Promise<BenchServer> {
  return url === undefined
    ? openEmbedded(storage)
    : benchServer('couchdb', access(url), { end: () => Promise.resolve(), cpuMs: () => NaN });
}

async function openEmbedded(storage: StorageKind | undefined): Promise<BenchServer> {
  const dir = await mkdtemp(join(tmpdir(), 'tws-bench-'));
  const server = await startEmbedded({ dir, storage });
  const end = async (): Promise<void> => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  };
  return benchServer('embedded', server, { end, cpuMs: () => cpuMsOf(server.pid) });
}

/** A server and its admin. */
export type Access = { readonly url: string; readonly user?: string; readonly password?: string };

/** Reads a URL with name and password. */
export function access(text: string): Access {
  const url = new URL(text);
  const [user, password] = [url.username, url.password].map(decodeURIComponent);
  url.username = '';
  url.password = '';
  const named = user === undefined || user === '' ? {} : { user, password: password ?? '' };
  return { url: url.href.replace(/\/+$/, ''), ...named };
}

function benchServer(
  kind: BenchServer['kind'],
  { url, user, password = '' }: Access,
  { end, cpuMs }: { readonly end: () => Promise<void>; readonly cpuMs: () => number },
): BenchServer {
  const open = new Set<Connection>();
  const remove = async (connection: Connection): Promise<void> => {
    open.delete(connection);
    await fetch(`${url}${databasePath(connection)}`, {
      method: 'DELETE',
      headers: credentialsOf(connection),
    });
  };
  return {
    kind,
    remove,
    cpuMs,
    database: async (content) => {
      const database = `tws-bench-${randomUUID()}`;
      const login = user === undefined ? {} : { user, password };
      const connection = { url, database, app: 'tws', ...login };
      open.add(connection);
      if (content === 'project') await prepareDatabase(connection);
      else await createDatabase(connection);
      return connection;
    },
    close: async () => {
      await Promise.allSettled([...open].map(remove));
      await end();
    },
  };
}
