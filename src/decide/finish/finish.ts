import { failure } from '../../model/failures.js';
import { type FinalJob, isFinalState, type LiveJob, type NewJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { exits, isFailed, isOpen, type Failure, type Phase, type Step } from '../../model/step.js';
import {
  retryAsked,
  withEdits,
  withoutPauseAndCancel,
  withRefusedEdit,
} from '../requests/edits.js';
import { completionOn, lastAttempt } from '../../reading/attempts.js';
import { isObject } from '../../model/object.js';

/** How a job ends. */
export type JobEnding = {
  readonly state?: FinalJob['state'];
  readonly exit: number;
  readonly failure?: Failure;
  readonly result?: unknown;
};

/** Returns the final document of a job that was initialised. */
export function finish(job: LiveJob, ending: JobEnding, now: number): FinalJob {
  const { state = '$$complete', exit } = ending;
  const hasProblems = job.problems !== undefined || job.steps.some(({ phase }) => phase in doing);
  const recorded = hasProblems ? withSideFailures(job, ending.failure) : job;
  const {
    next_due: _due,
    resume_at: _at,
    held_since: _since,
    stuck_since: _stuck,
    relock: _relock,
    ...kept
  } = recorded;
  const hasEdits = job.paused !== undefined || job.cancel !== undefined;
  return {
    ...(hasEdits ? withoutPauseAndCancel(kept, state) : kept),
    state,
    end: now,
    exit,
    ...(ending.failure === undefined ? {} : { failure: ending.failure }),
    ...(ending.result === undefined ? {} : { result: ending.result }),
  };
}

const doing: Readonly<Partial<Record<Phase, string>>> = {
  error: 'Handling a failure',
  undo: 'Undoing a step',
  callback: 'A callback',
};

/**
 * Adds a problem for each handler, undo task and callback that failed for good in the run that
 * ends: they are not why the job failed, and would be visible in `steps` only.
 */
function withSideFailures(job: LiveJob, ending: Failure | undefined): LiveJob {
  const found = job.steps.flatMap((step, i) => problemOf(job, step, i, ending));
  const before = (job.problems ?? []).filter(({ path }) => !isOfStep(path));
  if (found.length === 0 && before.length === (job.problems ?? []).length) return job;
  return { ...job, problems: [...before, ...found] };
}

const isOfStep = (path: string): boolean => /^steps\[\d+\]\.failure$/.test(path);

function problemOf(
  job: LiveJob,
  step: Step,
  i: number,
  ending: Failure | undefined,
): readonly Problem[] {
  const what = doing[step.phase];
  if (what === undefined || !isFailed(step) || step.run !== job.run) return [];
  const isLast = lastAttempt(job, step.path) === step && completionOn(job, step.path) === undefined;
  if (!isLast || step.failure.name === 'NotNeeded' || isToldBy(ending, step.failure)) return [];
  const message = `${what} failed: step ${step.name} (${step.path}): ${step.failure.message}`;
  return [{ path: `steps[${i}].failure`, message }];
}

/** That of an item of a map is told after the number of those that failed. */
function isToldBy(ending: Failure | undefined, failure: Failure): boolean {
  const { name, step, message } = failure;
  return ending?.name === name && ending.step === step && ending.message.endsWith(message);
}

/** Returns the final document of a job that never began: no snapshot, no steps, and the reason. */
export function endUnbegun(
  job: NewJob | (Record<string, unknown> & { readonly _id: string; readonly _rev: string }),
  now: number,
  { exit, failure: why, problems = [] }: Refusal,
): FinalJob {
  const listed = problems.length === 0 ? {} : { problems };
  return endedJob(job, now, { exit, failure: why, ...listed });
}

/** Why a job cannot begin, and what was found in its definitions or parameters. */
export type Refusal = {
  readonly exit: number;
  readonly failure: Failure;
  readonly problems?: readonly Problem[] | undefined;
};

/** The end of a job that never began, or that cannot go on with the history it has. */
type EndOfUnbegun = Pick<JobEnding, 'exit' | 'failure'> & {
  readonly problems?: readonly Problem[];
  readonly start?: number;
  readonly steps?: readonly unknown[];
};

/** Returns the final job. The document is copied once: it may have very many keys. */
function endedJob<J extends object>(job: J, now: number, ending: EndOfUnbegun): FinalJob {
  const state = ending.exit === exits.cancelled ? '$$cancelled' : '$$complete';
  const answered: object = withoutPauseAndCancel(withEdits(job as JobDocument, now), state);
  return {
    ...answered,
    type: 'job',
    state,
    ...{ start: now, end: now, steps: [] },
    ...ending,
  } as unknown as FinalJob;
}

/**
 * Ends a job document that cannot be read. Everything the user wrote is kept, except that `steps`
 * and `state` get the engine's own values; a live job keeps its steps when they are a list.
 */
export function endInvalid(
  doc: JobDocument,
  problems: readonly [Problem, ...Problem[]],
  now: number,
): FinalJob {
  const [first, ...more] = problems;
  const why = failure('InvalidJob', { problem: first.message, more: more.length });
  const refusal = { exit: exits.definition, failure: why, problems, ...historyOf(doc, now) };
  return endedJob(doc, now, refusal);
}

/**
 * Ends a job that cannot go on: the database refuses it, or deciding about it fails. A final job
 * keeps its end, and its retry is refused.
 */
export function endRefused(doc: JobDocument, why: Failure, now: number): FinalJob {
  if (isFinalState(doc['state'])) return refuseRetry(doc as FinalJob, why.message, now);
  return endedJob(doc, now, { exit: exits.definition, failure: why, ...historyOf(doc, now) });
}

/** Returns the final job without its retry, which cannot be granted, and with the reason. */
export function refuseRetry(job: FinalJob, because: string, now: number): FinalJob {
  const { retry, ...kept } = job;
  return { ...withRefusedEdit(kept, retryAsked(retry), because, now), retry_refused: because };
}

type JobDocument = Readonly<Record<string, unknown>> & {
  readonly _id: string;
  readonly _rev: string;
};

/** Returns the start and the steps of the job; open steps are cancelled with it. */
function historyOf({ start, steps }: JobDocument, now: number) {
  const why = failure('Cancelled', { by: '', reason: ': its job could not go on' });
  const how = { state: '$$cancelled', end: now, exit: exits.cancelled, failure: why };
  return {
    ...(typeof start === 'number' ? { start } : {}),
    ...(Array.isArray(steps)
      ? { steps: steps.map((step: unknown) => (isOpenStep(step) ? { ...step, ...how } : step)) }
      : {}),
  };
}

function isOpenStep(step: unknown): step is Step {
  return isObject(step) && isOpen(step as Step);
}

/** Returns the failure of a cancelled job: by whom and why, as far as the request says. */
export function cancelled({ cancel }: Pick<NewJob | LiveJob, 'cancel'>): Failure {
  const { by, reason } = typeof cancel === 'object' ? cancel : {};
  return failure('Cancelled', {
    by: by === undefined ? '' : ` by ${by}`,
    reason: reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`,
  });
}
