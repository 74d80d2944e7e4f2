import { paramsOfSteps } from '../../client.js';
import { checkTags } from '../../engine/expressions.js';
import type { Flow } from '../../model/flow.js';
import { pluginOf, type Task } from '../../model/task.js';
import type { PluginRegistry } from '../../plugin/loader.js';
import type { FindTask, UnfitParams } from './plugin-params.js';

type Plugins = Pick<PluginRegistry, 'get'>;
type Params = Readonly<Record<string, unknown>>;

/** Maximum number of steps that are reported. */
const mostTold = 20;

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
    .slice(0, mostTold);
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
  const reason = checkTags(params, plugin?.module.templates ?? []);
  if (reason === undefined) return [];
  return [
    { path, message: `${path}: the templates of its parameters cannot be filled in: ${reason}.` },
  ];
}
