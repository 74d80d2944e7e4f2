import { branchPlaces, placesIn } from '../../reading/check.js';
import { handlerOf, type Flow } from '../../model/flow.js';
import { addTo } from '../../model/grouped.js';
import { finder } from '../../reading/definition-lookup.js';
import { parseDocument } from '../../reading/parse.js';
import { namesTask } from '../../model/tree.js';
import { defaultOwner, ownerOf, type Task } from '../../model/task.js';
import type { AnyDocument } from '../answers.js';
import type { DefinitionLists, StoredDefinition } from './stored.js';

/** The flow that a document is; undefined while it is not valid. */
export function flowOf(document: unknown): Flow | undefined {
  if (typeof document !== 'object' || document === null) return undefined;
  const parsed = parseDocument({
    type: 'flow',
    ...(document as AnyDocument),
    _id: 'new',
    _rev: '0-0',
  });
  return parsed.kind === 'flow' && parsed.ok ? parsed.value : undefined;
}

/** Names of the tasks that a flow needs: its steps, and what handles or undoes them. */
export function tasksOf(flow: Flow): readonly string[] {
  const trees = [...placesIn(flow.tasks, 'tasks'), ...branchPlaces(flow)];
  const handler = handlerOf(flow);
  const steps = trees.flatMap(({ leaf: { entry } }) => [
    ...(namesTask(entry) ? [entry.task] : []),
    ...[entry.error, entry.undo].filter((name) => name !== undefined),
  ]);
  return [...new Set([...steps, ...(handler === undefined ? [] : [handler.name])])];
}

/** Names of the flows that a flow runs as jobs of their own. */
export function flowsOf(flow: Flow): readonly string[] {
  const flows = placesIn(flow.tasks, 'tasks').flatMap(({ leaf: { entry } }) => entry.flow ?? []);
  return [...new Set(flows)];
}

/** The tasks that a flow means, by name, as far as they are there and valid. */
export function taskDefinitions(
  flow: Flow,
  tasks: readonly StoredDefinition[],
): Readonly<Record<string, Task>> {
  const found = tasksOf(flow).flatMap((name): readonly [string, Task][] => {
    const document = meant(tasks, name, flow.owner)?.document;
    const parsed = parseDocument({ ...document, _id: 'new', _rev: '0-0' });
    return parsed.kind === 'task' && parsed.ok ? [[name, parsed.value]] : [];
  });
  return Object.fromEntries(found);
}

/** The definition that somebody's flow means by a name: his own, else the one for all. */
export function meant(
  all: readonly StoredDefinition[],
  name: string,
  owner: string,
): StoredDefinition | undefined {
  const of = (wanted: string): StoredDefinition | undefined =>
    all.find((one) => one.name === name && one.owner === wanted);
  return of(owner) ?? of(defaultOwner);
}

/** Who uses a task, and how. */
export type Use = { readonly by: StoredDefinition; readonly kind: 'flow' | 'task' };

/** By the id of each task: the flows, and the tasks whose failure it handles, that mean exactly this one. */
export function usesOfTasks({
  flows,
  tasks,
}: DefinitionLists): ReadonlyMap<string, readonly Use[]> {
  const uses = new Map<string, Use[]>();
  const find = finder(tasks);
  const add = (use: Use, names: readonly unknown[], owner: string): void => {
    const found = names.map((name) =>
      typeof name === 'string' ? find(name, owner)?.id : undefined,
    );
    for (const id of new Set(found)) if (id !== undefined) addTo(uses, id, use);
  };
  for (const by of flows) {
    const flow = flowOf(by.document);
    if (flow !== undefined) add({ by, kind: 'flow' }, tasksOf(flow), flow.owner);
  }
  for (const by of tasks) {
    add({ by, kind: 'task' }, [by.document['error'], by.document['undo']], ownerOf(by.document));
  }
  return uses;
}
