import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../src/embedded/start.js';
import type { StoredDocument } from '../../src/model/document.js';
import { credentialsOf, type Connection } from '../../src/store/connection.js';
import { createDatabase } from '../../src/store/database.js';
import { installDesign } from '../../src/store/design.js';
import { withGuard } from '../support/guard.js';
import { freePort } from '../support/ports.js';
import { storageOfTests } from '../support/storage.js';

/** The database of a run, made new and ready for engines. */
export type Database = {
  /** Straight to the server, without a proxy. */
  readonly connection: Connection;
  /** The servers that engines talk to: one, or the nodes of a cluster. */
  readonly nodes: readonly URL[];
  /** Copies of each document. */
  readonly copies: number;
  /** Every document with its `_conflicts`. */
  readonly documents: () => Promise<readonly StoredDocument[]>;
  /** Only a server of the run's own can be stopped. */
  readonly server?: {
    /** Ends it in order, or by `kill -9`. */
    readonly stop: (how: 'ordered' | 'killed') => Promise<void>;
    readonly start: () => Promise<void>;
  };
  /** Ends the server of the run's own; removes the database from any other, unless it is kept. */
  readonly close: (keep: boolean) => Promise<void>;
};

/** Where a run has its database. */
export type Place = {
  /** A server with its admin's credentials; without, an embedded server of the run's own. */
  readonly url?: string | undefined;
  /** All nodes of the cluster, of which `url` is one. */
  readonly nodes?: readonly string[] | undefined;
  /** Copies of each document; by default what a new database gets. */
  readonly copies?: number | undefined;
};

export async function openDatabase({ url, nodes = [], copies }: Place): Promise<Database> {
  const name = `tws-chaos-${randomUUID()}`;
  const server = url ?? nodes[0];
  const database = server === undefined ? await ownServer(name) : elsewhere(server, nodes, name);
  try {
    const asked = copies === undefined ? {} : { copies };
    const created = await createDatabase(database.connection, asked);
    await installDesign(database.connection, { guard: withGuard });
    return { ...database, copies: created.copies };
  } catch (error) {
    await database.close(false);
    throw error;
  }
}

async function ownServer(name: string): Promise<Database> {
  const dir = await mkdtemp(join(tmpdir(), 'tws-chaos-couch-'));
  const port = await freePort();
  let running = await startEmbedded({ dir, port, ...storageOfTests() });
  const { url, user, password } = running;
  const connection = { url, user, password, database: name, app: 'tws' };
  return {
    connection,
    nodes: [new URL(url)],
    copies: 1,
    documents: () => readAll(connection),
    server: {
      stop: async (how) => {
        if (how === 'killed') process.kill(running.pid, 'SIGKILL');
        await running.stop();
      },
      start: async () => {
        running = await startEmbedded({ dir, port, ...storageOfTests() });
      },
    },
    close: async () => {
      await running.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function elsewhere(url: string, nodes: readonly string[], name: string): Database {
  const { username, password, origin } = new URL(url);
  const signIn = { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  const connection = { url: origin, ...signIn, database: name, app: 'tws' };
  return {
    connection,
    nodes: (nodes.length === 0 ? [url] : nodes).map((node) => new URL(node)),
    copies: 1,
    documents: () => readAll(connection),
    close: async (keep) => {
      if (keep) return;
      const headers = credentialsOf(connection);
      await fetch(`${origin}/${name}`, { method: 'DELETE', headers });
    },
  };
}

async function readAll(connection: Connection): Promise<readonly StoredDocument[]> {
  const path = `${connection.url}/${connection.database}/_all_docs`;
  const answer = await fetch(`${path}?include_docs=true&conflicts=true`, {
    headers: credentialsOf(connection),
  });
  const { rows } = (await answer.json()) as { rows: readonly { doc: StoredDocument }[] };
  return rows.map(({ doc }) => doc);
}
