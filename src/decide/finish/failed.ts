import { isSlice, type LiveJob } from '../../model/job.js';
import { branchesOf, handlerOf } from '../../model/flow.js';
import { exits, isOpen, type FailedStep } from '../../model/step.js';
import { type Leaf, isWithin } from '../../model/tree.js';
import { flowPolicy } from './fail.js';
import { finish, type JobEnding } from './finish.js';
import type { Move } from '../intent.js';
import type { World } from '../world.js';
import { isRetried, waitMs } from './retry.js';
import { endSlice } from '../children/slices.js';
import { leafProgress } from '../../reading/entries.js';
import { failureOfFlow } from '../../reading/failed-items.js';
import { interpret } from '../../reading/progress.js';
import type { Progress } from '../../structures/progress.js';
import { undoMove } from './undo.js';
import { workMove } from '../work.js';

/**
 * Advances a flow that has failed at a step: first the flow's retry, then undo tasks, then its
 * error handler, then the end with the exit of the failure, unless the handler set another.
 */
export function failedMove(job: LiveJob, failed: FailedStep, now: number, world: World): Move {
  if (isSlice(job)) return endSlice(job, failed, now, world);
  if (mayRetry(job, failed)) return { kind: 'change', job: nextRun(job, now) };
  const undo = undoMove(job, now, world);
  if (undo !== undefined) return undo;
  const ending = { exit: failed.exit, failure: failureOfFlow(job, failed) };
  const progress = handling(job, failed);
  if (progress === undefined) return { kind: 'change', job: finish(job, ending, now) };
  const isAtRest = progress.begin.length === 0 && !job.steps.some(isOpen);
  if (progress.kind === 'open' || !isAtRest) return workMove(job, progress, now, world);
  return { kind: 'change', job: finish(job, endAfter(job, progress, ending), now) };
}

/** Returns the progress of what handles the failure of the flow; undefined: nothing does. */
function handling(job: LiveJob, failed: FailedStep): Progress | undefined {
  const branch = branchesOf(job.flow_definition).find(({ root }) => root === 'error');
  if (branch !== undefined) return interpret(job, branch.tree, 'error', 'error');
  const handler = handlerLeaf(job, failed);
  return handler && leafProgress(job, handler, 'error');
}

/**
 * How the job ends after its handler. The failure of the flow stays, with the exit that the handler
 * sets, if any; with `"error_result": "handler"` the job ends as the handler does.
 */
function endAfter(job: LiveJob, progress: Ended, ending: JobEnding): JobEnding {
  const isHandlers = job.flow_definition.error_result === 'handler';
  if (progress.kind === 'failed') {
    const { exit, failure } = progress.step;
    return isHandlers ? { exit, failure } : ending;
  }
  const exit = exitSetIn(job) ?? (isHandlers ? exits.success : ending.exit);
  return exit === exits.success ? { exit } : { ...ending, exit };
}

type Ended = Exclude<Progress, { kind: 'open' }>;

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
  const handler = handlerOf(job.flow_definition);
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

/** The exit that was set last by a step of the handler, in this run of the flow. */
function exitSetIn({ steps, run }: LiveJob): number | undefined {
  const set = steps
    .filter((step) => step.run === run && isWithin(step.path, 'error'))
    .filter((step) => typeof step['sets_exit'] === 'number')
    .toSorted((a, b) => Number(a['end']) - Number(b['end']))
    .at(-1);
  return set?.['sets_exit'] as number | undefined;
}
