import { defaultQueue, type LiveJob } from '../model/job.js';
import type { LiveStep, Step, WaitingStep } from '../model/step.js';
import { defaultTaskTimeoutMs, type Task } from '../model/task.js';
import { namesTask, type Entry, type Leaf } from '../model/tree.js';
import { attemptsOf } from './attempts.js';
import { sliceLeaf, writtenLeaf } from './leaves.js';
import { entryKindOf } from '../structures/kinds.js';
import { deciderOf, decisionMaker, slicedMap } from '../structures/paths.js';
import { leafBelow } from './decider-answers.js';

/** The leaf at a path of the flow or of its cancel branch, also of what a decider began. */
export function leafAt(job: LiveJob, path: string): Leaf | undefined {
  const written = writtenLeaf(job, path);
  if (written !== undefined) return written;
  if (slicedMap(path) !== path) return sliceLeaf(job, path);
  const decider = writtenLeaf(job, deciderOf(path) ?? decisionMaker(path));
  return decider?.entry.decider === undefined ? undefined : leafBelow(job, decider, path);
}

/** The entry at a path of the flow or of its cancel branch; handlers have none. */
export function entryOf(job: LiveJob, path: string): Entry | undefined {
  return leafAt(job, path)?.entry;
}

/** The queue of a job: its own, its flow's, the one that a child has from its parent's flow. */
export function queueOf({ queue, flow_definition, parent }: LiveJob): string {
  return queue ?? flow_definition.queue ?? parent?.queue ?? defaultQueue;
}

/**
 * The task that an entry runs: from the snapshot; flows and deciders named in the tree need none,
 * and what just waits has none, whatever tasks there are of that name.
 */
export function definitionOf(job: LiveJob, entry: Entry): Task | undefined {
  return namesTask(entry) ? job.definitions[entry.task] : entryKindOf(entry).task?.(entry);
}

/** The task that an attempt runs: that of its entry, or of the handler that it is. */
export function definitionFor(
  job: LiveJob,
  { path, task }: Pick<Step, 'path' | 'task'>,
): Task | undefined {
  const entry = entryOf(job, path);
  return entry === undefined ? job.definitions[task] : definitionOf(job, entry);
}

/** How long an attempt may run, and how long give no sign of life, ms; Infinity: nothing limits it. */
export type Limits = { readonly timeoutMs: number; readonly heartbeatMs: number };

/** The limits of an attempt: its entry's own ones count before those of its task. */
export function limitsOf(job: LiveJob, step: LiveStep): Limits {
  const entry = leafAt(job, step.path)?.entry;
  const task = entry === undefined ? job.definitions[step.task] : definitionOf(job, entry);
  const timeout = entry?.timeout ?? task?.timeout ?? defaultTaskTimeoutMs;
  const heartbeat = entry?.heartbeat ?? task?.heartbeat ?? 0;
  const left = deadlineAfter(task?.total_timeout ?? 0, job, step) - step.accepted;
  return {
    timeoutMs: Math.min(timeout === 0 ? Infinity : timeout, left),
    heartbeatMs: heartbeat === 0 ? Infinity : heartbeat,
  };
}

/** The time for waiting and all attempts of a step, ms; 0: nothing limits it. */
export function totalTimeoutOf(job: LiveJob, step: LiveStep | WaitingStep): number {
  return definitionFor(job, step)?.total_timeout ?? 0;
}

/** When that time is over; Infinity when nothing limits it. */
export function totalDeadline(job: LiveJob, step: LiveStep | WaitingStep): number {
  return deadlineAfter(totalTimeoutOf(job, step), job, step);
}

function deadlineAfter(total: number, job: LiveJob, step: LiveStep | WaitingStep): number {
  if (total === 0) return Infinity;
  const first = attemptsOf(job, step.path).find((attempt) => attempt.run === step.run) as LiveStep;
  return first.accepted + total;
}
