import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { runningDev, type EmbeddedFile } from '../config/dev.js';
import type { Config } from '../config/load.js';
import { problem, type TwsError } from '../errors.js';
import { makeFolder } from '../make-folder.js';
import type { StorageKind } from '../storage-kinds.js';

/** The embedded server, and the settings of a command that works on it. */
export type EmbeddedRun = {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** The settings, changed to this server. */
  readonly config: Config;
  /** Files of mode 0600: its settings, and its URL with name and password for curl. */
  readonly files: { readonly settings: string; readonly url: string };
  /** Leaves `files`, so that other terminals of the project find the server. */
  readonly announce: () => Promise<void>;
  /** Says in the file of the settings where the API is. */
  readonly announceApi: (url: string) => Promise<void>;
  /** Resolves when the server has ended by itself (`embedded_gone`), or was stopped. */
  readonly gone: Promise<TwsError>;
  /** Ends the server and takes `files` away. */
  readonly stop: () => Promise<void>;
};

export type EmbeddedOptions = {
  readonly config: Config;
  /** Folder of its data. */
  readonly dir: string;
  /** 0: any free one. */
  readonly port: number;
  /** Called with each line of the server for its operator. */
  readonly tell: (line: string) => void;
};

/**
 * Starts the embedded server as a process of its own. It is announced when its database is there: a
 * command that finds it earlier would fail.
 * @throws TwsError `dev_running`, `port_taken`
 */
export async function runEmbedded(options: EmbeddedOptions): Promise<EmbeddedRun> {
  const { config, dir, port, tell } = options;
  const running = runningDev(dir);
  if (running !== undefined) {
    throw problem('dev_running', { dir, pid: running.pid, url: running.url });
  }
  await makeFolder(dir, 0o700);
  const { startEmbedded } = await import('../embedded/start.js');
  await assertFree(port);
  const files = { settings: join(dir, 'embedded.json'), url: join(dir, 'couch-url') };
  const forget = async (): Promise<void> => {
    await Promise.all(Object.values(files).map((file) => rm(file, { force: true })));
  };
  const { storage } = config.embedded;
  const server = await startEmbedded({
    dir: dataOf(dir),
    port,
    ...(storage === 'auto' ? {} : { storage }),
    tell,
  });
  // Those of a process that was killed; also, an older file keeps its mode when it is written over.
  await forget();
  const { url, user, password } = server;
  const { database, app } = config;
  const settings: EmbeddedFile = { url, user, password, database, app, pid: process.pid };
  return {
    url,
    user,
    password,
    config: { ...config, url, user, password },
    files,
    gone: server.ended.then((cause) => problem('embedded_gone', { dir, cause })),
    announce: async () => {
      await writePrivate(files.settings, JSON.stringify(settings, null, 2));
      await writePrivate(files.url, withCredentials(url, user, password));
    },
    announceApi: (http) =>
      writePrivate(files.settings, JSON.stringify({ ...settings, http }, null, 2)),
    stop: async () => {
      await forget();
      await server.stop();
    },
  };
}

/** Where the server keeps its data, in a folder of a project. */
const dataOf = (dir: string): string => join(dir, 'couch');

/**
 * Makes all databases in a folder ones of another kind; `onDatabase` is called after each.
 * @throws TwsError `dev_running`, and those of `convertDatabases`
 */
export async function convertEmbedded(options: {
  readonly dir: string;
  readonly to: StorageKind;
  readonly onDatabase: (database: ConvertedDatabase) => void;
}): Promise<ConvertedDatabase[]> {
  const { dir, to, onDatabase } = options;
  const running = runningDev(dir);
  if (running !== undefined) {
    throw problem('dev_running', { dir, pid: running.pid, url: running.url });
  }
  const { convertDatabases } = await import('../embedded/storage/conversion.js');
  return convertDatabases({ dir: dataOf(dir), to, onConverted: onDatabase });
}

type ConvertedDatabase = {
  readonly name: string;
  readonly from: string;
  readonly documents: number;
};

/** The server could only say that it failed. @throws TwsError `port_taken` */
async function assertFree(port: number): Promise<void> {
  const probe = createServer();
  try {
    probe.listen(port, '127.0.0.1');
    await once(probe, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw problem('port_taken', { port });
    throw error;
  } finally {
    probe.close();
  }
}

async function writePrivate(file: string, content: string): Promise<void> {
  await writeFile(file, `${content}\n`, { mode: 0o600 });
}

function withCredentials(server: string, user: string, password: string): string {
  const url = new URL(server);
  url.username = encodeURIComponent(user);
  url.password = encodeURIComponent(password);
  return url.href.replace(/\/$/, '');
}
