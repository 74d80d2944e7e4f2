import { pino } from 'pino';
import type { LogLevel } from '../config/values.js';
import type { Log } from '../log.js';
import type { Io } from './io.js';
import { plain } from './safe.js';

export type LogOptions = {
  readonly level: LogLevel;
  /** Stands in every line: which engine of several it is. */
  readonly name?: string | undefined;
};

/** The log of a process, on stderr: lines for people on a terminal, else JSON. */
export function createLog({ level, name }: LogOptions, io: Io): Log {
  const options = {
    level: io.mode === 'quiet' ? 'error' : level,
    base: { ...(name ? { name } : {}) },
  };
  return pino(options, {
    write: (line: string) =>
      io.fail(io.isTerminal && io.mode !== 'json' ? readable(line, io) : line.trimEnd()),
  });
}

type Line = Readonly<Record<string, unknown>> & {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  /** What a plugin added to its line. */
  readonly data?: Readonly<Record<string, unknown>>;
};

/** `12:00:01.234 warn [name] message key=value …`. */
function readable(line: string, io: Io): string {
  // On a terminal it is one engine mostly, and its id is long: only JSON says it in every line.
  const { level, time, msg, name, data, engine: _engine, ...rest } = JSON.parse(line) as Line;
  const at = io.style('dim', clock(time), 'stderr');
  const who = typeof name === 'string' ? `[${name}] ` : '';
  const isInMessage = (value: unknown): boolean =>
    typeof value === 'string' && msg?.includes(value) === true;
  const untold = [...Object.entries(rest), ...Object.entries(data ?? {})].filter(
    ([, value]) => !isInMessage(value),
  );
  const more = untold.map(([key, value]) => `${key}=${shown(value)}`);
  const details = more.length === 0 ? '' : ` ${io.style('dim', more.join(' '), 'stderr')}`;
  return `${at} ${levelWord(level, io)} ${who}${plain(msg ?? '')}${details}`;
}

/** Local time of day with milliseconds. */
export function clock(time: number): string {
  const date = new Date(time);
  const two = (n: number): string => String(n).padStart(2, '0');
  const ms = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
}

function levelWord(level: number, io: Io): string {
  if (level >= 50) return io.style('red', 'error', 'stderr');
  if (level >= 40) return io.style('yellow', 'warn ', 'stderr');
  return level >= 30 ? 'info ' : 'debug';
}

function shown(value: unknown): string {
  return typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value);
}
