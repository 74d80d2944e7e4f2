import { defaultQueue, type LiveJob } from '../model/job.js';
import { pluginOf, type Task } from '../model/task.js';
import type { Step } from '../model/step.js';
import { namesTask, type Entry } from '../model/tree.js';
import { entryOf } from './leaf-at.js';
import type { Peer, World } from './world.js';

/** The queue of a job: its own, its flow's, the one that a child has from its parent's flow. */
export function queueOf({ queue, flow_definition, parent }: LiveJob): string {
  return queue ?? flow_definition.queue ?? parent?.queue ?? defaultQueue;
}

/** This engine has the plugin, carries the labels and serves the queue. */
export function servesHere(task: Task, { me }: World, queue = defaultQueue): boolean {
  return serves(me, task, queue);
}

/** Some other live engine does. */
export function isServed(task: Task, { peers }: World, queue = defaultQueue): boolean {
  return peers.some((peer) => serves(peer, task, queue));
}

/** No engine at all does; a task that is a flow needs none. */
export function isUnserved(task: Task, world: World, queue = defaultQueue): boolean {
  return (
    task.flow === undefined && !servesHere(task, world, queue) && !isServed(task, world, queue)
  );
}

/** An engine has the plugin of a task, carries its labels and serves the queue of the job. */
export function serves(
  { plugins, labels, queues }: Peer,
  task: Task,
  queue = defaultQueue,
): boolean {
  return (
    queues.has(queue) &&
    plugins.has(pluginOf(task)) &&
    (task.labels ?? []).every((label) => labels.has(label))
  );
}

/** What a step needs of an engine, in words; the usual queue only where nobody serves it. */
export function needsOf(task: Task, { me, peers }: World, queue = defaultQueue): string {
  const { labels = [] } = task;
  const usual = queue === defaultQueue && [me, ...peers].some(({ queues }) => queues.has(queue));
  const needs = [
    `plugin "${pluginOf(task)}"`,
    ...(labels.length === 0
      ? []
      : [`the label${labels.length > 1 ? 's' : ''} ${labels.join(', ')}`]),
    ...(usual ? [] : [`the queue "${queue}"`]),
  ];
  const last = needs.pop();
  return needs.length === 0 ? String(last) : `${needs.join(', ')} and ${last}`;
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
