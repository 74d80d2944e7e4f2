import { failure } from '../../model/failures.js';
import { isLiveJob, type FinalJob, type Job, type LiveJob, type NewJob } from '../../model/job.js';
import { isObject } from '../../model/object.js';
import type { Problem } from '../../model/problems.js';
import { exits } from '../../model/step.js';
import { withProblem } from '../start/noted.js';

/*
 * Edits that no engine makes and that the guard refuses. Where a database has no guard, the job tells
 * of them in `problems`.
 */

type Doc = Readonly<Record<string, unknown>>;

/** Whether a final job is one that an engine may have ended: with its exit, and steps or a failure. */
export function hasItsEnd({ exit, steps, failure: why }: Doc): boolean {
  return typeof exit === 'number' && (Array.isArray(steps) || isObject(why));
}

/** Returns the final job with what it lacks to be one, and with the reason. */
export function withItsEnd(job: FinalJob): FinalJob {
  const { exit, state, steps } = job;
  const lacks = typeof exit === 'number' ? '"steps"' : '"exit"';
  const message = `No engine has ended this job: its "state" was written as ${state}, and it has no ${lacks}. Nothing more is run; submit it again without a state.`;
  const why = failure('InvalidJob', { problem: message, more: 0 });
  const whole = {
    ...job,
    exit: typeof exit === 'number' && exit !== exits.success ? exit : exits.definition,
    failure: isObject(job.failure) ? job.failure : why,
    steps: Array.isArray(steps) ? steps : [],
  };
  return withProblem(whole as FinalJob, { path: 'state', message });
}

/** Whether somebody added a step that has not ended to a final job: nothing comes after its last event. */
export function hasAddedStep({ steps }: Doc): boolean {
  const last: unknown = Array.isArray(steps) ? steps.at(-1) : undefined;
  return isObject(last) && !isEnded(last);
}

/** Returns the final job without the steps that were added to its end, and tells of them. */
export function withoutAddedSteps(job: FinalJob): FinalJob {
  const { steps } = job as unknown as { readonly steps: readonly unknown[] };
  const kept = steps.slice(0, steps.findLastIndex(isEnded) + 1);
  const message = `This job is finished: steps that were added to it do not run, and were taken out again: ${named(steps.slice(kept.length))}. Ask for a retry, or store a new job.`;
  return withProblem({ ...job, steps: kept } as FinalJob, { path: 'steps', message });
}

/** Whether somebody wrote another state into a job that had ended. */
export function wasFinal(job: Job): job is LiveJob {
  const { end, exit } = job as Doc;
  return isLiveJob(job) && typeof end === 'number' && typeof exit === 'number';
}

/** Returns the job as it had ended, with the reason: it goes on by a retry alone. */
export function asEnded(job: LiveJob): FinalJob {
  const { exit } = job as Doc;
  const state = exit === exits.cancelled ? '$$cancelled' : '$$complete';
  const message = `This job is finished and stays ${state}: ${job.state} was written into it. Ask for a retry, or store a new job.`;
  return withProblem({ ...job, state } as unknown as FinalJob, { path: 'state', message });
}

/**
 * Returns a job that begins, with a problem if it had begun before: it has steps, and this is not its
 * first revision. A copy of a job is a new document, which has never had the steps in it.
 */
export function withFormerSteps<J extends Job>(submitted: NewJob, begun: J): J {
  const { _rev, steps } = submitted as NewJob & Doc;
  if (!Array.isArray(steps) || steps.length === 0 || _rev.startsWith('1-')) return begun;
  const message = `The "state" was taken out of this job after it had begun, so it begins again. It had ${named(steps)}.`;
  return withProblem(begun, { path: 'state', message });
}

/**
 * Tells which ended steps of a revision are not in a later one as they were, written by somebody
 * else; undefined when all are, or when a later run began meanwhile.
 */
export function goneSteps(before: Doc, now: Doc): Problem | undefined {
  const { steps } = before;
  const isRun = now['type'] === 'job' && runOf(now) === runOf(before) && 'state' in now;
  if (!isRun || !Array.isArray(steps)) return undefined;
  const left: readonly unknown[] = Array.isArray(now['steps']) ? now['steps'] : [];
  const gone = steps.filter((step, i) => isEnded(step) && !isSame(step, left[i]));
  if (gone.length === 0) return undefined;
  const message = `The entries of ended steps were removed or changed by hand. They were ${named(gone)}.`;
  return { path: 'steps', message };
}

function runOf({ run }: Doc): number {
  return typeof run === 'number' ? run : 0;
}

function isEnded(step: unknown): step is Doc {
  return isObject(step) && typeof step['end'] === 'number';
}

function isSame(step: Doc, now: unknown): boolean {
  const keys = ['state', 'end', 'attempt', 'path'];
  return isObject(now) && keys.every((key) => step[key] === now[key]);
}

/** At most this many steps are named. */
const mostNamed = 10;

function named(steps: readonly unknown[]): string {
  const first = steps.slice(0, mostNamed).map((step) => {
    const { name, path, attempt, state } = isObject(step) ? step : ({} as Doc);
    return `${String(name)} (${String(path)}, attempt ${String(attempt)}, ${String(state)})`;
  });
  const more = steps.length > mostNamed ? ` and ${steps.length - mostNamed} more` : '';
  return `${first.join(', ')}${more}`;
}
