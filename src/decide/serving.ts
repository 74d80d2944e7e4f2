import type { LiveJob } from '../model/job.js';
import { pluginOf, type Task } from '../model/task.js';
import type { Step } from '../model/step.js';
import { namesTask, type Entry } from '../model/tree.js';
import { entryOf } from './history.js';
import type { Peer, World } from './intent.js';

/** This engine has the plugin and carries the labels. */
export function servesHere(task: Task, { me }: World): boolean {
  return serves(me, task);
}

/** Some other live engine has them. */
export function isServed(task: Task, { peers }: World): boolean {
  return peers.some((peer) => serves(peer, task));
}

/** No engine at all has them; a task that is a flow needs none. */
export function isUnserved(task: Task, world: World): boolean {
  return task.flow === undefined && !servesHere(task, world) && !isServed(task, world);
}

/** An engine has the plugin of a task and carries its labels. */
export function serves({ plugins, labels }: Peer, task: Task): boolean {
  return plugins.has(pluginOf(task)) && (task.labels ?? []).every((label) => labels.has(label));
}

/** What a task needs of an engine, in words. */
export function needsOf(task: Task): string {
  const plugin = `plugin "${pluginOf(task)}"`;
  const { labels = [] } = task;
  if (labels.length === 0) return plugin;
  return `${plugin} and the label${labels.length > 1 ? 's' : ''} ${labels.join(', ')}`;
}

/**
 * The task that an entry runs: from the snapshot; flows and deciders named in the tree need none,
 * and what just waits has none, whatever tasks there are of that name.
 */
export function definitionOf(job: LiveJob, entry: Entry): Task | undefined {
  const { task, flow, decider } = entry;
  if (flow !== undefined) return { type: 'task', name: task, flow };
  if (decider !== undefined) return { type: 'task', name: task, plugin: decider };
  return namesTask(entry) ? job.definitions[task] : undefined;
}

/** The task that an attempt runs: that of its entry, or of the handler that it is. */
export function definitionFor(
  job: LiveJob,
  { path, task }: Pick<Step, 'path' | 'task'>,
): Task | undefined {
  const entry = entryOf(job, path);
  return entry === undefined ? job.definitions[task] : definitionOf(job, entry);
}
