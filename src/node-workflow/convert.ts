import { isObject } from '../model/object.js';
import { chainOf, type ChainName, type WrittenWorkflow } from './collect.js';
import { freeFileName } from './file-names.js';
import { numberIn, secondsToMs, usualTimeoutS } from './numbers.js';
import type { ConvertOptions, Document, ImportedFile, Remark } from './imported.js';
import { readTask, type Doing } from './task.js';

/** What is to be written, by the name of the file without its ending. */
export type ConvertedFiles = {
  readonly plugins: ReadonlyMap<string, string>;
  readonly tasks: ReadonlyMap<string, Document>;
  readonly flows: ReadonlyMap<string, Document>;
  readonly remarks: readonly Remark[];
};

/** Makes tasks, flows and plugins of workflows. A workflow of which a part cannot be converted makes no flow. */
export function convertWorkflows(
  files: readonly ImportedFile[],
  options: ConvertOptions,
): ConvertedFiles {
  const remarks: Remark[] = [];
  const read = files.flatMap((file) =>
    file.workflows.map((workflow) => readWorkflow(file, workflow, options, remarks)),
  );
  const whole = read.filter((one) => one !== undefined);
  const names = namesOfTasks(whole.flatMap(({ tasks }) => tasks));
  const plugins = new Map<string, string>();
  const tasks = new Map<string, Document>();
  const flows = new Map<string, Document>();
  for (const { tasks: used, flowOf, name } of whole) {
    for (const { doing } of used) {
      const file = names.get(doing.key) as string;
      plugins.set(file, doing.body);
      tasks.set(file, taskDocument(file, doing));
      if (doing.fallback === undefined) continue;
      plugins.set(`${file}-fallback`, doing.fallback);
      tasks.set(`${file}-fallback`, fallbackDocument(`${file}-fallback`, doing));
    }
    flows.set(freeFileName(name, flows), flowOf(names));
  }
  return { plugins, tasks, flows, remarks };
}

/** A task in its place in a workflow. */
type Placed = {
  readonly workflow: string;
  /** As it was written; what it is called where it has no name. */
  readonly name: string;
  readonly doing: Doing;
};

type Read = {
  readonly name: string;
  readonly tasks: readonly Placed[];
  readonly flowOf: (names: ReadonlyMap<string, string>) => Document;
};

function readWorkflow(
  file: ImportedFile,
  workflow: WrittenWorkflow,
  options: ConvertOptions,
  remarks: Remark[],
): Read | undefined {
  const name = workflow['name'];
  const say = (level: Remark['level'], message: string, task?: string): void => {
    const about = { level, file: file.shown, workflow: typeof name === 'string' ? name : '' };
    remarks.push({ ...about, ...(task === undefined ? {} : { task }), message });
  };
  if (typeof name !== 'string' || !/^(?!\$\$)(?!.*::)[^\p{Cc}]*\S/u.test(name)) {
    say(
      'problem',
      'a workflow needs a name of one line, without "::" and not beginning with "$$".',
    );
    return undefined;
  }
  const timeout = workflow['timeout'] === false ? 0 : numberIn(workflow['timeout'], usualTimeoutS);
  if (timeout === undefined) {
    say('problem', 'its "timeout" is no number of seconds.');
    return undefined;
  }
  const chains = (['chain', 'onerror', 'oncancel'] as const).map((chain) =>
    readChain({ file, workflow, chain, name }, options, say),
  );
  const [main, onerror, oncancel] = chains;
  if (main === undefined || onerror === undefined || oncancel === undefined) return undefined;
  const flowOf = (names: ReadonlyMap<string, string>): Document => ({
    type: 'flow',
    name,
    owner: options.owner,
    ...(workflow['version'] === undefined ? {} : { version: workflow['version'] }),
    tasks: main.map((one) => entryOf(one, names, timeout)),
    ...(onerror.length === 0 ? {} : { error: onerror.map((one) => entryOf(one, names, timeout)) }),
    ...(oncancel.length === 0
      ? {}
      : { cancel: oncancel.map((one) => entryOf(one, names, timeout)) }),
    timeout: secondsToMs(timeout),
    schema: { type: 'object', additionalProperties: true },
    ...attemptsOf(workflow, timeout),
  });
  return { name, tasks: [...main, ...onerror, ...oncancel], flowOf };
}

