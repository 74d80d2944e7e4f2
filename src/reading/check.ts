import { failure } from '../model/failures.js';
import { branchesOf, handlerOf, type FlowBranch, type Flow } from '../model/flow.js';
import { createTwinNotes } from './twin-notes.js';
import { createLimitNotes, limitNamesOf } from './limit-notes.js';
import { readNotify } from '../model/notify.js';
import { finder, flowFinder, type DefinitionLookup } from './definition-lookup.js';
import { sameNameNotes } from './same-names.js';
import { toJsonPath } from '../model/problems.js';
import { isObject } from '../model/object.js';
import { defaultOwner, keyOf, type Task } from '../model/task.js';
import { namesTask, type Leaf, type Structure } from '../model/tree.js';
import { leavesOf } from '../structures/tree.js';

/** A definition as it was read; one that is not stored yet has no id. */
type Read<T> = T & { readonly _id?: string };

/** All that is known to belong together: of some files, of a database, or of both. */
export type DefinitionSet = {
  readonly tasks: readonly Read<Task>[];
  readonly flows: readonly Read<Flow>[];
};

/**
 * Something that shows only when definitions are seen together. A job meets a `problem` for certain;
 * a `warning` may be right elsewhere or later. `path` is a JSON path in the document.
 */
export type Finding = {
  readonly kind: 'task' | 'flow';
  readonly id?: string;
  readonly name: string;
  readonly path: string;
  readonly message: string;
  readonly level: 'problem' | 'warning';
  /** The definition that is named and that nobody has defined. */
  readonly missing?: { readonly kind: 'task' | 'flow'; readonly name: string };
};

type Note = Pick<Finding, 'path' | 'message' | 'level' | 'missing'>;

/**
 * Checks definitions against each other: keys used twice, names that are nowhere, error handlers in
 * a circle, parameters for no step, step names used twice. Each document must be valid by itself.
 * `isAsked`: whose findings are wanted; absent: of all.
 */
export function checkDefinitions(
  { tasks, flows }: DefinitionSet,
  isAsked: (one: Read<Task> | Read<Flow>) => boolean = () => true,
): readonly Finding[] {
  const anyFlow = finder(flows);
  const world: DefinitionLookup = {
    task: finder(tasks),
    flow: flowFinder(flows),
    isFlow: (name, owner) => anyFlow(name, owner) !== undefined,
  };
  const limitNotes = createLimitNotes({ tasks, flows });
  const twinNotes = createTwinNotes({ tasks, flows });
  const inTasks = tasks
    .filter(isAsked)
    .flatMap((task) =>
      [...twinNotes.task(task), ...taskNotes(task, world), ...limitNotes('task', task)].map(
        (note) => toFinding('task', task, note),
      ),
    );
  const inFlows = flows
    .filter(isAsked)
    .flatMap((flow) =>
      [...twinNotes.flow(flow), ...flowNotes(flow, world), ...limitNotes('flow', flow)].map(
        (note) => toFinding('flow', flow, note),
      ),
    );
  return [...inTasks, ...inFlows];
}

type Named = { readonly name: string; readonly owner?: string; readonly _id?: string };

function toFinding(kind: Finding['kind'], { _id, name }: Named, note: Note): Finding {
  return { kind, ...(_id === undefined ? {} : { id: _id }), name, ...note };
}

function taskNotes(task: Task, world: DefinitionLookup): readonly Note[] {
  const { name, owner = defaultOwner, error, flow } = task;
  const circle = circleFrom(name, error, owner, world);
  return [
    ...(error === undefined ? [] : absentTask('error', error, owner, world)),
    ...absentFlow('flow', { flow, version: task.flow_version }, owner, world),
    ...(circle === undefined ? [] : [circleNote('error', circle)]),
  ];
}

function flowNotes(flow: Flow, world: DefinitionLookup): readonly Note[] {
  const { owner } = flow;
  const handler = handlerOf(flow);
  const main = placesIn(flow.tasks, 'tasks');
  const beside = branchPlaces(flow);
  return [
    ...[...main, ...beside].flatMap((place) => stepNotes(place, owner, world)),
    ...(handler === undefined ? [] : absentTask('error', handler.name, owner, world)),
    ...notifyNotes(flow, world),
    ...sameNameNotes(main, flow, world),
    ...answerNotes([...main, ...beside]),
    ...circleNotes(flow, world),
    ...[...main, ...beside].flatMap((place) => childLimitNotes(flow, place, world)),
    ...paramNotes(flow, main, beside, world),
  ];
}

