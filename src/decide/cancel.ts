import { failure } from '../model/failures.js';
import type { LiveJob, NewJob } from '../model/job.js';
import { exits, isLive, type Failure, type Step } from '../model/step.js';
import { begin } from './begin.js';
import { childMove } from './child.js';
import { finish } from './finish.js';
import { hasBegun } from './history.js';
import type { Move, World } from './intent.js';
import { interpret } from './structure/interpret.js';

/**
 * A cancelled job: running attempts are told to stop and may finish, nothing of the flow begins
 * any more, the flow's `cancel` branch runs when something had begun, then the job is final.
 */
export function cancelMove(job: LiveJob, now: number, world: World): Move | undefined {
  if (!isCancelRequested(job)) return undefined;
  const running = job.steps.filter(isLive);
  const mine = running.filter((step) => !isOfBranch(step) && world.me.running.has(step.claim));
  if (mine.length > 0) {
    return {
      kind: 'abort',
      claims: mine.map((step) => step.claim),
      because: 'The job is cancelled.',
    };
  }
  if (running.length > 0) {
    const because = `The job is cancelled; step ${running[0]?.name} still runs.`;
    return { kind: 'wait', because };
  }
  if (job.steps.some(isGivenUp)) return { kind: 'change', job: withoutWaiting(job, now) };
  return childMove(job, now, world) ?? branchMove(job, now, world) ?? endMove(job, now);
}

/** Steps of the cancel branch and their handlers: cancelling does not stop these. */
function isOfBranch({ path }: Step): boolean {
  return path.startsWith('cancel');
}

/** A step that waits for a child job, which the cancelled flow needs no more. */
function isGivenUp(step: Step): boolean {
  return step.state === '$$waiting' && !isOfBranch(step);
}

function withoutWaiting(job: LiveJob, now: number): LiveJob {
  const ended = { state: '$$cancelled' as const, end: now, exit: exits.cancelled };
  const why = cancelled(job);
  const steps = job.steps.map((step) =>
    isGivenUp(step) ? { ...step, ...ended, failure: { ...why, step: step.name } } : step,
  );
  return { ...job, steps };
}

function branchMove(job: LiveJob, now: number, world: World): Move | undefined {
  const { cancel } = job.flow_definition;
  if (cancel === undefined || !hasBegun(job)) return undefined;
  const progress = interpret(job, cancel, 'cancel', 'cancel');
  return progress.kind === 'begin' ? begin(job, progress.beginning, now, world) : undefined;
}

function endMove(job: LiveJob, now: number): Move {
  const ending = { state: '$$cancelled', exit: exits.cancelled, failure: cancelled(job) } as const;
  return { kind: 'change', job: finish(job, ending, now) };
}

export function isCancelRequested({ cancel }: Pick<NewJob | LiveJob, 'cancel'>): boolean {
  return cancel !== undefined && cancel !== false;
}

/** The failure of a cancelled job: who and why, as far as was said. */
export function cancelled({ cancel }: Pick<NewJob | LiveJob, 'cancel'>): Failure {
  const { by, reason } = typeof cancel === 'object' ? cancel : {};
  return failure('Cancelled', {
    by: by === undefined ? '' : ` by ${by}`,
    reason: reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`,
  });
}
