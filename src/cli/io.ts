import type { Environment } from '../config/environment.js';
import { print } from './output.js';
import { safeBlock, safeLine, styled, type Style } from './safe.js';
import { terminalOf, type Terminal } from './terminal.js';

/** How much a command prints: everything, machine-readable results only, or nothing but errors. */
export type Mode = 'text' | 'json' | 'quiet';

export type { Style } from './safe.js';

/**
 * What a command may touch of the world around it. Made by `main`; tests make their own. Whatever is
 * printed is made safe for a terminal (`safe.ts`).
 */
export type Io = {
  readonly mode: Mode;
  readonly env: Environment;
  readonly cwd: string;
  /** A line of the result, on stdout; nothing in `json` and `quiet` mode. */
  readonly out: (line: string) => void;
  /** Text of several lines, otherwise as `out`. */
  readonly block: (text: string) => void;
  /**
   * What a command was called for, such as an encrypted value, on stdout; in `json` mode it is in the
   * JSON. Programs read it as it is; it is made safe only where a person reads stdout.
   */
  readonly result: (text: string) => void;
  /** The machine-readable result, on stdout; only in `json` mode. */
  readonly json: (value: unknown) => void;
  /** One of many results, on stdout as a line of JSON; only in `json` mode. */
  readonly jsonLine: (value: unknown) => void;
  /** A line about progress, on stderr; nothing in `json` and `quiet` mode. */
  readonly say: (line: string) => void;
  /** A line about something wrong that does not stop the command, on stderr; nothing in `quiet`. */
  readonly warn: (line: string) => void;
  /** A line on stderr in every mode. */
  readonly fail: (line: string) => void;
  /** Text for stdout (or stderr), in colours when that is a terminal that wants them. */
  readonly style: (style: Style, text: string, stream?: 'stdout' | 'stderr') => string;
  /** Whether questions can be asked. */
  readonly interactive: boolean;
  readonly isTerminal: boolean;
  /** Whether a person reads stdout; a program may. */
  readonly resultsOnTerminal: boolean;
  /** The terminal behind a stream that can be drawn on; undefined where text is all it takes. */
  readonly terminal: (stream: 'stdout' | 'stderr') => Terminal | undefined;
  /** All of stdin as text. */
  readonly readInput: () => Promise<string>;
  /** Whether the process is the command's own: an engine then guards it against its plugins. */
  readonly ownsProcess: boolean;
  /** Aborted by the first SIGINT or SIGTERM: finish what runs and come back. */
  readonly stop: AbortSignal;
  /** Aborted by the second one: come back at once. */
  readonly force: AbortSignal;
};

export type IoOptions = {
  readonly mode: Mode;
  readonly env: Environment;
  readonly cwd: string;
  readonly stop: AbortSignal;
  readonly force: AbortSignal;
};

/** The world of this process. */
export function processIo(options: IoOptions): Io {
  const { mode, env } = options;
  const printLine = (stream: NodeJS.WriteStream, line: string): void =>
    print(stream, `${safeLine(line)}\n`);
  const block = (text: string): void => print(process.stdout, `${safeBlock(text)}\n`);
  const colours = {
    stdout: wantsColour(process.stdout, env),
    stderr: wantsColour(process.stderr, env),
  };
  return {
    ...options,
    out: (line) => mode === 'text' && printLine(process.stdout, line),
    block: (text) => mode === 'text' && block(text),
    result: (text) => {
      if (mode === 'json') return;
      if (process.stdout.isTTY) block(text);
      else print(process.stdout, `${text}\n`);
    },
    json: (value) => mode === 'json' && block(JSON.stringify(value, null, 2)),
    jsonLine: (value) => mode === 'json' && printLine(process.stdout, JSON.stringify(value)),
    say: (line) => mode === 'text' && printLine(process.stderr, line),
    warn: (line) => mode !== 'quiet' && printLine(process.stderr, line),
    fail: (line) => printLine(process.stderr, line),
    style: (style, text, stream = 'stdout') => (colours[stream] ? styled(style, text) : text),
    interactive: mode === 'text' && process.stdin.isTTY && process.stderr.isTTY,
    isTerminal: process.stderr.isTTY,
    resultsOnTerminal: process.stdout.isTTY,
    terminal: (stream) =>
      mode === 'text' && env['TERM'] !== 'dumb' ? terminalOf(process[stream]) : undefined,
    readInput,
    ownsProcess: true,
  };
}

/**
 * Whether text is coloured: where `NO_COLOR` is set never, where `FORCE_COLOR` is (to anything but 0
 * or false) always, else on a terminal. See https://no-color.org and https://force-color.org.
 */
export function wantsColour(stream: { readonly isTTY?: boolean }, env: Environment): boolean {
  const { NO_COLOR: no = '', FORCE_COLOR: force, TERM: term } = env;
  if (no !== '') return false;
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  return stream.isTTY === true && term !== 'dumb';
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