/** What cannot be read of it is told with the rest of the document. */
function notifyNotes({ notify, owner }: Flow, world: DefinitionLookup): readonly Note[] {
  if (!Array.isArray(notify)) return [];
  return notify.flatMap((written: unknown, i): readonly Note[] => {
    const [{ task, flow, version } = {}] = readNotify([written]).entries;
    const at = toJsonPath(['notify', i]);
    if (task !== undefined) return absentTask(`${at}.task`, task, owner, world);
    return absentFlow(`${at}.flow`, { flow, version }, owner, world);
  });
}

/** All entries of what runs after a failure and after a cancel. */
export function branchPlaces(flow: Pick<Flow, 'error' | 'cancel'>): readonly Place[] {
  return branchesOf(flow).flatMap(({ tree, root }) => placesIn(tree, root));
}

/** A step that is to answer a signal and is not there: its sender would wait in vain. */
function answerNotes(places: readonly Place[]): readonly Note[] {
  const names = new Set(places.map(({ leaf }) => leaf.name));
  return places.flatMap(({ leaf, at }): readonly Note[] => {
    const { answer } = leaf.entry.wait ?? {};
    if (typeof answer !== 'object' || names.has(answer.step)) return [];
    const path = `${at}.wait.answer.step`;
    const message = `${path} names "${answer.step}", which is no step of the flow.`;
    return [{ path, message, level: 'problem' }];
  });
}

function circleNotes(flow: Flow, world: DefinitionLookup): readonly Note[] {
  return circlesOf(flow, world).map(({ at, names }) => {
    const deadlock =
      flow.max_running === undefined && flow.concurrency === undefined
        ? ''
        : ` With "${flow.max_running === undefined ? 'concurrency' : 'max_running'}" a job may even wait for a child job that waits for its permit.`;
    const message = `${at} starts the flow again (${names.join(' -> ')}): without a condition on the way its jobs nest until the depth limit fails them.${deadlock}`;
    return { path: at, message, level: 'warning' };
  });
}

/** A flow that comes back to itself: where, and the names on the way round. */
type Circle = { readonly at: string; readonly names: readonly string[] };

/**
 * The entries of a flow whose child jobs lead back to it. That is no mistake where a condition ends
 * it; without one its jobs go as deep as they may.
 */
function circlesOf(flow: Flow, world: DefinitionLookup): readonly Circle[] {
  const children = (of: Flow): readonly { readonly at: string; readonly flow: Flow }[] =>
    [...placesIn(of.tasks, 'tasks'), ...branchPlaces(of)].flatMap(({ leaf: { entry }, at }) => {
      const called = entry.flow === undefined ? world.task(entry.task, of.owner) : undefined;
      const name = entry.flow ?? called?.flow;
      const version = entry.version ?? called?.flow_version;
      const child = name === undefined ? undefined : world.flow(name, of.owner, version);
      return child === undefined ? [] : [{ at, flow: child }];
    });
  const wanted = keyOf(flow.name, flow.owner);
  const seen = new Set<string>();
  const wayBack = (from: Flow): readonly string[] | undefined => {
    const key = keyOf(from.name, from.owner);
    if (key === wanted) return [from.name];
    // From where no way was found before there is none.
    if (seen.has(key)) return undefined;
    seen.add(key);
    for (const { flow: child } of children(from)) {
      const way = wayBack(child);
      if (way !== undefined) return [from.name, ...way];
    }
    return undefined;
  };
  return children(flow).flatMap(({ at, flow: child }) => {
    seen.clear();
    const way = wayBack(child);
    return way === undefined ? [] : [{ at, names: [flow.name, ...way] }];
  });
}

/** A child job that needs a permit of a limit of which its parent holds one while it waits for it. */
function childLimitNotes(
  flow: Flow,
  { leaf: { entry }, at }: Place,
  world: DefinitionLookup,
): readonly Note[] {
  const task = world.task(entry.task, flow.owner);
  const name = entry.flow ?? task?.flow;
  const version = entry.version ?? task?.flow_version;
  const child = name === undefined ? undefined : world.flow(name, flow.owner, version);
  if (child === undefined) return [];
  const held = limitNamesOf([flow, task]);
  const tasks = leavesOf(child.tasks).map((leaf) => world.task(leaf.entry.task, child.owner));
  const needed = limitNamesOf([child, ...tasks]);
  return [...held]
    .filter((limit) => needed.has(limit))
    .map((limit) => {
      const message = `${at} starts a job of flow "${child.name}" that needs a permit of the limit "${limit}", of which this job holds one meanwhile: when such jobs have all permits, they wait for each other.`;
      return { path: at, message, level: 'warning' };
    });
}

/** An entry with its JSON path in the flow document: `tasks.sequence[2]`. */
type Place = { readonly leaf: Leaf; readonly at: string };

