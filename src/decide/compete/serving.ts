import { defaultQueue } from '../../model/job.js';
import { pluginOf, type Task } from '../../model/task.js';
import type { Peer, World } from '../world.js';

/** Whether this engine has the plugin, carries the labels and serves the queue. */
export function servesHere(task: Task, { me }: World, queue = defaultQueue): boolean {
  return serves(me, task, queue);
}

/** Whether another live engine has the plugin, carries the labels and serves the queue. */
export function isServed(task: Task, { peers }: World, queue = defaultQueue): boolean {
  return peers.some((peer) => serves(peer, task, queue));
}

/** Whether no engine at all can run the task; a task that is a flow needs none. */
export function isUnserved(task: Task, world: World, queue = defaultQueue): boolean {
  return (
    task.flow === undefined && !servesHere(task, world, queue) && !isServed(task, world, queue)
  );
}

/**
 * Whether an engine has the plugin of a task, carries its labels and serves the queue of the job.
 */
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

/**
 * Describes what a step needs of an engine; names the usual queue only when no engine serves it.
 */
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
