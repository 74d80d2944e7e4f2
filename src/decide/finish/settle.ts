import { referenceTo } from '../../model/big-result.js';
import { isEnding, mostInAnswer, toDecisions } from '../../model/decisions.js';
import { failure } from '../../model/failures.js';
import type { Job, LiveJob } from '../../model/job.js';
import { isObject } from '../../model/object.js';
import { without } from '../../model/record.js';
import { exits, type Failure, type LiveStep } from '../../model/step.js';
import type { Intent } from '../intent.js';
import type { Acquire, Query } from '../queries.js';
import { withNextDue } from '../waiting/sleep.js';
import { withAttached, withStep, ownAttempt } from '../steps.js';
import { cancelStep, parkStep, requeueStep, restartJob } from './detours.js';
import { failStep } from './fail.js';
import { leafAt } from '../../reading/entries.js';
import type { Outcome } from './outcome.js';
import { decisionMaker } from '../../structures/paths.js';
import { unfitForStep } from './unfit-result.js';
import type { Unfit } from '../start/suits.js';
import type { World } from '../world.js';
import { withReport, withStatus, type Report } from './report.js';
import { askedInVain } from '../../reading/in-vain.js';

/**
 * What became of an outcome. `fenced`: the attempt no longer belongs to this engine, and its
 * outcome is dropped.
 */
export type Settled =
  | { readonly kind: 'settled'; readonly job: LiveJob }
  | { readonly kind: 'fenced'; readonly because: string };

/** An attempt that has ended, by the claim under which it ran. */
export type Ended = {
  readonly claim: string;
  readonly outcome: Outcome;
  /** What it told on the way. */
  readonly report?: Report;
  /** Reads the schemas that results must suit. */
  readonly schema: World['schema'];
};

/**
 * Writes the outcome and the report of an attempt into the job, if its claim is still the one that
 * ran.
 */
export function settle(
  job: Job,
  { claim, outcome, report = {}, schema }: Ended,
  now: number,
): Settled {
  const own = ownAttempt(job, claim);
  if (own.kind === 'fenced') return own;
  const hasReport = Object.keys(report).length > 0;
  const step = hasReport ? withReport(own.step, report) : own.step;
  const reported = hasReport ? withStep(own.job, own.step, step) : own.job;
  const unfit = unfitOutcome(own.job, step, outcome, schema);
  const settled =
    unfit === undefined
      ? settleStep(reported, step, outcome, now)
      : failStep(reported, step, { state: '$$error', ...unfit }, now);
  const told = withStatus(settled, report);
  const { data, dataAnyhow } = report;
  const changed = dataAnyhow === undefined ? told : withData(told, dataAnyhow);
  const isChanged = data !== undefined && hasSucceeded(settled, step.path, outcome);
  return { kind: 'settled', job: isChanged ? withData(changed, data) : changed };
}

/**
 * The job with what an attempt changed in its `data`: key by key, `null` takes a key out. It is
 * written with the outcome, on the newest revision: of steps beside each other the one that ends
 * last has the last word on a key. What did not succeed changes nothing but what is to change anyhow.
 */
function withData(job: LiveJob, changes: NonNullable<Report['data']>): LiveJob {
  const { data } = job;
  const kept: Record<string, unknown> = isObject(data) ? { ...data } : {};
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete kept[key];
    else kept[key] = value;
  }
  return Object.keys(kept).length === 0 ? without(job, 'data') : { ...job, data: kept };
}

/** Why the result of an attempt that succeeded fails it; undefined: nothing is wrong with it. */
function unfitOutcome(
  job: LiveJob,
  step: LiveStep,
  outcome: Outcome,
  schema: World['schema'],
): Unfit | undefined {
  const { success } = exits;
  if (outcome.kind !== 'done' || (outcome.exit ?? success) !== success) return undefined;
  return unfitForStep(job, step, outcome.result, schema);
}

/** An attempt that waits for a signal has done its own part. */
function hasSucceeded(job: LiveJob, path: string, { kind }: Outcome): boolean {
  if (kind === 'wait') return true;
  const last = job.steps.findLast((step) => step.path === path);
  return kind === 'done' && last?.state === '$$complete' && last['warning'] === undefined;
}

