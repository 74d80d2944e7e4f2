import { mayHoldTemplate } from '../model/template.js';
import { closest } from '../model/closest.js';
import { isKnownLater } from '../evaluate/schemas.js';
import { branchPlaces, placesIn } from '../reading/check.js';
import { isObject } from '../model/object.js';
import type { Flow } from '../model/flow.js';
import { toJsonPath } from '../model/problems.js';
import { pluginOf, type Task } from '../model/task.js';
import type { PluginRegistry } from '../plugin/loader.js';
import { compileParams } from '../plugin/params.js';
import { textsIn } from './document.js';
import { unknownValue, pruned, relaxed, type SchemaFields } from './partial-schema.js';

/** Parameters that their plugin will not take. */
export type UnfitParams = { readonly path: string; readonly message: string };

/** The task of a name, as the owner of the document that names it sees it. */
export type FindTask = (name: string) => Task | undefined;

type Plugins = Pick<PluginRegistry, 'get'>;

/** What is wrong with the parameters of a task by itself. */
export function unfitInTask(task: Task, plugins: Plugins): readonly UnfitParams[] {
  if (task.params === undefined) return [];
  return unfit('params', task.params, task, plugins);
}

/** What is wrong with the parameters that a flow gives to its steps. */
export function unfitInFlow(flow: Flow, find: FindTask, plugins: Plugins): readonly UnfitParams[] {
  const places = [...placesIn(flow.tasks, 'tasks'), ...branchPlaces(flow)];
  const inEntries = places.flatMap(({ leaf, at }) => {
    const { params, task } = leaf.entry;
    return params === undefined ? [] : unfit(`${at}.params`, params, find(task), plugins);
  });
  return [...inEntries, ...unfitByKey(flow.params, flow, find, plugins)];
}

/** What is wrong with parameters that go by task or step key: those of a job, or of a flow. */
export function unfitByKey(
  params: Readonly<SchemaFields> | undefined,
  flow: Flow,
  find: FindTask,
  plugins: Plugins,
): readonly UnfitParams[] {
  const tasks = new Map<string, string>();
  for (const { leaf } of placesIn(flow.tasks, 'tasks')) {
    tasks.set(leaf.label, leaf.entry.task).set(leaf.entry.task, leaf.entry.task);
  }
  return Object.entries(params ?? {}).flatMap(([key, value]) => {
    const task = tasks.get(key);
    if (task === undefined || !isObject(value)) return [];
    return unfit(toJsonPath(['params', key]), value, find(task), plugins);
  });
}

/** Problems of one schema are told up to this number. */
const mostProblems = 3;

function unfit(
  path: string,
  params: Readonly<SchemaFields>,
  task: Task | undefined,
  plugins: Plugins,
): readonly UnfitParams[] {
  if (task === undefined || task.flow !== undefined) return [];
  const name = pluginOf(task);
  const schema = plugins.get(name)?.module.params;
  if (!isObject(schema)) return [];
  const given = pruned(params, isKnownLater);
  if (given === unknownValue) return [];
  const found = [...new Set(compileParams(relaxed(schema) as SchemaFields)(given))];
  const close = nearMisses(params, schema);
  const named = found.slice(0, mostProblems).join('; ');
  const more = found.length > mostProblems ? `; ${found.length - mostProblems} more` : '';
  return [
    ...(found.length === 0
      ? []
      : [{ path, message: `${path} does not suit plugin "${name}": ${named}${more}.` }]),
    ...close.map(({ key, meant }) => ({
      path: `${path}.${key}`,
      message: `${path}.${key} is no parameter that plugin "${name}" names; did you mean "${meant}"?`,
    })),
  ];
}

type NearMiss = { readonly key: string; readonly meant: string };

/** Names close to those of the schema; a plugin that takes any may use them in its templates. */
function nearMisses(params: Readonly<SchemaFields>, schema: SchemaFields): readonly NearMiss[] {
  const { properties } = schema;
  if (!isObject(properties)) return [];
  const texts = textsIn(params).map(({ text }) => text);
  return Object.keys(params).flatMap((key) => {
    if (Object.hasOwn(properties, key) || key.length < 3) return [];
    if (texts.some((text) => mayHoldTemplate(text) && text.includes(key))) return [];
    const absent = Object.keys(properties).filter((name) => !Object.hasOwn(params, name));
    const meant = closest(key, absent);
    return meant === undefined ? [] : [{ key, meant }];
  });
}
