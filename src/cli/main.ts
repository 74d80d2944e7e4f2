import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { flagsIn } from '../config/flags.js';
import type { Config } from '../config/load.js';
import { problem, TwsError } from '../errors.js';
import type { CommandDefinition } from './command.js';
import { processIo, type Io, type Mode } from './io.js';
import { letReaderLeave, print } from './output.js';
import { packageVersion } from '../package.js';
import { commands, globalOptions } from './program.js';
import { plain, safeBlock } from './safe.js';
import { buildProgram, type Chosen } from './program-builder.js';
import { watchSignals } from './signals.js';

/**
 * Runs one command line and answers its exit status. Never throws: problems are printed as a
 * sentence and what to do, or with `--json` as `{"error", "message", "hint"}`, on stderr.
 */
export async function main(argv: readonly string[]): Promise<number> {
  const early: Mode = argv.includes('--json') ? 'json' : 'text';
  const unread = new AbortController();
  letReaderLeave(process.stdout, { isForErrors: false, onGone: () => unread.abort() });
  letReaderLeave(process.stderr, { isForErrors: true, onGone: () => undefined });
  let chosen: Chosen | undefined;
  try {
    chosen = await parse(argv);
    if (chosen === undefined) return 0;
    return await run(chosen, unread.signal);
  } catch (error) {
    report(error, modeOf(chosen?.globals) ?? early);
    return error instanceof TwsError ? error.exit : 1;
  }
}

async function parse(argv: readonly string[]): Promise<Chosen | undefined> {
  let chosen: Chosen | undefined;
  const program = buildProgram({ commands, globalOptions, version: packageVersion() }, (found) => {
    chosen = found;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    const reason = error.message.replace(/^error: /, '').replace(/\n/g, ' ');
    throw problem('usage', { reason: missing(error, argv) ?? capitalised(reason) });
  }
  return chosen;
}

/** What a command needs that was not said, with what it is for; undefined: something else is wrong. */
function missing({ code, message }: CommanderError, argv: readonly string[]): string | undefined {
  if (code !== 'commander.missingArgument') return undefined;
  const [, name] = /'([^']+)'/.exec(message) ?? [];
  const word = argv.find((one) => commands.some((command) => command.name === one));
  const { arguments: all = [] } = commands.find((command) => command.name === word) ?? {};
  const argument = all.find((one) => one.name.replace(/[<>.]/g, '') === name);
  return argument && `"tws ${word}" needs ${argument.name}. ${argument.about}`;
}

/** `unread`: nobody reads the results any more; what does no work but to print them may end. */
async function run(
  { definition, args, flags, globals }: Chosen,
  unread: AbortSignal,
): Promise<number> {
  const signals = definition.stoppable === true ? watchSignals() : undefined;
  if (definition.serves !== true) unread.addEventListener('abort', () => signals?.ask());
  const never = new AbortController().signal;
  const io = processIo({
    mode: modeOf(globals) ?? 'text',
    env: process.env,
    cwd: process.cwd(),
    stop: signals?.stop ?? never,
    force: signals?.force ?? never,
  });
  try {
    return await load(definition, { args, flags, globals }, io);
  } finally {
    signals?.close();
  }
}

async function load(
  definition: CommandDefinition,
  { args, flags, globals }: Omit<Chosen, 'definition'>,
  io: Io,
): Promise<number> {
  // Both bring half of the start-up time along, which `--help` need not wait for.
  const [command, { loadConfig }] = await Promise.all([
    definition.load(),
    import('../config/load.js'),
  ]);
  const said = { ...globals, ...flags } as Record<string, unknown>;
  const databases = databasesIn(said, definition);
  const config = (database = databases[0]) =>
    loadConfig({ flags: flagsIn({ ...said, database }), env: io.env, cwd: io.cwd });
  try {
    const asks = { confirm: globals['confirm'] !== false };
    return await command({ args, flags: { ...flags, ...asks }, databases, config }, io);
  } catch (error) {
    throw devGone(error, config) ?? error;
  }
}

/** The databases that were named, each once. @throws TwsError `usage` */
function databasesIn(
  said: Readonly<Record<string, unknown>>,
  { severalDatabases = false }: CommandDefinition,
): readonly string[] {
  const names = [...new Set([said['database'] ?? []].flat())].map(String);
  if (names.length > 1 && !severalDatabases) {
    throw problem('usage', { reason: '--database may name several databases to tws start only.' });
  }
  return names;
}

/** Nobody answers where the `tws dev` of this folder was the last to be: it did not end in peace. */
function devGone(error: unknown, config: () => Config): TwsError | undefined {
  if (!(error instanceof TwsError) || error.code !== 'couch_unreachable') return undefined;
  const { origins, embedded } = config();
  const { url = 'default' } = origins;
  const isOwn = url === 'default' || url.endsWith('embedded.json');
  if (!isOwn || !existsSync(join(embedded.dir, 'embedded.json'))) return undefined;
  return problem('dev_gone', { told: error.message });
}

function modeOf(globals: Readonly<Record<string, unknown>> | undefined): Mode | undefined {
  if (globals === undefined) return undefined;
  if (globals['json'] === true) return 'json';
  return globals['quiet'] === true ? 'quiet' : 'text';
}

function report(error: unknown, mode: Mode): void {
  const known = error instanceof TwsError ? error : undefined;
  const message = known?.message ?? unexpected(error);
  const hint = known?.hint ?? 'Please report it with the command line that led to it.';
  const text =
    mode === 'json'
      ? JSON.stringify({
          ...{ error: known?.code ?? 'unexpected', message, hint },
          ...(known?.job === undefined ? {} : { job: known.job }),
        })
      : `${known === undefined ? message : plain(message)}\n${hint}`;
  print(process.stderr, `${safeBlock(text)}\n`);
}

function unexpected(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `Something happened that tws does not know: ${stack}`;
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
