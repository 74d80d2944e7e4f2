import { isFinalState, isLiveJob, isNew, type Job } from '../../model/job.js';
import { isOpen, type Step } from '../../model/step.js';
import type { GivenUp } from '../intent.js';
import { continuationOf, isMadeBy, isStartOf } from '../../reading/parent.js';
import { isObject } from '../../model/object.js';
import { without } from '../../model/record.js';
import { withRefusal } from '../requests/refusal.js';

type Doc = Readonly<Record<string, unknown>>;
type JobDocument = Doc & { readonly _id: string };

/**
 * Returns the child jobs that a job gives up between two versions: those of steps that waited for a
 * child and ended without it.
 */
export function abandoned(before: Job, after: Job): readonly GivenUp[] {
  if (!isLiveJob(before)) return [];
  const waiting = before.steps.filter(({ state }) => state === '$$waiting');
  if (waiting.length === 0) return [];
  const states = new Map(stepsOf(after).map((step) => [attemptKey(step), step.state]));
  const isGivenUp = (step: Step): boolean => {
    const state = states.get(attemptKey(step));
    return state === '$$cancelled' || state === '$$timeout';
  };
  return waiting.filter(isGivenUp).flatMap((step) => givenUp(before, step));
}

function attemptKey({ path, attempt, run }: Step): string {
  return `${path}:${attempt}:${run}`;
}

function stepsOf(job: Job): readonly Step[] {
  return isNew(job) ? [] : (job.steps ?? []);
}

/**
 * Returns the child jobs that a job leaves behind when it cannot go on; its document need not be
 * valid. They are the children that its open steps wait for, and those of `children` (unfinished
 * jobs that name it as their parent) that it made: its `steps` or its `start` may have been
 * damaged.
 */
export function leftBy(
  doc: JobDocument,
  children: readonly JobDocument[] = [],
): readonly GivenUp[] {
  const open = recordedSteps(doc).filter((step) => isOpen(step as Step));
  const waiting = open.flatMap((step) => givenUp(doc, step));
  const attempts = new Map(waiting.map(({ child, attempt }) => [child, attempt]));
  const own = children.flatMap((child) => ownChild(doc, child, attempts.get(child._id)));
  const found = new Set(own.map(({ child }) => child));
  return [...waiting.filter(({ child }) => !found.has(child)), ...own];
}

/**
 * Returns a child that its own document tells of. When no attempt waits for it, its own run is used
 * instead.
 */
export function ownChild(
  doc: JobDocument,
  child: JobDocument,
  attempt?: GivenUp['attempt'],
): readonly GivenUp[] {
  const { _id, flow, run, parent } = child;
  const { job, step, start } = isObject(parent) ? parent : {};
  if (job !== doc._id || typeof start !== 'number') return [];
  if (!isStartOf(start, doc) && !hasSpoiltStart(doc)) return [];
  const ofRun = typeof run === 'number' ? run : 1;
  const instead = {
    ...{ _id, type: 'job' as const, flow: String(flow) },
    parent: { job, step: String(step), start },
    cancel: { reason: reasonOf(job) },
  };
  return [{ child: _id, attempt: attempt ?? `run-${ofRun}`, run: ofRun, instead }];
}

/** It is no time, or the job would have begun after one of its steps. */
function hasSpoiltStart(doc: JobDocument): boolean {
  const { start } = doc;
  if (typeof start !== 'number') return true;
  return recordedSteps(doc).some(({ accepted }) => Number(accepted) < start);
}

function recordedSteps({ steps }: JobDocument): readonly Doc[] {
  return Array.isArray(steps) ? (steps as readonly unknown[]).filter(isObject) : [];
}

