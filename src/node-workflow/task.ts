import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { isObject } from '../model/object.js';
import type { ConvertOptions, Remark } from './imported.js';
import type { FunctionPlace } from './collect.js';
import { readFunction } from './functions.js';
import { numberIn, secondsToMs, usualTimeoutS } from './numbers.js';
import { pluginText, type PluginParts } from './plugin-text.js';

/** What a task does, whatever it is called. Times in ms. */
export type Doing = {
  /** The same for tasks that do the same. */
  readonly key: string;
  /** Texts of the plugin files. */
  readonly body: string;
  readonly fallback?: string;
  readonly timeout: number;
  readonly retries: number;
};

export type TaskToRead = {
  readonly task: unknown;
  readonly name: string;
  readonly place: Omit<FunctionPlace, 'part'>;
  /** Absolute path of the module that it is in; undefined: it comes from JSON. */
  readonly module: string | undefined;
};

export type TaskRead = {
  /** Undefined: it cannot be converted. */
  readonly doing: Doing | undefined;
  readonly remarks: readonly Pick<Remark, 'level' | 'message'>[];
};

/** Converts a task, or says why not. */
export function readTask(read: TaskToRead, options: ConvertOptions): TaskRead {
  const { task, name } = read;
  const remarks: Pick<Remark, 'level' | 'message'>[] = [];
  const refuse = (message: string): void => void remarks.push({ level: 'problem', message });
  if (!isObject(task)) {
    refuse('it is no object.');
    return { doing: undefined, remarks };
  }
  const timeout = numberIn(task['timeout'], usualTimeoutS);
  const attempts = numberIn(task['retry'], 1);
  const modules = modulesOf(task['modules']);
  if (timeout === undefined) refuse('its "timeout" is no number of seconds.');
  if (attempts === undefined) refuse('its "retry" is no number of attempts.');
  if (modules === 'wrong') refuse('its "modules" is no object of names of modules.');
  if (timeout === undefined || attempts === undefined || modules === 'wrong') {
    return { doing: undefined, remarks };
  }
  const parts = task['fallback'] ? (['body', 'fallback'] as const) : (['body'] as const);
  const texts = parts.map((part) => {
    const written = partText(read, part, modules, options);
    remarks.push(...written.remarks);
    return written.text;
  });
  if (texts.includes(undefined)) return { doing: undefined, remarks };
  const [body = '', fallback] = texts;
  const known = {
    body,
    ...(fallback === undefined ? {} : { fallback }),
    timeout: secondsToMs(timeout === 0 ? usualTimeoutS : timeout),
    retries: Math.max(0, Math.floor(attempts) - 1),
  };
  const key = createHash('sha256')
    .update(JSON.stringify([name, known]))
    .digest('hex');
  return { doing: { key, ...known }, remarks };
}

/** They may be stored as a text of JSON; undefined: those of the runner. */
function modulesOf(given: unknown): Readonly<Record<string, string>> | undefined | 'wrong' {
  if (given === undefined || given === null) return undefined;
  const modules = typeof given === 'string' ? parsed(given) : given;
  if (!isObject(modules)) return 'wrong';
  const isGood = Object.values(modules).every((one) => typeof one === 'string');
  return isGood ? (modules as Readonly<Record<string, string>>) : 'wrong';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

type PartText = {
  readonly text: string | undefined;
  readonly remarks: readonly Pick<Remark, 'level' | 'message'>[];
};

/** The text of the plugin file for the body or the fallback of a task. */
function partText(
  { task, name, place, module }: TaskToRead,
  part: 'body' | 'fallback',
  own: Readonly<Record<string, string>> | undefined,
  { sandbox, specifierOf }: ConvertOptions,
): PartText {
  const given = (task as Readonly<Record<string, unknown>>)[part];
  const found = readFunction(given, part);
  if (!found.ok)
    return { text: undefined, remarks: [{ level: 'problem', message: found.problem }] };
  const modules = own ?? sandbox.modules;
  const known = { name, part };
  const names = found.free.filter((free) => !isGlobal(free));
  const { imports, values, rest } = provided(names, modules, sandbox.values);
  if (rest.length === 0) {
    const parts: PluginParts = { ...known, imports, values, source: found.source };
    return { text: pluginText(parts), remarks: relativeNotes(imports) };
  }
  const list = rest.map((free) => JSON.stringify(free)).join(', ');
  if (module === undefined || typeof given !== 'function') {
    const message = `its ${part} uses ${list}, which neither its "modules" nor --sandbox gives it.`;
    return { text: undefined, remarks: [{ level: 'problem', message }] };
  }
  const from = specifierOf(module);
  const message = `its ${part} uses ${list} of its module: the plugin imports ${from}, which has to stay there.`;
  const text = pluginText({ ...known, module: { from, place: { ...place, part } } });
  return { text, remarks: [{ level: 'note', message }] };
}

type Provided = {
  readonly imports: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
  /** What nothing provides. */
  readonly rest: readonly string[];
};

function provided(
  names: readonly string[],
  modules: Readonly<Record<string, string>>,
  given: Readonly<Record<string, unknown>>,
): Provided {
  const imports: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const rest: string[] = [];
  for (const name of names) {
    const from = Object.hasOwn(modules, name) ? modules[name] : undefined;
    if (from !== undefined) imports[name] = from;
    else if (Object.hasOwn(given, name)) values[name] = given[name];
    else if (name === 'info') imports[name] = 'tws/node-workflow';
    else rest.push(name);
  }
  return { imports, values, rest };
}

/** Such a path began in the folder of node-workflow itself. */
function relativeNotes(imports: Readonly<Record<string, string>>): PartText['remarks'] {
  return Object.entries(imports)
    .filter(([, from]) => from.startsWith('.') || isAbsolute(from))
    .map(([name, from]) => ({
      level: 'note' as const,
      message: `its module "${name}" is the file ${from}: check that the path is right from the folder of plugins.`,
    }));
}

/** What every module of Node has. */
const globals: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(globalThis));

const isGlobal = (name: string): boolean => globals.has(name) && name !== 'info';