/** All entries of a tree with their paths. */
export function placesIn(tree: Structure, root: 'tasks' | FlowBranch['root']): readonly Place[] {
  return leavesOf(tree, root === 'tasks' ? '' : root).map((leaf) => ({
    leaf,
    at: toJsonPath([root, ...leaf.keys]),
  }));
}

function stepNotes({ leaf, at }: Place, owner: string, world: DefinitionLookup): readonly Note[] {
  const { entry } = leaf;
  const { task, error, undo, flow, version } = entry;
  const circle = error === undefined ? undefined : circleFrom(task, error, owner, world);
  return [
    ...(namesTask(entry) ? absentTask(`${at}.task`, task, owner, world) : []),
    ...absentFlow(`${at}.flow`, { flow, version }, owner, world),
    ...(error === undefined ? [] : absentTask(`${at}.error`, error, owner, world)),
    ...(undo === undefined ? [] : absentTask(`${at}.undo`, undo, owner, world)),
    ...(circle === undefined ? [] : [circleNote(`${at}.error`, circle)]),
  ];
}

function absentTask(
  path: string,
  task: string,
  owner: string,
  world: DefinitionLookup,
): readonly Note[] {
  return world.task(task, owner) === undefined ? [absent('task', path, task, owner)] : [];
}

type CalledFlow = { readonly flow?: string | undefined; readonly version?: string | undefined };

/** `path`: of the name of the flow. */
function absentFlow(
  path: string,
  { flow, version }: CalledFlow,
  owner: string,
  world: DefinitionLookup,
): readonly Note[] {
  if (flow === undefined || world.flow(flow, owner, version) !== undefined) return [];
  // Which one is current may be open: that is told of the flow itself.
  if (world.isFlow?.(flow, owner) !== true) return [absent('flow', path, flow, owner)];
  if (version === undefined) return [];
  const message = `${path} names the flow "${flow}", which has no version ${JSON.stringify(version)}.`;
  return [{ path, message, level: 'warning' }];
}

function absent(kind: Finding['kind'], path: string, name: string, owner: string): Note {
  const owners = owner === defaultOwner ? `"${owner}"` : `"${owner}" or ${defaultOwner}`;
  const message = `${path} names the ${kind} "${name}", which is not defined for owner ${owners}.`;
  return { path, message, level: 'warning', missing: { kind, name } };
}

/** Follows the handlers of a task until one comes back to it: the names on the way round. */
function circleFrom(
  task: string,
  handler: string | undefined,
  owner: string,
  world: DefinitionLookup,
): readonly string[] | undefined {
  const seen = [task];
  for (let name = handler; name !== undefined; name = world.task(name, owner)?.error) {
    if (name === task) return [...seen, name];
    if (seen.includes(name)) return undefined;
    seen.push(name);
  }
  return undefined;
}

function circleNote(path: string, circle: readonly string[]): Note {
  const { message } = failure('HandlerCycle', { names: circle.join(' -> ') });
  return { path, message, level: 'problem' };
}

function paramNotes(
  flow: Flow,
  main: readonly Place[],
  beside: readonly Place[],
  world: DefinitionLookup,
): readonly Note[] {
  const { params = {}, schema } = flow;
  const declared = isObject(schema?.['properties']) ? schema['properties'] : {};
  const readers = new Set([
    ...main.map(({ leaf }) => leaf.label),
    ...tasksOf(flow, [...main, ...beside], world),
  ]);
  return Object.entries(params).flatMap(([key, value]): readonly Note[] => {
    const path = toJsonPath(['params', key]);
    if (Object.hasOwn(declared, key) || (readers.has(key) && isObject(value))) return [];
    if (readers.has(key)) {
      const message = `${path} must be an object of parameters for that step, so nothing reads it.`;
      return [{ path, message, level: 'warning' }];
    }
    const meant = main.find(({ leaf }) => leaf.name === key)?.leaf;
    const instead =
      meant === undefined
        ? ''
        : ` Parameters go by task: "${meant.entry.task}" or "${meant.label}".`;
    const message = `${path} names no step of the flow, so nothing reads it.${instead}`;
    return [{ path, message, level: 'warning' }];
  });
}

/** The names of all tasks that the flow can come to, handlers of handlers included. */
function tasksOf(
  flow: Flow,
  places: readonly Place[],
  world: DefinitionLookup,
): ReadonlySet<string> {
  const open = places.flatMap(({ leaf: { entry } }) => [entry.task, entry.error]);
  const names = new Set<string>();
  for (const name of [...open, handlerOf(flow)?.name]) {
    let next = name;
    while (next !== undefined && !names.has(next)) {
      names.add(next);
      next = world.task(next, flow.owner)?.error;
    }
  }
  return names;
}
