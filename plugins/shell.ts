import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  allowsCode,
  pluginProblem,
  projectFile,
  requireCodeAllowed,
  type PluginContext,
} from '../src/plugin/index.js';
import { runProgram, type ProgramEnd } from './_shell/program.js';

export const description = 'Starts a program of the machine with a list of arguments';

export const params = {
  type: 'object',
  additionalProperties: false,
  properties: {
    command: {
      type: 'array',
      minItems: 1,
      items: { type: 'string' },
      description:
        'the program and its arguments; no shell reads them. A path starts at the project',
    },
    line: { type: 'string', minLength: 1, description: 'instead of command: a line for /bin/sh' },
    input: { type: 'string', description: 'what the program reads from stdin' },
    env: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'variables that code.env of tws.json names; * is not enough',
    },
    pass: {
      type: 'array',
      items: { type: 'string' },
      description: 'variables of the engine that tws.json allows',
    },
    folder: { type: 'string', description: 'in the project; default: the project' },
    json: { type: 'boolean', description: 'stdout is JSON, which becomes output of the result' },
    most: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'bytes of stdout and of stderr; 65536 when absent',
    },
    exits: {
      type: 'object',
      additionalProperties: { enum: ['done', 'retry', 'fail'] },
      description: 'what exits of the program mean; 0 is done',
    },
  },
};

type Meaning = 'done' | 'retry' | 'fail';
type Params = {
  readonly command?: readonly string[];
  readonly line?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly pass?: readonly string[];
  readonly folder?: string;
  readonly json?: boolean;
  readonly most?: number;
  readonly exits?: Readonly<Record<string, Meaning>>;
};

export default async function shell(context: PluginContext<Params>): Promise<unknown> {
  requireCodeAllowed('shell', context);
  const { params: given, signal, key } = context;
  const { input, most = 65_536, json = false, exits = {} } = given;
  const command = commandOf(context);
  const [program = ''] = command;
  const cwd = await folderOf(context);
  const end = await runProgram(
    { command, cwd, env: environmentOf(context), input, most, key },
    signal,
  );
  if (end.isTooLoud) throw pluginProblem('ProgramTooLoud', { program, most });
  const meaning = exits[String(end.exit)] ?? (end.exit === 0 ? 'done' : undefined);
  if (meaning !== 'done') throw failed(program, end, meaning);
  const { exit, stdout, stderr } = end;
  const output = json ? { output: parsed(program, stdout) } : { stdout };
  return context.done({ exit, ...output, ...(stderr === '' ? {} : { stderr }) });
}

/** What is started, as far as the project allows it. */
function commandOf({
  params: { command, line },
  code,
  cwd,
}: PluginContext<Params>): readonly string[] {
  if ((command === undefined) === (line === undefined)) {
    throw pluginProblem('ParamsInvalid', {
      plugin: 'shell',
      problems: 'one of command and line must be there, and only one',
    });
  }
  if (line !== undefined) {
    if (code.lines) return ['/bin/sh', '-c', line];
    throw pluginProblem('ProgramNotAllowed', { what: 'A line for the shell', setting: 'lines' });
  }
  const [program = '', ...args] = command ?? [];
  if (allowsCode(code.programs, program)) {
    // A path starts at the project, whatever folder the document names.
    return [program.includes('/') ? resolve(cwd, program) : program, ...args];
  }
  throw pluginProblem('ProgramNotAllowed', { what: `The program ${program}`, setting: 'programs' });
}

/** Variables that say how programs are found and loaded: no document sets them. */
const ofLoading = /^(?:LD_|DYLD_|NODE_OPTIONS$|PATH$)/;

/** Nothing of the engine's environment but where programs are, how texts are written, and what is allowed. */
function environmentOf({ params: { env = {}, pass = [] }, code }: PluginContext<Params>) {
  // Many variables make a program run others (BASH_ENV, PERL5OPT, GIT_…): a document sets those that are named.
  const wrong =
    pass.find((name) => !allowsCode(code.env, name)) ??
    Object.keys(env).find((name) => ofLoading.test(name) || !code.env.includes(name));
  if (wrong !== undefined) {
    throw pluginProblem('ProgramNotAllowed', { what: `The variable ${wrong}`, setting: 'env' });
  }
  const names = ['PATH', 'LANG', 'LC_ALL', 'TZ', ...pass];
  const passed = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...passed, ...Object.entries(env)]);
}

async function folderOf({ params: { folder }, cwd }: PluginContext<Params>): Promise<string> {
  const path = folder === undefined ? cwd : projectFile(cwd, folder);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return path;
  throw pluginProblem('FileUnreadable', { path: String(folder), reason: 'it is no folder' });
}

function failed(program: string, end: ProgramEnd, meaning: Meaning | undefined): Error {
  const { exit, signal, stderr, stdout } = end;
  const how = signal === undefined ? `ended with exit ${exit}` : `was ended by ${signal}`;
  const said = (stderr.trim() || stdout.trim()).split('\n').at(-1) || 'it said nothing.';
  const error = pluginProblem('ProgramFailed', { program, how, said });
  const retryable = meaning === undefined ? {} : { retryable: meaning === 'retry' };
  return Object.assign(error, { code: exit ?? signal, ...retryable });
}

function parsed(program: string, stdout: string): unknown {
  try {
    return JSON.parse(stdout.replace(/^\uFEFF/, '')) as unknown;
  } catch (error) {
    const said = `what it wrote is no JSON: ${(error as Error).message}`;
    throw pluginProblem('ProgramFailed', { program, how: 'ended with exit 0', said }, error);
  }
}
