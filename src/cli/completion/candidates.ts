import type { ArgumentDefinition, CommandDefinition, OptionDefinition } from '../command.js';
import type { Source, Values } from '../command.js';

/** One thing a word may become. */
export type Candidate = { readonly value: string; readonly about: string };

/** What is known of the command line that is being written. */
export type ProgramCommands = {
  readonly commands: readonly CommandDefinition[];
  readonly globalOptions: readonly OptionDefinition[];
};

/** The values that a name of the database, or a file, may have. `prefix` stands before each. */
export type NameCompletion = {
  readonly sources: readonly Source[];
  readonly prefix: string;
  /** What of the name is written already. */
  readonly begun: string;
};

/** What may stand in the place of the last word. */
export type Completions = {
  readonly candidates: readonly Candidate[];
  readonly names?: NameCompletion;
};

const nothing: Completions = { candidates: [] };
const helpOption: OptionDefinition = { flags: '-h, --help', about: 'Show this help.' };
const versionOption: OptionDefinition = { flags: '--version', about: 'Print the version.' };
const help: Candidate = { value: 'help', about: 'Show the help of a command.' };

/**
 * What the last of the words after `tws` may become; the others are written. Everything comes from
 * the definitions of the commands, which `--help` is made of, too.
 */
export async function completionsFor(
  words: readonly string[],
  program: ProgramCommands,
): Promise<Completions> {
  const current = words.at(-1) ?? '';
  const line = readLine(words.slice(0, -1), program);
  const { command, options, given, open, rest } = line;
  if (command === 'unknown') return nothing;
  if (open !== undefined) return valuesOf(open.values, '', current);
  if (current.startsWith('-') && !rest) {
    const [name = '', value] = splitOption(current);
    const option = options.find((one) => namesOf(one).includes(name));
    if (value !== undefined) return valuesOf(option?.values, `${name}=`, value);
    return { candidates: starting(current, optionCandidates(options, given)) };
  }
  if (command === undefined) {
    const candidates = [
      ...program.commands.filter(({ hidden }) => hidden !== true).map(toCandidate),
      help,
    ];
    return { candidates: starting(current, candidates) };
  }
  if (command === 'help') {
    const known = program.commands.filter(({ hidden }) => hidden !== true);
    return { candidates: starting(current, known.map(toCandidate)) };
  }
  return valuesOf(argumentAt(command.arguments ?? [], line.positionals)?.values, '', current);
}

type Line = {
  readonly command: CommandDefinition | 'help' | 'unknown' | undefined;
  /** Options that may be given here. */
  readonly options: readonly OptionDefinition[];
  /** Options that were given. */
  readonly given: readonly OptionDefinition[];
  /** The option whose value comes next. */
  readonly open: OptionDefinition | undefined;
  /** Arguments of the command that were given. */
  readonly positionals: number;
  /** After `--` nothing is an option. */
  readonly rest: boolean;
};

function readLine(words: readonly string[], { commands, globalOptions }: ProgramCommands): Line {
  const ofProgram = [...globalOptions, helpOption];
  let command: Line['command'];
  let options: readonly OptionDefinition[] = [...ofProgram, versionOption];
  const given: OptionDefinition[] = [];
  let open: OptionDefinition | undefined;
  let positionals = 0;
  let rest = false;
  for (const word of words) {
    if (open !== undefined) open = undefined;
    else if (!rest && word === '--') rest = true;
    else if (!rest && word.startsWith('-') && word !== '-') {
      const option = optionIn(word, options);
      if (option !== undefined) given.push(option);
      open = takesNext(word, option) ? option : undefined;
    } else if (command === undefined) {
      const found = commands.find((one) => one.name === word);
      command = found ?? (word === 'help' ? 'help' : 'unknown');
      options = [...(found?.options ?? []), ...ofProgram];
    } else positionals += 1;
  }
  return { command, options, given, open, positionals, rest };
}

function optionIn(
  word: string,
  options: readonly OptionDefinition[],
): OptionDefinition | undefined {
  const [name] = splitOption(word);
  return options.find((one) => namesOf(one).includes(name));
}

/** Whether the value of an option is the next word. */
function takesNext(word: string, option: OptionDefinition | undefined): boolean {
  return splitOption(word)[1] === undefined && option?.flags.includes('<') === true;
}

/** `--set=x` -> `--set`, `x`. */
function splitOption(word: string): readonly [string, string?] {
  const at = word.indexOf('=');
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

/** `-h, --help` -> both. */
function namesOf({ flags }: OptionDefinition): readonly string[] {
  return flags.split(/[ ,]+/).filter((part) => part.startsWith('-'));
}

function optionCandidates(
  options: readonly OptionDefinition[],
  given: readonly OptionDefinition[],
): readonly Candidate[] {
  return options
    .filter((option) => option.repeated === true || !given.includes(option))
    .flatMap((option) => namesOf(option).map((value) => ({ value, about: option.about })));
}

const toCandidate = ({ name, about }: CommandDefinition): Candidate => ({ value: name, about });

/** The last argument may be given again and again when its name ends in dots. */
function argumentAt(
  all: readonly ArgumentDefinition[],
  position: number,
): ArgumentDefinition | undefined {
  const last = all.at(-1);
  return all[position] ?? (last?.name.includes('...') === true ? last : undefined);
}

function starting(begun: string, candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ value }) => value.startsWith(begun));
}

/** A list such as `a,b` is completed at its last part. */
async function valuesOf(
  values: Values | undefined,
  before: string,
  written: string,
): Promise<Completions> {
  if (values === undefined) return nothing;
  if ('named' in values) {
    return { candidates: [], names: { sources: values.named, prefix: before, begun: written } };
  }
  const known = typeof values === 'function' ? await values() : values;
  const comma = written.lastIndexOf(',') + 1;
  const prefix = `${before}${written.slice(0, comma)}`;
  return {
    candidates: starting(
      `${before}${written}`,
      known.map((value) => ({ value: `${prefix}${value}`, about: '' })),
    ),
  };
}
