import { closest } from '../model/closest.js';
import { branchPlaces, placesIn } from '../reading/check.js';
import { isObject } from '../model/object.js';
import { handlerOf, type Flow } from '../model/flow.js';
import { paramsOfKey, paramsRead, takesAnyParams } from '../model/param-keys.js';
import { entryKindOf } from '../structures/kinds.js';
import type { FindTask, UnfitParams } from './plugin-params.js';

/** So many are told. */
const mostListed = 20;

/** Parameters of a job that name no step of its flow and that nothing in the flow reads. */
export function unreadParams(
  params: Readonly<Record<string, unknown>> | undefined,
  flow: Flow,
  find: FindTask,
): readonly UnfitParams[] {
  if (takesAnyParams(flow)) return [];
  const leaves = placesIn(flow.tasks, 'tasks').map(({ leaf }) => leaf);
  // A flow of another project, or a decider, may run what is not to be seen from here.
  const isOpen = ({ entry }: (typeof leaves)[number]): boolean =>
    entryKindOf(entry).task !== undefined;
  if (leaves.some(isOpen)) return [];
  const tasks = leaves.map(({ entry }) => find(entry.task));
  const handlers = [
    ...tasks.map((task) => task?.error),
    ...leaves.flatMap(({ entry }) => [entry.error, entry.undo]),
    handlerOf(flow)?.name,
  ].filter((name) => name !== undefined);
  const declared = isObject(flow.schema?.['properties']) ? flow.schema['properties'] : {};
  const beside = branchPlaces(flow);
  const steps = leaves.flatMap(({ label, entry }) => [entry.task, label]);
  const known = [
    ...steps,
    ...handlers,
    ...beside.map(({ leaf }) => leaf.entry.task),
    ...Object.keys(declared),
    ...Object.keys(flow.params ?? {}),
  ];
  const knownKeys = new Set(known);
  const read = paramsRead([flow, tasks, params, paramsOfKey(flow.unique)]);
  return Object.keys(params ?? {})
    .filter((key) => !knownKeys.has(key) && !read.has(key))
    .slice(0, mostListed)
    .map((key) => {
      const close = closest(key, known);
      const names = [...new Set(steps)].join(', ');
      const todo =
        close === undefined ? `its steps are ${names || 'none'}.` : `did you mean "${close}"?`;
      const path = `params.${key}`;
      const of = flow.name === '' ? 'the job' : `flow "${flow.name}"`;
      return {
        path,
        message: `${path} names no step of ${of}, and nothing in it reads {{job.${path}}}; ${todo}`,
      };
    });
}
