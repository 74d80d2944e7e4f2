import type { LiveJob } from '../model/job.js';
import { exits, type FailedStep } from '../model/step.js';
import type { Leaf } from '../model/tree.js';
import { begin } from './begin.js';
import { flowPolicy } from './fail.js';
import { finish } from './finish.js';
import { lastAttempt } from './history.js';
import type { Move, World } from './intent.js';
import { isRetried, waitMs } from './retry.js';
import { endSlice } from './slices.js';
import { leafProgress } from './structure/leaf.js';
import { undoMove } from './undo.js';
import { openWaits } from './waits.js';
import { together } from './together.js';

/**
 * The flow has failed at a step: the flow's retry comes first, then what was done is undone,
 * then its error handler, then the end, with the exit of the failure unless the handler set one.
 */
export function failedMove(job: LiveJob, failed: FailedStep, now: number, world: World): Move {
  if (job.slice !== undefined) return endSlice(job, job.slice, failed, now, world);
  if (mayRetry(job, failed)) return { kind: 'change', job: nextRun(job, now) };
  const undo = undoMove(job, now, world);
  if (undo !== undefined) return undo;
  const ending = { exit: failed.exit, failure: failed.failure };
  const handler = handlerLeaf(job, failed);
  if (handler === undefined) return { kind: 'change', job: finish(job, ending, now) };
  const progress = leafProgress(job, handler, 'error');
  switch (progress.kind) {
    case 'open': {
      const [beginning] = progress.begin;
      return beginning === undefined ? together(openWaits(job)) : begin(job, beginning, now, world);
    }
    case 'failed':
      return { kind: 'change', job: finish(job, ending, now) };
    case 'done': {
      const exit = exitSetBy(job) ?? failed.exit;
      const recovered = exit === exits.success ? { exit } : { ...ending, exit };
      return { kind: 'change', job: finish(job, recovered, now) };
    }
  }
}

function mayRetry(job: LiveJob, { exit, failure }: FailedStep): boolean {
  const policy = flowPolicy(job);
  if (exit === exits.definition || failure['retryable'] === false) return false;
  return passesOf(job) <= policy.limit && isRetried(policy, failure);
}

/** How many runs the flow has had since it last began anew, this one included. */
function passesOf({ run, first_run: first = 1 }: LiveJob): number {
  return run - first + 1;
}

/** The flow goes on at the step that failed; what was done stays done. */
function nextRun(job: LiveJob, now: number): LiveJob {
  const policy = flowPolicy(job);
  const delay = waitMs(policy, { failed: passesOf(job), seed: `${job._id}:${job.run}` });
  const next = { ...job, run: job.run + 1 };
  return delay === 0
    ? next
    : { ...next, resume_at: now + delay, held_ms: (job.held_ms ?? 0) + delay };
}

/** The flow's error handler, at the position of the step that failed. */
function handlerLeaf(job: LiveJob, { index }: FailedStep): Leaf | undefined {
  const handler = job.flow_definition.error;
  if (handler === undefined) return undefined;
  const { name, params } = handler;
  return {
    path: 'error',
    index,
    name,
    label: `${name}-${index}`,
    entry: params === undefined ? { task: name } : { task: name, params },
  };
}

function exitSetBy(job: LiveJob): number | undefined {
  const set = lastAttempt(job, 'error')?.['sets_exit'];
  return typeof set === 'number' ? set : undefined;
}
