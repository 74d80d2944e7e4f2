import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Flags } from '../../src/config/flags.js';
import { loadConfig } from '../../src/config/load.js';
import type { Environment } from '../../src/config/environment.js';
import { TwsError } from '../../src/errors.js';
import type { Command } from '../../src/cli/command.js';
import type { Io, Mode } from '../../src/cli/io.js';
import { safeBlock, safeLine } from '../../src/cli/safe.js';

/** What a command printed and how it ended. */
export type Ran = {
  readonly exit: number;
  readonly out: string;
  /** Progress, warnings and failures, as they would stand on stderr. */
  readonly err: string;
  /** The last value that was printed as JSON. */
  readonly json: unknown;
  readonly error?: TwsError;
};

export type RunOptions = {
  readonly cwd: string;
  readonly env?: Environment;
  readonly args?: readonly string[];
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly settings?: Flags;
  readonly mode?: Mode;
  readonly input?: string;
  readonly stop?: AbortSignal;
  /** Results are shown on a terminal; nothing can be asked there all the same. */
  readonly terminal?: boolean;
  /** Told what is printed on stderr so far, after each line. */
  readonly onErr?: (text: string) => void;
};

/** Runs one command as `main` does, away from a terminal. */
export async function run(command: Command, options: RunOptions): Promise<Ran> {
  const { cwd, env = {}, args = [], flags = {}, settings = {} } = options;
  const { io, printed } = testIo(options);
  const config = (database = settings?.database) =>
    loadConfig({ flags: { ...settings, database }, env, cwd });
  try {
    const exit = await command({ args, flags, config }, io);
    return { exit, ...printed() };
  } catch (error) {
    if (!(error instanceof TwsError)) throw error;
    return { exit: error.exit, error, ...printed() };
  }
}

/** A command that goes on until it is stopped. */
export type Running = {
  readonly err: () => string;
  /** Resolves when stderr holds such a text; rejects when the command ended without it. */
  readonly prints: (wanted: RegExp) => Promise<void>;
  readonly stop: () => void;
  /** Exit status. */
  readonly ended: Promise<number>;
};

/** Begins a command in this process; it is stopped when the test is over. */
export function begin(command: Command, options: Omit<RunOptions, 'stop' | 'onErr'>): Running {
  const stopping = new AbortController();
  const listeners = new Set<() => void>();
  let err = '';
  const onErr = (text: string): void => {
    err = text;
    for (const listener of listeners) listener();
  };
  const ran = run(command, { ...options, stop: stopping.signal, onErr }).then(({ exit, error }) => {
    if (error !== undefined) onErr(`${err}\n${error.message}`);
    return exit;
  });
  onTestFinished(async () => {
    stopping.abort();
    await ran;
  });
  return {
    err: () => err,
    prints: (wanted) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (wanted.test(err)) resolve();
        };
        listeners.add(look);
        look();
        void ran.then((exit) => reject(new Error(`It ended (${exit}): ${err}`)), reject);
      }),
    stop: () => stopping.abort(),
    ended: ran,
  };
}

/** A world without a terminal that keeps what is printed. */
export function testIo(options: RunOptions): { io: Io; printed: () => Omit<Ran, 'exit'> } {
  const { cwd, env = {}, mode = 'text', input = '', stop, terminal = false, onErr } = options;
  const out: string[] = [];
  const err: string[] = [];
  let json: unknown;
  const never = new AbortController().signal;
  const printErr = (line: string): void => {
    err.push(safeLine(line));
    onErr?.(err.join('\n'));
  };
  const io: Io = {
    mode,
    env,
    cwd,
    out: (line) => mode === 'text' && void out.push(safeLine(line)),
    block: (text) => mode === 'text' && void out.push(safeBlock(text)),
    result: (text) => mode !== 'json' && void out.push(text),
    json: (value) => {
      json = value;
    },
    say: (line) => mode === 'text' && printErr(line),
    warn: (line) => mode !== 'quiet' && printErr(line),
    fail: printErr,
    style: (_style, text) => text,
    jsonLine: (value) => {
      json = value;
    },
    terminal: () => undefined,
    interactive: false,
    isTerminal: false,
    ownsProcess: false,
    resultsOnTerminal: terminal,
    readInput: () => Promise.resolve(input),
    stop: stop ?? never,
    force: never,
  };
  return { io, printed: () => ({ out: out.join('\n'), err: err.join('\n'), json }) };
}

/** A project folder with these files (objects become JSON), removed when the test is over. */
export async function project(files: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tws-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries({ 'tws.json': {}, ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    await writeFile(join(folder, name), text);
  }
  return folder;
}

export const task = (name: string, more: object = {}): object => ({
  type: 'task',
  name,
  plugin: 'noop',
  ...more,
});

export const flow = (name: string, sequence: readonly unknown[], more: object = {}): object => ({
  type: 'flow',
  name,
  owner: 'DEFAULT',
  tasks: { structure: 'sequence', sequence },
  ...more,
});
