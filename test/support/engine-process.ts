import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { couchUrl } from './couch.js';

/** `tws start` as a process of its own; it is killed at the end of the test. */
export type EngineProcess = {
  readonly child: ChildProcess;
  /** What it has printed so far, on both streams. */
  readonly said: () => string;
  /** Resolves with `[exit code, signal]` when the process ends; one of them is null. */
  readonly ended: Promise<readonly unknown[]>;
};

type Options = {
  /** Of `tws start`. */
  readonly flags?: readonly string[];
  /** Of Node.js. */
  readonly node?: readonly string[];
};

const bin = join(import.meta.dirname, '..', '..', 'bin', 'tws.js');

/**
 * Runs `tws start` in a project folder, with the database server of the tests. Resolves when it follows
 * the feed or has ended, whichever comes first.
 */
export async function spawnEngine(
  folder: string,
  { flags = [], node = [] }: Options = {},
): Promise<EngineProcess> {
  const child = spawn(process.execPath, [...node, bin, 'start', ...flags], {
    cwd: folder,
    env: { ...process.env, COUCH_URL: couchUrl() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  let said = '';
  const follows = new Promise<void>((resolve) => {
    const listen = (text: Buffer): void => {
      said += String(text);
      if (said.includes('follows')) resolve();
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
  });
  await Promise.race([follows, ended]);
  return { child, ended, said: () => said };
}

/** The same, for tests in which the engine must come up: rejects with what it said when it ends before. */
export async function startEngineProcess(
  folder: string,
  options?: Options,
): Promise<EngineProcess> {
  const engine = await spawnEngine(folder, options);
  const { exitCode, signalCode } = engine.child;
  if (exitCode === null && signalCode === null) return engine;
  throw new Error(`tws start ended with ${exitCode ?? signalCode}: ${engine.said()}`);
}
