import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

import { problem } from '../errors.js';
import { builtModule } from '../package.js';
import type { StorageKind } from '../storage-kinds.js';

/** How long a server may take to say that it listens, ms. */
const STARTING_MS = 30_000;
/** How long it may take to close its stores before it is killed, ms. */
const STOPPING_MS = 15_000;

/** A running embedded server; it ends with the process that started it. */
export type EmbeddedServer = {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly pid: number;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
  /** Resolves to how the process ended, also by itself. */
  readonly ended: Promise<string>;
};

/**
 * Starts the embedded server in a process of its own, on `dir`, and waits until it listens on
 * loopback; without a port (or with 0) it takes a free one. Aborting `signal` stops it.
 * @throws TwsError `embedded_not_built`, `embedded_failed`
 */
export async function startEmbedded(options: {
  readonly dir: string;
  readonly port?: number;
  /** What one call of a design document's function may take, ms; default 5,000. */
  readonly functionMs?: number;
  /** What new databases are kept in; by default as those of the directory, SQLite in a new one. */
  readonly storage?: StorageKind | undefined;
  readonly signal?: AbortSignal;
  /** Called with each line of the server for its operator. */
  readonly tell?: (line: string) => void;
  /** The environment of the process; by default that of this one. */
  readonly env?: NodeJS.ProcessEnv;
}): Promise<EmbeddedServer> {
  const { dir, port = 0, functionMs, storage, signal, tell, env = process.env } = options;
  const limits = functionMs === undefined ? [] : ['--function-ms', String(functionMs)];
  const kind = storage === undefined ? [] : ['--storage', storage];
  signal?.throwIfAborted();
  const child = spawn(
    process.execPath,
    [processFile(), '--dir', dir, '--port', String(port), '--with-parent', ...limits, ...kind],
    // Ctrl-C in a terminal goes to the whole group; the server must outlive what still writes to it.
    { stdio: ['pipe', 'pipe', 'pipe'], env, detached: true },
  );
  const ended = new Promise<string>((resolve) =>
    child.once('exit', (code, by) => resolve(`it ended with ${code ?? by}`)),
  );
  const stop = (): Promise<void> => stopChild(child, ended);
  try {
    const { url, user, password_file } = await firstLine(child, dir, signal);
    if (tell !== undefined && child.stderr !== null) {
      createInterface(child.stderr).on('line', tell);
    }
    const { password } = JSON.parse(await readFile(password_file, 'utf8')) as { password: string };
    signal?.addEventListener('abort', () => void stop(), { once: true });
    return { url, user, password, pid: child.pid ?? 0, stop, ended };
  } catch (error) {
    await stop();
    throw error;
  }
}

function processFile(): string {
  const file = builtModule('embedded/process');
  if (!existsSync(file)) throw problem('embedded_not_built', { file });
  return file;
}

type Line = { readonly url: string; readonly user: string; readonly password_file: string };

function firstLine(
  child: ChildProcess,
  dir: string,
  signal: AbortSignal | undefined,
): Promise<Line> {
  return new Promise((resolve, reject) => {
    let complaint = '';
    const fail = (cause: string): void =>
      reject(problem('embedded_failed', { dir, cause: complaint.trim() || cause }));
    const late = setTimeout(() => fail(`no answer within ${STARTING_MS / 1000} s`), STARTING_MS);
    const aborted = (): void => reject(signal?.reason as Error);
    signal?.addEventListener('abort', aborted, { once: true });
    child.stderr?.on('data', (text: Buffer) => {
      complaint = (complaint + text.toString()).slice(-4_000);
    });
    child.once('error', (error) => fail(error.message));
    child.once('close', (code, by) => fail(`it ended with ${code ?? by}`));
    if (child.stdout === null) return fail('it has no output');
    createInterface(child.stdout).once('line', (line) => {
      clearTimeout(late);
      signal?.removeEventListener('abort', aborted);
      resolve(JSON.parse(line) as Line);
    });
  });
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOPPING_MS);
  await ended;
  clearTimeout(late);
}
