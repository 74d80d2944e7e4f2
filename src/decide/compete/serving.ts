import { defaultQueue, type LiveJob } from '../../model/job.js';
import type { LiveStep } from '../../model/step.js';
import { keyOf, pluginOf, type Task } from '../../model/task.js';
import { definitionFor } from '../../reading/entries.js';
import type { TaskSlots } from '../intent.js';
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

/**
 * Returns how many attempts of a task an engine may run at once; undefined: as many as it has
 * slots.
 */
export function taskSlots({ name, owner, slots }: Task): TaskSlots | undefined {
  return slots === undefined ? undefined : { task: keyOf(name, owner), slots };
}

/**
 * Returns the limit of a task that this engine runs as often as it may; undefined: it may run once
 * more.
 */
export function fullTask(task: Task, { me }: World): TaskSlots | undefined {
  const limit = taskSlots(task);
  return limit !== undefined && me.runningOf(limit.task) >= limit.slots ? limit : undefined;
}

/**
 * Returns the world with the slots taken that claims of the same decision use, and those that are asking for
 * what else they need.
 */
export function withClaims(
  job: LiveJob,
  world: World,
  claims: readonly LiveStep[],
  asking: readonly Claiming[] = [],
): World {
  if (claims.length + asking.length === 0) return world;
  const { me } = world;
  const all = [...claims, ...asking];
  const claimed = all.map((step) => limitOf(job, step)?.task);
  return {
    ...world,
    me: {
      ...me,
      freeSlots: me.freeSlots - all.length,
      share: (wanted) => me.share(wanted + all.length) - all.length,
      runningOf: (task) => me.runningOf(task) + claimed.filter((one) => one === task).length,
    },
  };
}

/** What a slot is for. */
export type Claiming = Pick<LiveStep, 'path' | 'task'>;

/** Returns the limit of the task of a step. */
export function limitOf(job: LiveJob, step: Claiming): TaskSlots | undefined {
  // Whatever runs no task of this name has no limit.
  if (job.definitions[step.task]?.slots === undefined) return undefined;
  const definition = definitionFor(job, step);
  return definition === undefined ? undefined : taskSlots(definition);
}