type Say = (level: Remark['level'], message: string, task?: string) => void;

type ChainPlace = {
  readonly file: ImportedFile;
  readonly workflow: WrittenWorkflow;
  readonly name: string;
  readonly chain: ChainName;
};

/** The tasks of a chain; undefined: one of them cannot be converted, which was told. */
function readChain(
  { file, workflow, chain, name }: ChainPlace,
  options: ConvertOptions,
  say: Say,
): readonly Placed[] | undefined {
  const written = chainOf(workflow, chain) ?? [];
  if (!Array.isArray(written)) {
    say('problem', `its "${chain}" is no list of tasks.`);
    return undefined;
  }
  const tasks = (written as readonly unknown[]).map((task, i): Placed | undefined => {
    const unnamed = `${name}${chain === 'chain' ? '' : ` ${chain}`} ${i + 1}`;
    const given = isObject(task) ? task['name'] : undefined;
    const called = typeof given === 'string' && given.trim() !== '' ? given : unnamed;
    const place = { workflow: name, chain, task: i };
    const found = readTask({ task, name: called, place, module: file.module }, options);
    for (const { level, message } of found.remarks) say(level, message, called);
    if (found.doing === undefined) return undefined;
    return { workflow: name, name: called, doing: found.doing };
  });
  const whole = tasks.filter((one) => one !== undefined);
  return whole.length === tasks.length ? whole : undefined;
}

/** A task of which a workflow gives less time than the task itself. */
function entryOf(
  { name, doing }: Placed,
  names: ReadonlyMap<string, string>,
  timeout: number,
): Document | string {
  const task = names.get(doing.key) as string;
  const most = secondsToMs(timeout);
  const limit = timeout > 0 && doing.timeout > most ? { timeout: most } : {};
  if (name === task && Object.keys(limit).length === 0) return task;
  return { task, ...(name === task ? {} : { name }), ...limit };
}

function attemptsOf(workflow: WrittenWorkflow, timeout: number): Document {
  const most = numberIn(workflow['max_attempts'], 10) ?? 10;
  const delays = ['initial_delay', 'max_delay'].flatMap((key) => {
    const ms = numberIn(workflow[key], -1) ?? -1;
    return ms < 0 ? [] : [[key, ms] as const];
  });
  return {
    restarts: Math.max(0, Math.floor(most) - 1),
    node_workflow: {
      max_attempts: most,
      ...Object.fromEntries(delays),
      ...(timeout === 0 ? {} : { timeout }),
    },
  };
}

function taskDocument(name: string, { timeout, retries, fallback }: Doing): Document {
  return {
    type: 'task',
    name,
    plugin: name,
    timeout,
    retry: retries === 0 ? 0 : { limit: retries, delay: 0 },
    ...(fallback === undefined ? {} : { error: `${name}-fallback` }),
  };
}

const fallbackDocument = (name: string, { timeout }: Doing): Document => ({
  ...{ type: 'task', name, plugin: name, timeout, retry: 0 },
});

/**
 * The names of tasks and their files, by the key of what they do: that of the task, and where several do
 * different things under one name, that of their workflow before it.
 */
function namesOfTasks(placed: readonly Placed[]): ReadonlyMap<string, string> {
  const keysOf = new Map<string, Set<string>>();
  for (const { name, doing } of placed) {
    const file = freeFileName(name, new Map());
    keysOf.set(file, (keysOf.get(file) ?? new Set()).add(doing.key));
  }
  const names = new Map<string, string>();
  const taken = new Map<string, unknown>();
  for (const { name, workflow, doing } of placed) {
    if (names.has(doing.key)) continue;
    const own = freeFileName(name, new Map());
    const isShared = (keysOf.get(own)?.size ?? 0) > 1;
    const file = freeFileName(isShared ? `${workflow} ${name}` : name, taken);
    names.set(doing.key, file);
    taken.set(file, doing);
    taken.set(`${file}-fallback`, doing);
  }
  return names;
}
