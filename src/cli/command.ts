import { z } from 'zod';
import type { Config } from '../config/load.js';
import { problem } from '../errors.js';
import { isWrittenLength, writtenSpanMs } from '../model/span.js';
import type { Io } from './io.js';

/** One option of a command, as commander writes it: `--set <name=value>`. */
export type OptionDefinition = {
  readonly flags: string;
  readonly about: string;
  /** The option may be given several times; its value is a list. */
  readonly repeated?: boolean;
  /** What shells may complete its value with. */
  readonly values?: Values;
  /** The only values that it may have. */
  readonly choices?: readonly string[];
};

/** What can be meant: one of these words, names that the database has, or a file. */
export type Values = readonly string[] | (() => Promise<readonly string[]>) | Named;
export type Named = { readonly named: readonly Source[] };
/** `job-file`: a file of `~tws/jobs`, without its ending. */
export type Source =
  'flow' | 'task' | 'schedule' | 'hook' | 'job' | 'engine' | 'owner' | 'file' | 'job-file';

/** A value on the command line, in the order in which they are given. */
export type ArgumentDefinition = {
  readonly name: string;
  readonly about: string;
  /** What shells may complete it with. */
  readonly values?: Values;
};

/** What `tws --help` knows of a command; its code is loaded only when it is called. */
export type CommandDefinition = {
  readonly name: string;
  readonly about: string;
  readonly arguments?: readonly ArgumentDefinition[];
  readonly options?: readonly OptionDefinition[];
  readonly examples?: readonly string[];
  /** Not for people: no help speaks of it. */
  readonly hidden?: boolean;
  /** True for what runs until it is stopped: SIGINT and SIGTERM then ask it to finish. */
  readonly stoppable?: boolean;
  /** True for what has work to do, whether or not somebody reads what it prints. */
  readonly serves?: boolean;
  /** True for what several databases may be named to. */
  readonly severalDatabases?: boolean;
  readonly load: () => Promise<Command>;
};

/** What the command line said, checked by nothing yet but commander. */
export type Invocation = {
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  /** The databases that were named, where a command takes several. */
  readonly databases?: readonly string[];
  /**
   * Reads the settings; called by commands that need them. `database`: one of those that were named.
   * @throws TwsError of `loadConfig`
   */
  readonly config: (database?: string) => Config;
};

/** Runs a command to its end. The number is the exit status. */
export type Command = (invocation: Invocation, io: Io) => Promise<number>;

/** Makes a command of a function and the schema of its flags. @throws TwsError `usage` */
export function defineCommand<S extends z.ZodType>(
  schema: S,
  run: (
    called: Omit<Invocation, 'flags'> & { readonly flags: z.infer<S> },
    io: Io,
  ) => Promise<number>,
): Command {
  return async (invocation, io) => {
    const parsed = schema.safeParse(invocation.flags);
    if (!parsed.success) throw problem('usage', { reason: reasonOf(parsed.error.issues) });
    return run({ ...invocation, flags: parsed.data }, io);
  };
}

function reasonOf(issues: readonly z.core.$ZodIssue[]): string {
  return issues
    .map(({ path, message }) => {
      const flag = String(path[0] ?? '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      return `--${flag} ${message}.`;
    })
    .join(' ');
}

/** A switch that is off unless it is given. */
export const switchFlag = z.boolean().default(false);

/** A whole number that commander hands over as text. */
export function numberFlag(from: number, to = Number.MAX_SAFE_INTEGER) {
  const error = `must be a whole number from ${from}${to < Number.MAX_SAFE_INTEGER ? ` to ${to}` : ' on'}`;
  return z
    .string()
    .regex(/^\d+$/, { error })
    .transform(Number)
    .refine((n) => Number.isSafeInteger(n) && n >= from && n <= to, { error })
    .optional();
}

/** A longer timer of Node would fire at once: 24 days. */
const longestSeconds = Math.floor(0x7f_ff_ff_ff / 1_000);

/** How long to wait, in seconds: a number of them, or a duration with units, from `least` seconds on. */
export function secondsFrom(least: number) {
  const error = 'must be a number of seconds, or a duration such as 5s, 500ms or 2m, up to 24d';
  return z
    .string()
    .refine((text) => /^\d+$/.test(text) || isWrittenLength(text), { error })
    .transform((text) => (/^\d+$/.test(text) ? Number(text) : writtenSpanMs(text) / 1_000))
    .refine((seconds) => seconds >= least && seconds <= longestSeconds, { error })
    .optional();
}

/** A time to wait that is not over at once. */
export const secondsFlag = secondsFrom(0.001);

/** A list that may be given as `a,b` or by repeating the option. */
export const listFlag = z
  .union([z.string(), z.array(z.string())])
  .transform((given) =>
    [given]
      .flat()
      .flatMap((text) => text.split(','))
      .filter(Boolean),
  )
  .optional();
