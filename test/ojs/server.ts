import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openServer } from '../../bench/server.js';
import { createClient, inspectServer } from '../../src/client.js';
import { startEngine } from '../../src/engine/engine.js';
import { startHttp } from '../../src/http/server.js';
import { loadPlugins } from '../../src/plugin/loader.js';
import { databasePath } from '../../src/store/client.js';
import { credentialsOf, type Connection } from '../../src/store/connection.js';
import { openStore } from '../../src/store/store.js';

/** An API with an engine on a database of its own. */
export type Started = {
  readonly url: string;
  /** Deletes everything but the task that takes jobs of all types, and what the engine says of itself. */
  readonly empty: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** What starts servers, and ends what they share. */
export type Starter = {
  readonly start: () => Promise<Started>;
  readonly close: () => Promise<void>;
};

const silent = () => undefined;
/** What nobody expected is told: it is what a case fails by. */
const error = (about: object, message: string) =>
  void process.stderr.write(`${message} ${JSON.stringify(about)}\n`);
const log = { debug: silent, info: silent, warn: silent, error };

/** On an embedded server of its own, or on a CouchDB. */
export async function openStarter(couch: string | undefined): Promise<Starter> {
  const server = await openServer(couch);
  const folder = await mkdtemp(join(tmpdir(), 'tws-ojs-'));
  const plugins = await loadPlugins({ folders: [folder], log: silent });
  return {
    start: async () => {
      const connection = await server.database('project');
      const store = openStore(connection);
      await store.write({ _id: 'task:ojs', type: 'task', name: 'ojs', plugin: 'worker' });
      const client = createClient({ store });
      const http = await startHttp({
        client,
        inspect: () => inspectServer({ ...connection }),
        settings: { port: 0, test_directives: true },
        root: folder,
        log,
        version: '0.0.0',
      });
      const engine = await startEngine({ store: openStore(connection), plugins, log, cwd: folder });
      const close = async (): Promise<void> => {
        await http.close();
        await engine.stop();
        await store.close();
        await server.remove(connection);
      };
      return { url: http.url, empty: () => empty(connection), close };
    },
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Row = { readonly id: string; readonly value: { readonly rev: string } };

async function empty(connection: Connection): Promise<void> {
  const { url } = connection;
  const base = `${url}${databasePath(connection)}`;
  const headers = { ...credentialsOf(connection), 'content-type': 'application/json' };
  const { rows } = (await (await fetch(`${base}/_all_docs`, { headers })).json()) as {
    readonly rows: readonly Row[];
  };
  const docs = rows
    .filter(({ id }) => !/^(?:_design\/|engine:|task:ojs$)/.test(id))
    .map(({ id, value }) => ({ _id: id, _rev: value.rev, _deleted: true }));
  if (docs.length === 0) return;
  const body = JSON.stringify({ docs });
  const answer = await fetch(`${base}/_bulk_docs`, { method: 'POST', headers, body });
  const results = (await answer.json()) as readonly { readonly error?: string }[];
  // An engine may have changed one meanwhile.
  if (results.some(({ error }) => error !== undefined)) await empty(connection);
}
