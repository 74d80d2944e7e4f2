import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { packageRoot } from '../../src/package.js';

/** A `tws` process of its own, away from a terminal. */
export type Process = {
  readonly pid: number;
  /** What it printed so far. */
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves when stdout or stderr holds such a text. */
  readonly prints: (wanted: RegExp) => Promise<void>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Exit status, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
};

export type ProcessOptions = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
};

/** Starts `bin/tws.js`; it is killed when the test is over and it still runs. */
export function tws(args: readonly string[], options: ProcessOptions): Process {
  return start([join(packageRoot(), 'bin', 'tws.js'), ...args], options);
}

/** Runs command lines one after the other in one process; answers what each of them printed. */
export async function callAll(
  calls: readonly (readonly string[])[],
  options: ProcessOptions,
): Promise<readonly string[]> {
  const end = `-- ${randomUUID()}\n`;
  const script = join(import.meta.dirname, 'call-after-call.js');
  const called = start([script, end, JSON.stringify(calls)], options);
  await called.ended;
  const [out, err] = [called.out().split(end), called.err().split(end)];
  expect([out.length, err.length], called.err()).toEqual([calls.length + 1, calls.length + 1]);
  return calls.map((_call, i) => `${out[i]}${err[i]}`);
}

function start(command: readonly string[], { cwd, env = {}, input }: ProcessOptions): Process {
  const { PATH = '', TMPDIR = '' } = process.env;
  const child = spawn(process.execPath, command, {
    cwd,
    env: { PATH, ...(TMPDIR === '' ? {} : { TMPDIR }), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const printed = { out: '', err: '' };
  const listeners = new Set<() => void>();
  const take = (stream: 'out' | 'err') => (chunk: Buffer) => {
    printed[stream] += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout.on('data', take('out'));
  child.stderr.on('data', take('err'));
  child.stdin.end(input ?? '');
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  return {
    pid: child.pid ?? 0,
    out: () => printed.out,
    err: () => printed.err,
    prints: (wanted) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!wanted.test(printed.out) && !wanted.test(printed.err)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
        void ended.then((how) => reject(new Error(`It ended (${how}): ${printed.err}`)));
      }),
    kill: (signal) => child.kill(signal),
    ended,
  };
}