function settleStep(job: LiveJob, step: LiveStep, outcome: Outcome, now: number): LiveJob {
  switch (outcome.kind) {
    case 'done':
      return done(job, step, outcome, now);
    case 'failed': {
      const { retryAfterMs, retryable } = outcome;
      const given = retryable === false ? { ...outcome.failure, retryable } : outcome.failure;
      const exit = outcome.exit ?? exits.failed;
      const later = retryAfterMs === undefined ? {} : { retryAfterMs };
      return failStep(job, step, { state: '$$error', failure: given, exit, ...later }, now);
    }
    case 'timeout': {
      const why = failure('StepTimeout', { timeout: outcome.timeoutMs });
      return failStep(job, step, { state: '$$timeout', failure: why, exit: exits.timeout }, now);
    }
    case 'silent': {
      const why = failure('HeartbeatTimeout', { heartbeat: outcome.heartbeatMs });
      return failStep(job, step, { state: '$$timeout', failure: why, exit: exits.timeout }, now);
    }
    case 'cancelled':
      return cancelStep(job, step, { failure: failure('Cancelled', { by: '', reason: '' }) }, now);
    case 'released':
      return cancelStep(job, step, { failure: failure('Released', {}), due: now }, now);
    case 'wait':
      return parkStep(job, step, outcome, now);
    case 'requeue':
      return requeueStep(job, step, outcome, now);
    case 'restart':
      return restartJob(job, step, outcome, now);
  }
}

/**
 * Completes a step. A step that set an exit other than 0 fails; a handler may set the exit of the
 * job.
 */
function done(
  job: LiveJob,
  step: LiveStep,
  { result, exit, big }: Extract<Outcome, { kind: 'done' }>,
  now: number,
): LiveJob {
  if (step.phase !== 'error' && exit !== undefined && exit !== exits.success) {
    const why = failure('ExitSet', { exit });
    return failStep(job, step, { state: '$$error', failure: why, exit }, now);
  }
  const isDecider = typeof step['seen'] === 'number';
  const refusal = isDecider ? refusedAnswer(job, step, result) : undefined;
  if (refusal !== undefined) return failStep(job, step, { state: '$$error', ...refusal }, now);
  // What a decider decided is part of the job's state: it stays in the document.
  const aside = isDecider ? undefined : big;
  const kept = aside === undefined ? result : referenceTo(step, aside);
  const holder = aside === undefined ? job : withAttached(job, step, aside);
  return withStep(holder, step, {
    ...step,
    state: '$$complete',
    end: now,
    exit: exits.success,
    ...(exit === undefined ? {} : { sets_exit: exit }),
    ...(kept === undefined ? {} : { result: kept }),
  });
}

/**
 * Returns why the answer of a decider fails it: it holds no decisions, too many, the decision to
 * fail, or only ones that can have no effect. Undefined: it is accepted.
 */
function refusedAnswer(
  job: LiveJob,
  { path }: LiveStep,
  result: unknown,
): { readonly failure: Failure; readonly exit: number } | undefined {
  if (Array.isArray(result) && result.length > mostInAnswer) {
    const size = { decisions: result.length, most: mostInAnswer, of: 'answer' } as const;
    return { failure: failure('TooManyDecisions', size), exit: exits.definition };
  }
  const answered = toDecisions(result);
  if (!answered.ok) {
    const why = failure('DecisionInvalid', { reason: answered.reason });
    return { failure: why, exit: exits.failed };
  }
  const { decisions } = answered;
  for (const decision of decisions) {
    if (!('fail' in decision)) continue;
    const { fail } = decision as { readonly fail: string | { name?: string; message: string } };
    const given = typeof fail === 'string' ? { message: fail } : fail;
    const why = failure('DeciderFailed', { reason: given.message });
    return { failure: { ...why, ...given, retryable: false }, exit: exits.failed };
  }
  const decider = leafAt(job, decisionMaker(path));
  if (decider === undefined || decisions.length === 0 || decisions.some(isEnding)) return undefined;
  const why = askedInVain(job, decider);
  return why && { failure: why, exit: exits.definition };
}

/** An intent that writes the job. */
export type Writing = Extract<Intent, { kind: 'write' | 'claim' | 'spawn' }>;

/**
 * Returns what to write for a job that was settled and decided upon, but not stored in between:
 * when the decision itself writes nothing, the settled job is written, with the time of a wait
 * (D5).
 */
export function carrying(settled: LiveJob, intent: Exclude<Intent, Query | Acquire>): Writing {
  switch (intent.kind) {
    case 'write':
    case 'claim':
    case 'spawn':
      return intent;
    case 'wait':
      return { kind: 'write', job: withNextDue(settled, intent) };
    case 'ignore':
    case 'abort':
      return { kind: 'write', job: settled };
  }
}
