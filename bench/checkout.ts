import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { databasePath } from '../src/store/client.js';
import { credentialsOf, type Connection } from '../src/store/connection.js';
import { openStore } from '../src/store/store.js';
import type { NewDocument } from '../src/store/writer.js';
import { largePlugin } from './large.js';
import type { Options } from './options.js';
import { storeAll } from './project.js';
import { access, type Access } from './server.js';

/**
 * A built checkout of the project, this one or another revision of it, used as users use it: its
 * server and its engines are processes of their own, and nothing of its code runs here.
 */
export type Checkout = {
  readonly kind: 'embedded' | 'couchdb';
  /** The process of its embedded server. */
  readonly serverPid: number | undefined;
  /** A new project with these documents, and so many engines that run. */
  readonly project: (options: ProjectOptions) => Promise<RunningProject>;
  /** A new database without a design document. */
  readonly plain: () => Promise<Connection>;
  readonly close: () => Promise<void>;
};

export type ProjectOptions = {
  readonly engines: number;
  readonly slots: number;
  readonly documents: readonly NewDocument[];
  /** The database has a guard; a revision that cannot leave it out has one in any case. */
  readonly guard: boolean;
  /** Copies of each document, in a cluster. */
  readonly copies: number;
  /** Counts the calls of the engines (`way-probe`), which makes them slower. */
  readonly counting?: boolean;
};

export type RunningProject = {
  readonly connection: Connection;
  /** The processes of the engines. */
  readonly pids: readonly number[];
  /** The first engine, where its calls are counted. */
  readonly counted: ChildProcess | undefined;
  /** Ends the engines, and removes project and database. */
  readonly close: () => Promise<void>;
};

/** The plugin of the steps: it does nothing, and its result can be looked for. */
const plugin = `export const description = 'Does nothing';
export default ({ step }) => ({ did: step.name ?? step.task });
`;
/** Engines that run: they end with this process, also when it fails. */
const started = new Set<ChildProcess>();
process.on('exit', () => {
  for (const engine of started) engine.kill();
});

/** So long engines that have just started take to hear of each other and to compile, ms. */
const acquaintanceMs = 1_000;
const startMs = 60_000;

/** Starts the server of a checkout, or takes the CouchDB of `url` for it. */
export async function openCheckout(
  root: string,
  { url, storage, profile }: Pick<Options, 'url' | 'storage' | 'profile'>,
): Promise<Checkout> {
  const dir = mkdtempSync(join(tmpdir(), 'tws-bench-'));
  const server = url === undefined ? await startServer(root, dir, storage) : undefined;
  const at = server?.access ?? access(url ?? '');
  const connect = (): Connection => ({ ...at, database: `tws-bench-${randomUUID()}`, app: 'tws' });
  const databases = new Set<Connection>();
  const remove = async (connection: Connection): Promise<void> => {
    databases.delete(connection);
    await ask('DELETE', connection);
  };
  return {
    kind: server === undefined ? 'couchdb' : 'embedded',
    serverPid: server?.child.pid,
    project: async (options) => {
      const connection = connect();
      databases.add(connection);
      const folder = join(dir, connection.database);
      const running = await startProject(root, folder, connection, { ...options, profile });
      const close = async (): Promise<void> => {
        await Promise.all(running.map(end));
        await remove(connection);
      };
      const counted = options.counting === true ? running[0] : undefined;
      return { connection, pids: running.map(({ pid = 0 }) => pid), counted, close };
    },
    plain: async () => {
      const connection = connect();
      databases.add(connection);
      await ask('PUT', connection);
      return connection;
    },
    close: async () => {
      await Promise.allSettled([...databases].map(remove));
      if (server !== undefined) await end(server.child);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function startServer(root: string, dir: string, storage: Options['storage']) {
  const file = join(root, 'dist', 'src', 'embedded', 'process.js');
  const kind = storage === undefined ? [] : ['--storage', storage];
  const args = [file, '--dir', join(dir, 'server'), '--port', '0', '--with-parent', ...kind];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface(child.stdout)) {
    const told = JSON.parse(line) as { url: string; user: string; password_file: string };
    const { password } = JSON.parse(readFileSync(told.password_file, 'utf8')) as Required<Access>;
    return { child, access: { url: told.url, user: told.user, password } };
  }
  throw new Error(`The embedded server of ${root} did not start.`);
}

/** Makes a project in `folder` and starts its engines; resolves when each of them tells that it is there. */
async function startProject(
  root: string,
  folder: string,
  connection: Connection,
  options: ProjectOptions & Pick<Options, 'profile'>,
): Promise<readonly ChildProcess[]> {
  const { engines, slots, documents, guard, copies, profile, counting = false } = options;
  mkdirSync(join(folder, 'plugins'), { recursive: true });
  writeFileSync(join(folder, 'tws.json'), '{}\n');
  writeFileSync(join(folder, 'plugins', 'step.mjs'), plugin);
  writeFileSync(join(folder, 'plugins', 'large.mjs'), largePlugin);
  const env = { ...process.env, ...variablesOf(connection) };
  const tws = join(root, 'bin', 'tws.js');
  const without = !guard && existsSync(join(root, 'couch', 'guard')) ? ['--no-guard'] : [];
  const init = [tws, 'init', '--copies', String(copies), ...without];
  execFileSync(process.execPath, init, { cwd: folder, env, stdio: 'pipe' });
  await storeAll(connection, documents);
  const probe = counting ? ['--import', new URL('way-probe.js', import.meta.url).href] : [];
  if (profile !== undefined) probe.push('--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`);
  const running = Array.from({ length: engines }, () =>
    spawn(process.execPath, [...probe, tws, 'start', '--quiet', '--slots', String(slots)], {
      ...{ cwd: folder, env },
      stdio: counting ? ['ignore', 'ignore', 'ignore', 'ipc'] : 'ignore',
    }),
  );
  for (const child of running) {
    started.add(child);
    child.once('exit', () => started.delete(child));
  }
  const store = openStore(connection);
  for (const until = Date.now() + startMs; ; await sleep(100)) {
    if ((await store.range('engine:')).length >= engines) break;
    if (Date.now() > until || running.some(({ exitCode }) => exitCode !== null)) {
      await Promise.all(running.map(end));
      throw new Error(`The engines of ${root} did not start.`);
    }
  }
  await sleep(acquaintanceMs);
  await store.close();
  return running;
}

/** The environment of a project on this database. */
export function variablesOf({ url, user = '', password = '', database }: Connection) {
  return {
    ...{ COUCH_URL: url, COUCH_USER: user, COUCH_PASS: password, COUCH_DATABASE: database },
    ...{ TWS_CRYPTO_KEY: '', NO_COLOR: '1' },
  };
}

async function ask(method: string, connection: Connection): Promise<void> {
  const headers = credentialsOf(connection);
  await fetch(`${connection.url}${databasePath(connection)}`, { method, headers });
}

/** Ends a process in order. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await gone;
}
