import { paramsOfSteps } from './step-params.js';
import { checkTags } from '../evaluate/expressions.js';
import { branchPlaces, placesIn } from '../reading/check.js';
import type { Flow } from '../model/flow.js';
import { readNotify } from '../model/notify.js';
import { pluginOf, type Task } from '../model/task.js';
import type { PluginRegistry } from '../plugin/loader.js';
import { textsOf } from '../structures/kinds.js';
import type { FindTask, UnfitParams } from './plugin-params.js';

type Plugins = Pick<PluginRegistry, 'get'>;
type Params = Readonly<Record<string, unknown>>;

/** Maximum number of steps that are reported. */
const mostListed = 20;

/** A task whose templates have too many tags together; a flow or job may still replace some of them. */
export function excessTagsInTask(task: Task, plugins: Plugins): readonly UnfitParams[] {
  return excessTags('params', task, task.params ?? {}, plugins);
}

/** The steps of a flow whose templates have too many tags together, with what a job gives them. */
export function excessTagsInFlow(
  flow: Flow,
  find: FindTask,
  plugins: Plugins,
  given?: Params,
): readonly UnfitParams[] {
  return paramsOfSteps(flow, find, given)
    .flatMap(({ at, task, params }) => excessTags(at, task, params, plugins))
    .slice(0, mostListed);
}

/** The delays, signals and keys of events in a flow that have too many tags. */
export function excessTagsInTexts(
  flow: Pick<Flow, 'tasks' | 'error' | 'cancel'>,
): readonly UnfitParams[] {
  return [...placesIn(flow.tasks, 'tasks'), ...branchPlaces(flow)]
    .flatMap(({ leaf, at }) => {
      return Object.entries(textsOf(leaf.entry)).flatMap(([key, text]) =>
        unfit(`${at}.${key}`, checkTags({ [key]: text }, [])),
      );
    })
    .slice(0, mostListed);
}

/** The notifications of a flow or job whose templates have too many tags together. */
export function excessTagsInNotify(
  notify: unknown,
  find: FindTask,
  plugins: Plugins,
): readonly UnfitParams[] {
  if (!Array.isArray(notify)) return [];
  return notify
    .flatMap((one: unknown, i) => {
      const [entry] = readNotify([one]).entries;
      // What an entry says for a flow goes to several steps.
      if (entry === undefined || entry.flow !== undefined) return [];
      const path = `notify[${i}]`;
      const { url, headers, body } = entry;
      if (url !== undefined) return unfit(path, checkTags({ url, headers, body }, []));
      const task = find(String(entry.task));
      return task === undefined
        ? []
        : excessTags(path, task, { ...task.params, ...entry.params }, plugins);
    })
    .slice(0, mostListed);
}

/** Which parameters a plugin renders by itself is known only where the plugin is. */
function excessTags(
  path: string,
  task: Task,
  params: Params,
  plugins: Plugins,
): readonly UnfitParams[] {
  const plugin = plugins.get(pluginOf(task));
  if (plugin === undefined && task.flow === undefined) return [];
  return unfit(path, checkTags(params, plugin?.module.templates ?? []), ' of its parameters');
}

function unfit(path: string, reason: string | undefined, of = ''): readonly UnfitParams[] {
  if (reason === undefined) return [];
  return [{ path, message: `${path}: the templates${of} cannot be filled in: ${reason}.` }];
}
