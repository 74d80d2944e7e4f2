import { failure } from '../../model/failures.js';
import { defaultRestarts } from '../../model/flow.js';
import type { LiveJob } from '../../model/job.js';
import { exits, isLive, type Failure, type LiveStep, type Step } from '../../model/step.js';
import { untilOf } from '../../reading/clock.js';
import { failStep, firstAcceptedOf } from './fail.js';
import { attemptsOf } from '../../reading/attempts.js';
import { withStep } from '../steps.js';
import type { Outcome } from './outcome.js';
import { definitionFor, totalDeadline } from '../../reading/entries.js';

/*
 * Ends of an attempt that are no end of its step: the plugin waits for a signal, begins again, or
 * has the whole job begin anew.
 */

type Of<K extends Outcome['kind']> = Extract<Outcome, { kind: K }>;

/**
 * Makes the step wait, without a slot, for a signal of that name, within the total time of its
 * attempts.
 */
export function parkStep(
  job: LiveJob,
  step: LiveStep,
  { signal, timeoutMs, details }: Of<'wait'>,
  now: number,
): LiveJob {
  return withStep(job, step, {
    ...step,
    state: '$$waiting',
    signal,
    since: now,
    ...untilOf(now + (timeoutMs ?? Infinity), totalDeadline(job, step)),
    ...(details === undefined ? {} : { details }),
  });
}

/** Maximum number of requeues of a step in one run: each adds an entry to the job. */
const mostRequeues = 1_000;

/** Ends the attempt and lets it begin again after a delay; it uses up no retry. */
export function requeueStep(
  job: LiveJob,
  step: LiveStep,
  { delayMs }: Of<'requeue'>,
  now: number,
): LiveJob {
  const due = now + delayMs;
  const totalMs = definitionFor(job, step)?.total_timeout ?? 0;
  if (totalMs !== 0 && due > firstAcceptedOf(job, step, now) + totalMs) {
    const why = { ...failure('TotalTimeout', { timeout: totalMs }), retryable: false };
    return failStep(job, step, { state: '$$timeout', failure: why, exit: exits.timeout }, now);
  }
  const earlier = attemptsOf(job, step.path).filter(
    (attempt) => attempt.run === step.run && isRequeued(attempt),
  );
  if (earlier.length >= mostRequeues) {
    const why = { ...failure('RequeueLimit', { limit: mostRequeues }), retryable: false };
    return failStep(job, step, { state: '$$error', failure: why, exit: exits.failed }, now);
  }
  return cancelStep(job, step, { failure: failure('Requeued', {}), due }, now);
}

function isRequeued(step: Step): boolean {
  return step.state === '$$cancelled' && step.failure.name === 'Requeued';
}

/**
 * Restarts the job from its first step, with its definitions and parameters, and with the full time
 * of mode `start`. Earlier results no longer count; running and waiting steps are given up.
 */
export function restartJob(
  job: LiveJob,
  step: LiveStep,
  { delayMs }: Of<'restart'>,
  now: number,
): LiveJob {
  const limit = job.flow_definition.restarts ?? defaultRestarts;
  const restarts = (job.restarts ?? 0) + 1;
  if (restarts > limit) {
    const why = { ...failure('RestartLimit', { limit }), retryable: false };
    return failStep(job, step, { state: '$$error', failure: why, exit: exits.failed }, now);
  }
  const begin = now + delayMs;
  const open = job.steps.filter((one) => isLive(one) || one.state === '$$waiting');
  const ended = open.reduce(
    (left, one) =>
      cancelStep(left, one, { failure: failure('Restarted', { step: step.name }) }, now),
    job,
  );
  return {
    ...ended,
    state: '$$ready',
    run: job.run + 1,
    first_run: job.run + 1,
    restarts,
    timed_from: begin,
    held_ms: 0,
    ...(delayMs === 0 ? {} : { resume_at: begin }),
  };
}

/** Why an attempt ends that says nothing about the work itself. */
type Cancelling = {
  readonly failure: Failure;
  /** When the step begins again (epoch ms); absent: it does not. */
  readonly due?: number;
};

/** Ends an attempt as cancelled, which uses up no retry. */
export function cancelStep(
  job: LiveJob,
  step: Step,
  { failure: why, ...more }: Cancelling,
  now: number,
): LiveJob {
  return withStep(job, step, {
    ...step,
    state: '$$cancelled',
    end: now,
    exit: exits.cancelled,
    failure: { ...why, step: step.name },
    ...more,
  });
}
