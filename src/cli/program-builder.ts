import { Command, CommanderError, Option } from 'commander';
import { exitStatuses } from '../errors/exits.js';
import { closest } from '../model/closest.js';
import type { CommandDefinition, OptionDefinition } from './command.js';

/** The command that a command line names, with what was said to it. */
export type Chosen = {
  readonly definition: CommandDefinition;
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly globals: Readonly<Record<string, unknown>>;
};

export type ProgramParts = {
  readonly commands: readonly CommandDefinition[];
  readonly globalOptions: readonly OptionDefinition[];
  readonly version: string;
};

const firstSteps =
  'First steps: tws quickstart shows it; tws new project NAME, cd NAME, tws dev begin your own.';

/** Builds the commander program of these definitions; `choose` is told which command was called. */
export function buildProgram(parts: ProgramParts, choose: (chosen: Chosen) => void): Command {
  const program = new Command('tws')
    .description('Workflows as plain CouchDB documents.')
    .version(parts.version, '--version', 'Print the version.')
    .helpOption('-h, --help', 'Show this help.')
    .usage('[options] <command>')
    .exitOverride()
    .configureOutput({ outputError: () => undefined, writeErr: () => undefined })
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true })
    .helpCommand('help [command]', 'Show the help of a command.')
    .addHelpText('after', `\n${firstSteps}\n\n${exitText()}`);
  for (const option of parts.globalOptions) program.addOption(toOption(option));
  for (const definition of parts.commands) {
    const { hidden = false } = definition;
    program.addCommand(toCommand(definition, program, choose), { hidden });
  }
  // Without a command the help is what was wanted.
  program.allowExcessArguments().action(() => {
    const [unknown] = program.args;
    if (unknown === undefined) program.outputHelp();
    else throw new CommanderError(2, 'commander.unknownCommand', unknownCommand(unknown, parts));
  });
  return program;
}

/** What the exit statuses mean, in lines of at most 90 characters. */
function exitText(): string {
  const of = (kind: 'command' | 'job'): string =>
    Object.entries<{ readonly command?: string; readonly job?: string }>(exitStatuses)
      .flatMap(([status, { [kind]: meaning }]) => (meaning ? [`${status} ${meaning}`] : []))
      .join(', ');
  const text = `Exit status: ${of('command')}; submit --wait and watch JOB: the exit of the job (${of('job')}).`;
  return text.replace(/(.{1,90})(?: |$)/g, '$1\n').trimEnd();
}

function unknownCommand(name: string, { commands }: ProgramParts): string {
  const close = closest(
    name,
    commands.filter(({ hidden }) => hidden !== true).map((command) => command.name),
  );
  return `There is no command "${name}"${close === undefined ? '.' : `; did you mean "${close}"?`}`;
}

function toCommand(
  definition: CommandDefinition,
  program: Command,
  choose: (chosen: Chosen) => void,
): Command {
  const command = new Command(definition.name)
    .description(definition.about)
    .exitOverride()
    .helpOption('-h, --help', 'Show this help.')
    .copyInheritedSettings(program);
  for (const argument of definition.arguments ?? []) {
    command.argument(argument.name, argument.about);
  }
  for (const option of definition.options ?? []) command.addOption(toOption(option));
  if (definition.examples !== undefined) {
    const lines = definition.examples.map((line) => `  ${line}`).join('\n');
    command.addHelpText('after', `\nExamples:\n${lines}`);
  }
  command.action(() => {
    choose({
      definition,
      args: command.args,
      flags: command.opts(),
      globals: program.opts(),
    });
  });
  return command;
}

function toOption({ flags, about, repeated, choices }: OptionDefinition): Option {
  const option = new Option(flags, about);
  if (repeated === true) {
    option.argParser((value: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      value,
    ]);
  }
  return choices === undefined ? option : option.choices(choices);
}
