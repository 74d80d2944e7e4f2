import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { packageRoot } from '../../src/package.js';
import { needPrograms } from '../support/programs.js';

/** A `tws` process on a terminal of its own, made by `script` of util-linux. */
export type OnTerminal = {
  /** All that the terminal got, with its control sequences. */
  readonly screen: () => string;
  readonly shows: (wanted: RegExp) => Promise<void>;
  readonly press: (keys: string) => void;
  /** Sends a signal to the `tws` process itself. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves with the exit status that a shell on the terminal saw. */
  readonly ended: Promise<number>;
};

export type TerminalOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
};

/**
 * Runs `bin/tws.js` on a terminal of that size; the shell on it tells how it ended. The test is
 * skipped on a machine that has no such programs.
 */
export function twsOnTerminal(args: readonly string[], options: TerminalOptions): OnTerminal {
  needPrograms('script', 'bash', 'stty');
  const { cwd, env, columns = 80, rows = 24 } = options;
  const tws = [process.execPath, join(packageRoot(), 'bin', 'tws.js'), ...args].map(quoted);
  const shell = `stty cols ${columns} rows ${rows}; ${tws.join(' ')} & echo "pid:$!"; fg >/dev/null; echo "exit:$?"; stty -a`;
  const { PATH = '' } = process.env;
  const child = spawn('script', ['-qefc', `bash -mc ${quoted(shell)}`, '/dev/null'], {
    cwd,
    env: { PATH, TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let printed = '';
  const listeners = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    for (const listener of listeners) listener();
  });
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await closed;
  });
  const shows = (wanted: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!wanted.test(printed)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
      void closed.then(() =>
        reject(new Error(`It ended before it showed ${String(wanted)}: ${printed}`)),
      );
    });
  return {
    screen: () => printed,
    shows,
    press: (keys) => void child.stdin.write(keys),
    kill: (signal) => void process.kill(Number(/pid:(\d+)/.exec(printed)?.[1]), signal),
    ended: closed.then(() => Number(/exit:(\d+)/.exec(printed)?.[1])),
  };
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