/** Returns the child of a step as its job gives it up; nothing for a step without a child. */
export function givenUp(job: JobDocument, step: Doc): readonly GivenUp[] {
  const { child, attempt, path, task, child_run: run } = step;
  if (typeof child !== 'string') return [];
  const { _id, start, flow_definition: flow } = job;
  const owner = job['owner'] ?? (isObject(flow) ? flow['owner'] : undefined);
  const instead = {
    _id: child,
    type: 'job' as const,
    flow: String(task),
    ...(typeof owner === 'string' ? { owner } : {}),
    parent: { job: _id, step: String(path), ...(typeof start === 'number' ? { start } : {}) },
    cancel: { reason: reasonOf(_id) },
  };
  const { also_started: starts } = job;
  const ofRun = typeof run === 'number' ? run : 1;
  return [{ child, attempt: Number(attempt), run: ofRun, starts, instead }];
}

function reasonOf(parent: string): string {
  return `its parent job ${parent} does not need it any more`;
}

/** The document that gives a child up. */
type Cancel =
  /** Nothing: it has ended, or it is the child of another job. */
  | { readonly kind: 'none' }
  /** A request to cancel; one of this id that is there already says the same. */
  | { readonly kind: 'request'; readonly doc: JobDocument }
  /** The child itself, made or written again; who is faster has to be heard first. */
  | { readonly kind: 'child'; readonly doc: JobDocument };

/**
 * What gives up a child of which this document was read (undefined: there is none).
 *
 * G1 A child that is not there may be under way: it is made as a cancelled job, so that whoever makes
 *    it later meets a conflict.
 * G2 A child that has ended may be about to go on for the attempt: its request is withdrawn, and its
 *    next revision makes a request that is under way a conflict.
 * G3 Any other child is asked to cancel, by a request of its own for each attempt: what an earlier
 *    one asked for is on record in the child and does nothing more.
 */
export function cancelOf(given: GivenUp, there?: JobDocument): Cancel {
  const { child, attempt, run, starts, instead } = given;
  if (there === undefined) return { kind: 'child', doc: instead };
  const { job: parent, start } = instead.parent;
  const maker = { _id: parent, _rev: '', start, also_started: starts };
  if (!isMadeBy(there, maker)) return { kind: 'none' };
  // A job that went on as another one hands the request on to it.
  if (isFinalState(there['state']) && continuationOf(there) === undefined) {
    const isAwaited = Number(there['run']) < run;
    return isAwaited ? { kind: 'child', doc: without(there, 'retry') } : { kind: 'none' };
  }
  const asked = { type: 'request', job: child, action: 'cancel', reason: reasonOf(parent) };
  return { kind: 'request', doc: { _id: `${requestOf(child)}:${attempt}`, ...asked } };
}

/** A child that its parent cannot cancel. */
export type UncancelledChild = {
  readonly child: string;
  /** Path of the step that gives it up. */
  readonly step: string;
  /** Id of the cancel request. */
  readonly id: string;
  /** Why, in one sentence. */
  readonly because: string;
};

/** Describes a child whose cancel request the database refuses. */
export function uncancelled(
  { child, attempt, instead }: GivenUp,
  because: string,
): UncancelledChild {
  return { child, step: instead.parent.step, id: `${requestOf(child)}:${attempt}`, because };
}

/**
 * Records, under `requests` of the parent, each child that it gives up and cannot cancel: such a
 * child continues to run.
 */
export function withUncancelled<J extends JobDocument>(
  parent: J,
  children: readonly UncancelledChild[],
  now: number,
): J {
  return children.reduce<J>((job, { child, step, id, because }) => {
    const cancel = { type: 'request', job: child, action: 'cancel', step } as const;
    const why = `Child job ${child} cannot be cancelled and may go on: ${because}`;
    const message = { ...cancel, _id: id, reason: reasonOf(job._id) };
    return withRefusal(job as unknown as Job, message, why, now) as unknown as J;
  }, parent);
}

/** Whether a request id belongs to the cancel request of a parent that gives the job up. */
export function isCancelByParent(job: string, request: string): boolean {
  return request.startsWith(`${requestOf(job)}:`);
}

function requestOf(child: string): string {
  return `request:${child}:parent`;
}
