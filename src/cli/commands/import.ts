import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { extname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { problem, TwsError } from '../../errors.js';
import { readTextFile, withoutMark } from '../../text-file.js';
import { isObject } from '../../model/object.js';
import { workflowsIn } from '../../node-workflow/collect.js';
import { convertWorkflows, type ConvertedFiles } from '../../node-workflow/convert.js';
import type { ImportedFile, Remark, RunnerSandbox } from '../../node-workflow/imported.js';
import { counted } from '../../words.js';
import { defineCommand, switchFlag } from '../command.js';
import { compareFiles, writeFiles } from '../import-files.js';
import type { Io } from '../io.js';
import { commandName, installCommand, shownPath } from '../paths.js';

/** `tws import node-workflow`: plugins, tasks and flows of workflows. Exit 1: not all could be converted. */
export const importWorkflows = defineCommand(
  z.object({ into: z.string().optional(), sandbox: z.string().optional(), dryRun: switchFlag }),
  async ({ args: [from = '', ...paths], flags, config: read }, io) => {
    if (from !== 'node-workflow') {
      throw problem('usage', { reason: `Imported is from node-workflow, not from "${from}".` });
    }
    const config = read();
    const folder = flags.into === undefined ? config.root : resolve(io.cwd, flags.into);
    const place = { cwd: io.cwd, root: config.root };
    const shown = (path: string): string => shownPath(path, place);
    const sandbox = await sandboxAt(flags.sandbox, io.cwd, shown);
    const files: ImportedFile[] = [];
    for (const path of paths) files.push(await readSource(resolve(io.cwd, path), shown));
    const [own = join(config.root, 'plugins')] = config.plugins;
    const plugins = flags.into === undefined ? own : join(folder, 'plugins');
    const converted = convertWorkflows(files, {
      owner: config.owner,
      sandbox,
      specifierOf: (path) => specifier(plugins, path),
    });
    const texts = textsOf(converted, relative(folder, plugins));
    const changes = await compareFiles(folder, texts);
    if (!flags.dryRun) await writeFiles(folder, texts, changes);
    for (const [path, change] of changes) {
      const done = flags.dryRun && change !== 'unchanged' ? `would be ${change}` : change;
      io.out(`${done}: ${shown(join(folder, path))}`);
    }
    const { remarks } = converted;
    for (const remark of remarks) io.warn(sentenceOf(remark));
    const problems = remarks.filter(({ level }) => level === 'problem').length;
    sayEnd(
      { converted, problems, dryRun: flags.dryRun, folder, isHere: folder === config.root },
      io,
    );
    const list = [...changes].map(([path, change]) => ({
      file: shown(join(folder, path)),
      change,
    }));
    io.json({ files: list, remarks, dry_run: flags.dryRun });
    return problems === 0 ? 0 : 1;
  },
);

type End = {
  readonly converted: ConvertedFiles;
  readonly problems: number;
  readonly dryRun: boolean;
  readonly folder: string;
  /** Whether it was written into the project. */
  readonly isHere: boolean;
};

function sayEnd({ converted, problems, dryRun, folder, isHere }: End, io: Io): void {
  const { flows, tasks } = converted;
  const made = `${counted(flows.size, 'flow')} and ${counted(tasks.size, 'task')}`;
  const left = problems === 0 ? '' : `; ${counted(problems, 'problem')}`;
  io.out(`${made}${dryRun ? ' can be imported' : ' are imported'}${left}.`);
  if (dryRun || flows.size === 0 || !isHere) return;
  io.out(
    `Next: ${commandName(io.env)} push --map, and start engines again: they load plugins at their start.`,
  );
  if (!existsSync(join(folder, 'node_modules', 'tws'))) {
    io.say(`The plugins import tws/node-workflow. Install tws in the project: ${installCommand()}`);
  }
}

function sentenceOf({ level, file, workflow, task, message }: Remark): string {
  const of = task === undefined ? '' : `, task ${JSON.stringify(task)}`;
  const word = level === 'problem' ? 'not imported' : 'note';
  return `${word}: ${file}, workflow ${JSON.stringify(workflow)}${of}: ${message}`;
}

/** The texts of all files by their path below the folder of the project. */
function textsOf(
  { plugins, tasks, flows }: ConvertedFiles,
  folder: string,
): ReadonlyMap<string, string> {
  const json = (kind: 'task' | 'flow', doc: object): string =>
    `${JSON.stringify({ $schema: `../../schemas/${kind}.json`, ...doc }, null, 2)}\n`;
  return new Map([
    ...[...plugins].map(([name, text]) => [join(folder, `${name}.mjs`), text] as const),
    ...[...tasks].map(
      ([name, doc]) => [join('couch', 'tws', 'tasks', `${name}.json`), json('task', doc)] as const,
    ),
    ...[...flows].map(
      ([name, doc]) => [join('couch', 'tws', 'flows', `${name}.json`), json('flow', doc)] as const,
    ),
  ]);
}

/** How a file in a folder imports another file. */
function specifier(folder: string, path: string): string {
  const found = relative(folder, path).split(sep).join('/');
  return found.startsWith('.') ? found : `./${found}`;
}

/** @throws TwsError `file_missing`, `file_unusable` */
async function readSource(path: string, shown: (path: string) => string): Promise<ImportedFile> {
  const exported =
    extname(path) === '.json' ? await readJson(path, shown) : await load(path, shown);
  const workflows = await made(exported, shown(path));
  if (workflows.length === 0) {
    const reason = 'it holds no workflow, which is an object with a "chain" of tasks.';
    throw problem('file_unusable', { file: shown(path), reason });
  }
  const isModule = extname(path) !== '.json';
  return { shown: shown(path), workflows, ...(isModule ? { module: await realpath(path) } : {}) };
}

async function made(exported: unknown, file: string) {
  try {
    return await workflowsIn(exported);
  } catch (error) {
    const reason = `a function that it exports failed: ${messageOf(error)}`;
    throw problem('file_unusable', { file, reason });
  }
}

async function readJson(path: string, shown: (path: string) => string): Promise<unknown> {
  const text = await readTextFile(path, shown(path)).catch((error: unknown) => {
    if (error instanceof TwsError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw problem('file_missing', { file: shown(path) });
    throw problem('file_unusable', { file: shown(path), reason: messageOf(error) });
  });
  try {
    return JSON.parse(withoutMark(text)) as unknown;
  } catch (error) {
    throw problem('file_unusable', { file: shown(path), reason: messageOf(error) });
  }
}

async function load(path: string, shown: (path: string) => string): Promise<unknown> {
  if (!existsSync(path)) throw problem('file_missing', { file: shown(path) });
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as unknown;
  } catch (error) {
    throw problem('file_unusable', {
      file: shown(path),
      reason: commonJs(error) ?? messageOf(error),
    });
  }
}

/** What to do about a module of the older kind that Node takes for one of the newer kind. */
function commonJs(error: unknown): string | undefined {
  if (!/^\w+ is not defined in ES module scope/.test(messageOf(error))) return undefined;
  return 'it is a CommonJS module, and Node takes it for an ES module. Call it .cjs, or put a package.json with { "type": "commonjs" } into its folder.';
}

/** The first line of what an error says, as a sentence. */
function messageOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

/** The configuration of runners, its part `runner`, or that part's `sandbox`. */
async function sandboxAt(
  path: string | undefined,
  cwd: string,
  shown: (path: string) => string,
): Promise<RunnerSandbox> {
  if (path === undefined) return { modules: {}, values: {} };
  const file = resolve(cwd, path);
  const whole = await readJson(file, shown);
  const runner = isObject(whole) && isObject(whole['runner']) ? whole['runner'] : whole;
  const sandbox = isObject(runner) && isObject(runner['sandbox']) ? runner['sandbox'] : runner;
  const { modules = {}, ...values } = isObject(sandbox) ? sandbox : {};
  const parsed = z.record(z.string(), z.string()).safeParse(modules);
  if (!isObject(sandbox) || !parsed.success) {
    const reason = '"sandbox" must be an object, and its "modules" one of names of modules.';
    throw problem('file_unusable', { file: shown(file), reason });
  }
  return { modules: parsed.data, values };
}
