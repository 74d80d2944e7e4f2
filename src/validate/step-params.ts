import { expandParams, handlerParams } from '../decide/start/params.js';
import { branchPlaces, placesIn } from '../reading/check.js';
import { handlerOf, type Flow } from '../model/flow.js';
import type { Task } from '../model/task.js';
import type { Entry } from '../model/tree.js';

type Params = Readonly<Record<string, unknown>>;

/** The parameters of a step before its templates are filled in. */
export type ParamsOfStep = {
  /** JSON path of the step in the flow: `tasks.sequence[2]`. */
  readonly at: string;
  readonly task: Task;
  readonly params: Params;
};

/**
 * What an engine makes of the parameters of tasks, flow and job (`written`), for every step, branch
 * and handler of a flow whose task `find` knows.
 */
export function paramsOfSteps(
  flow: Flow,
  find: (name: string) => Task | undefined,
  written: Params = {},
): readonly ParamsOfStep[] {
  const { tasks, ...settings } = flow;
  const main = placesIn(tasks, 'tasks').map(({ leaf, at }) => ({ leaf, at, entry: leaf.entry }));
  const handler = handlerOf(flow);
  const beside: readonly { readonly entry: Entry; readonly at: string }[] = [
    ...branchPlaces(flow).map(({ leaf, at }) => ({ entry: leaf.entry, at })),
    ...(handler === undefined ? [] : [{ entry: { ...handler, task: handler.name }, at: 'error' }]),
  ];
  const names = [...main, ...beside].map(({ entry }) => entry.task);
  const definitions = Object.fromEntries(
    [...new Set(names)].flatMap((name): [string, Task][] => {
      const task = find(name);
      return task === undefined ? [] : [[name, task]];
    }),
  );
  const leaves = main.map(({ leaf }) => leaf);
  const expanded = expandParams(written, leaves, settings, definitions);
  const job = { definitions, flow_definition: settings, params: written };
  return [
    ...main.map(({ leaf, at, entry }) => ({ entry, at, params: expanded[leaf.label] as Params })),
    ...beside.map(({ entry, at }) => ({ entry, at, params: handlerParams(job, entry) })),
  ].flatMap(({ entry, at, params }) => {
    const task = definitions[entry.task];
    return task === undefined ? [] : [{ at, task, params }];
  });
}
