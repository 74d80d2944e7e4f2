import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { toRetryPolicy, type RetryPolicy } from '../../model/retry.js';
import { usualRetry, type RetryDefaults } from '../../model/usual-retry.js';
import { exits, isFailed, type Failure, type FailedStep, type Step } from '../../model/step.js';
import type { Catalogued } from '../../model/catalogue.js';
import { cataloguedAs, judged, policyFor } from './catalogue.js';
import { attemptsOf } from '../../reading/attempts.js';
import { withStep } from '../steps.js';
import { entryOf, definitionFor } from '../../reading/entries.js';
import { isRetried, retryDue } from './retry.js';

/** How an attempt failed. */
type Failing = {
  readonly state: FailedStep['state'];
  readonly failure: Failure;
  readonly exit: number;
  /** When the plugin asked for the next attempt, ms from now. */
  readonly retryAfterMs?: number;
};

/**
 * Ends an attempt as failed. The retry policy is applied here and nowhere else: a step that is
 * retried gets the time of its next attempt as `due`; without `due` it is given up. A failure that
 * the flow's catalogue calls a warning does not fail the step: the step completes and the failure
 * is kept as its warning.
 */
export function failStep(job: LiveJob, step: Step, failing: Failing, now: number): LiveJob {
  const { state, exit } = failing;
  const catalogued = cataloguedAs(job, failing.failure);
  const given: Failure = { ...judged(failing.failure, catalogued), step: step.name };
  const due = nextAttempt(job, step, { ...failing, failure: given, catalogued }, now);
  if (due === undefined && catalogued.severity === 'warning') {
    return warnStep(job, step, given, now);
  }
  const ended = { ...step, state, end: now, exit, failure: given } as FailedStep;
  return withStep(job, step, due === undefined ? ended : { ...ended, due });
}

function warnStep(job: LiveJob, step: Step, warning: Failure, now: number): LiveJob {
  const { failure: _failure, ...kept } = step as FailedStep;
  return withStep(job, step, {
    ...kept,
    state: '$$complete',
    end: now,
    exit: exits.success,
    warning,
  });
}

/** A failed attempt, with what the flow's catalogue says of its failure. */
type Judged = Failing & { readonly catalogued: Catalogued };

/**
 * Returns when the next attempt is due; undefined: there is none. A failure of the definition is
 * never retried.
 */
function nextAttempt(
  job: LiveJob,
  step: Step,
  { failure: given, exit, retryAfterMs, catalogued }: Judged,
  now: number,
): number | undefined {
  if (exit === exits.definition) return undefined;
  const policy = policyFor(catalogued, policyOf(job, step), defaultsIn(job));
  const attempts = attemptsOf(job, step.path).filter((attempt) => attempt.run === job.run);
  const totalMs = definitionFor(job, step)?.total_timeout;
  return retryDue(
    policy,
    {
      failure: given,
      failed: attempts.filter((attempt) => !isBlameless(attempt)).length,
      firstAccepted: firstAcceptedOf(job, step, now),
      seed: `${job._id}:${step.path}:${step.attempt}`,
      ...(totalMs === undefined || totalMs === 0 ? {} : { totalMs }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
    now,
  );
}

/**
 * Returns when the first attempt of the step in this run was accepted; `now` when no attempt says
 * so.
 */
export function firstAcceptedOf(job: LiveJob, { path }: Step, now: number): number {
  const attempts = attemptsOf(job, path).filter((attempt) => attempt.run === job.run);
  const accepted = attempts.find((attempt) => 'accepted' in attempt)?.['accepted'];
  return typeof accepted === 'number' ? accepted : now;
}

/** Whether an attempt says nothing about the work itself: it uses up no retry. */
function isBlameless(step: Step): boolean {
  return isLost(step) || (step.state === '$$cancelled' && blameless.has(step.failure.name));
}

const blameless = new Set(['Released', 'Requeued']);

/**
 * Whether the engine of the attempt was lost. The exit distinguishes it from an error of that name
 * that a plugin threw.
 */
function isLost(step: Step): boolean {
  return isFailed(step) && step.exit === exits.lost && step.failure.name === 'EngineLost';
}

/**
 * Returns the policy of a step: that of its entry, else of its task; the delay falls back to the
 * flow's.
 */
function policyOf(job: LiveJob, step: Step): RetryPolicy {
  const written = entryOf(job, step.path)?.retry ?? definitionFor(job, step)?.retry;
  return toRetryPolicy(written, defaultsIn(job));
}

/** What retries of steps wait where they say nothing: the flow's delay, else the job's settings. */
function defaultsIn(job: LiveJob): RetryDefaults {
  return { ...settingsOf(job), delay: flowPolicy(job).delay };
}

/**
 * Returns the flow's own retry policy; without a delay of its own it gets that of the job or of the
 * engine's settings.
 */
export function flowPolicy(job: LiveJob): RetryPolicy {
  return toRetryPolicy(job.flow_definition.retry, settingsOf(job));
}

function settingsOf({ retry_delay, retry_factor, retry_max }: LiveJob): RetryDefaults {
  const { delay, factor, max } = usualRetry;
  return { delay: retry_delay ?? delay, factor: retry_factor ?? factor, max: retry_max ?? max };
}

/**
 * Ends an attempt whose engine is dead. It is retried at once, whatever the number of retries,
 * until `crashLimit` attempts of the step were lost; `never: ["EngineLost"]` forbids that.
 */
export function loseStep(job: LiveJob, step: Step, crashLimit: number, now: number): LiveJob {
  const engine = String(step['engine']);
  const given = { ...failure('EngineLost', { engine }), step: step.name };
  const earlier = attemptsOf(job, step.path).filter(
    (attempt) => attempt.run === job.run && isLost(attempt),
  );
  const poison = earlier.length + 1 >= crashLimit;
  if (poison || !isRetried({ ...policyOf(job, step), on: ['*'] }, given)) {
    const why = poison ? failure('CrashLimit', { engine, limit: crashLimit }) : given;
    const givenUp = { ...why, step: step.name, retryable: false };
    return withStep(job, step, {
      ...step,
      state: '$$error',
      end: now,
      exit: exits.lost,
      failure: givenUp,
    });
  }
  return withStep(job, step, {
    ...step,
    state: '$$error',
    end: now,
    exit: exits.lost,
    failure: given,
    due: now,
  });
}
