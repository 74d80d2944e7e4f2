import { isObject } from '../model/object.js';

/** A workflow of node-workflow as it was written: nothing of it is checked yet. */
export type WrittenWorkflow = Readonly<Record<string, unknown>>;

/** The chains of a workflow, with the keys under which people write them. */
export const chainKeys = {
  chain: ['chain'],
  onerror: ['onerror', 'onError'],
  oncancel: ['oncancel', 'onCancel'],
} as const;
export type ChainName = keyof typeof chainKeys;

/**
 * The workflows that a module exports, or that the JSON of `GET /workflows` holds: one, several in a list or under
 * names, or, where there are none, those that exported functions make. Such a function is called with a factory
 * whose `workflow` takes what it makes, and with a callback; what it returns counts as well.
 */
export async function workflowsIn(exported: unknown): Promise<readonly WrittenWorkflow[]> {
  const values = valuesOf(exported);
  const found = unique(values.flatMap((value) => flat(value)));
  if (found.length > 0) return found;
  const made: WrittenWorkflow[] = [];
  for (const value of values) {
    if (typeof value === 'function') made.push(...(await madeBy(value as Maker)));
  }
  return unique(made);
}

/** A CommonJS module that was imported has all its exports in `default`. */
function valuesOf(exported: unknown): readonly unknown[] {
  if (!isNamespace(exported)) return [exported];
  const { default: main, ...named } = exported;
  return [...(main === undefined ? [] : [main]), ...Object.values(named)];
}

const isNamespace = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && Object.prototype.toString.call(value) === '[object Module]';

/** The workflows in a value, at most two levels below it. */
function flat(value: unknown, depth = 0): readonly WrittenWorkflow[] {
  if (Array.isArray(value)) return (value as unknown[]).flatMap((one) => flat(one, depth + 1));
  if (!isObject(value)) return [];
  if (isWorkflow(value)) return [value];
  return depth > 1 ? [] : Object.values(value).flatMap((one) => flat(one, depth + 1));
}

const isWorkflow = (value: Readonly<Record<string, unknown>>): boolean =>
  'chain' in value || (typeof value['name'] === 'string' && 'uuid' in value);

type Maker = (...args: readonly unknown[]) => unknown;

async function madeBy(make: Maker): Promise<readonly WrittenWorkflow[]> {
  const made: WrittenWorkflow[] = [];
  const factory = {
    workflow: (given: unknown, ...rest: readonly unknown[]): void => {
      made.push(...flat(given));
      const callback = rest.findLast((one) => typeof one === 'function');
      if (callback !== undefined) {
        (callback as (error: null, workflow: unknown) => void)(null, given);
      }
    },
    job: (..._given: readonly unknown[]): void => undefined,
  };
  const returned: unknown = await make(factory, (_error: unknown, given: unknown) => {
    made.push(...flat(given));
  });
  return [...made, ...flat(returned)];
}

const unique = (all: readonly WrittenWorkflow[]): readonly WrittenWorkflow[] => [...new Set(all)];

/** The tasks of a chain as they were written; undefined: there is no such chain. */
export function chainOf(workflow: WrittenWorkflow, name: ChainName): unknown {
  const key = chainKeys[name].find((one) => workflow[one] !== undefined);
  return key === undefined ? undefined : workflow[key];
}

/** Where the function of a task is in a module. */
export type FunctionPlace = {
  readonly workflow: string;
  readonly chain: ChainName;
  /** Place of the task in its chain, from 0. */
  readonly task: number;
  readonly part: 'body' | 'fallback';
};

/**
 * Finds the function of a task in the module that it was imported from, where it uses what only that module has.
 * Rejects where the module has changed so that it is not there any more.
 */
export async function functionOf<F extends (...args: never[]) => unknown>(
  exported: unknown,
  { workflow, chain, task, part }: FunctionPlace,
): Promise<F> {
  const named = (await workflowsIn(exported)).find((one) => one['name'] === workflow);
  const tasks = named === undefined ? undefined : chainOf(named, chain);
  const found = Array.isArray(tasks) ? (tasks as unknown[])[task] : undefined;
  const given = isObject(found) ? found[part] : undefined;
  if (typeof given === 'function') return given as F;
  const place = `the ${part} of task ${task + 1} in "${chain}" of workflow "${workflow}"`;
  throw new Error(`The module does not export ${place} any more: import it again.`);
}
