import { referenceTo, type BigResult } from '../../model/big-result.js';
import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { exits, isOpen, type Failure } from '../../model/step.js';
import { newAttempt, withAttached, withBegun, withStep } from '../steps.js';
import { goingOn, isToGoOn, type FlowCall } from './child-again.js';
import { underOwnId, type ParentStep } from './child-step.js';
import { untilOf } from '../../reading/clock.js';
import { unfitForStep } from '../finish/unfit-result.js';
import { failStep } from '../finish/fail.js';
import { withChildRemade } from './child-remade.js';
import { finish } from '../finish/finish.js';
import { ownStep } from '../../reading/attempts.js';
import { entryOf, leafAt, definitionFor } from '../../reading/entries.js';
import { childId, continuedFrom, depthOf, parentLinkOf } from '../../reading/parent.js';
import { isObject } from '../../model/object.js';
import { sliceMove } from './slices.js';
import { continueParams } from '../../reading/decider-progress.js';
import type { Beginning } from '../../structures/progress.js';
import { lookUp } from '../queries.js';
import type { Begun, ChildJob, Move, Wait } from '../intent.js';
import type { World } from '../world.js';

/** Creates a child job for a step whose task is a flow; the step waits for it without a slot. */
export function spawnChild(job: LiveJob, call: FlowCall, now: number): Begun {
  const { attempt, params } = call;
  const child = childId(job, attempt);
  const step: ParentStep = {
    ...attempt,
    state: '$$waiting',
    params,
    child,
    accepted: now,
    start: now,
  };
  const waiting = withBegun(job, step, now);
  return { kind: 'spawn', job: waiting, children: [childJob(job, step, call)] };
}

/**
 * Continues the job as a new one with a fresh history; this one ends when the new one is stored.
 */
export function continueAnew(job: LiveJob, beginning: Beginning, now: number): Begun {
  const attempt = { ...newAttempt(job, beginning), continues: true };
  const step: ParentStep = {
    ...attempt,
    state: '$$waiting',
    child: childId(job, attempt),
    accepted: now,
    start: now,
  };
  return { kind: 'spawn', job: withBegun(job, step, now), children: [nextJob(job, step)] };
}

/** Returns the same job with other parameters. */
function nextJob(job: LiveJob, { path, child }: ParentStep): ChildJob {
  const decider = leafAt(job, path.replace(/\.continue$/, ''));
  const params = decider === undefined ? {} : continueParams(job, decider);
  const kept = [
    ...(['flow', 'owner', 'priority', 'queue', 'keys', 'tags', 'parent', 'data'] as const),
    ...(['notify', 'notifies', 'schedule', 'started_by', 'subject'] as const),
    ...(['target', 'locks', 'unique', 'locked'] as const),
  ] as const;
  const inline = job.flow === undefined ? { tasks: job.tasks } : {};
  const { flow_pinned: isPinned, flow_version: version } = job;
  const asked = isPinned === true && version !== undefined ? { flow_version: version } : {};
  return {
    _id: child,
    type: 'job',
    ...sameOf(job, kept),
    ...asked,
    ...inline,
    params,
    ...continuedFrom(job),
  };
}

/**
 * Returns the child job of a step. It inherits priority, queue and subject; the queue of its own flow takes
 * precedence over one that only the flow of the parent names.
 */
function childJob(
  job: LiveJob,
  step: ParentStep,
  { flow, version }: Pick<FlowCall, 'flow' | 'version'>,
): ChildJob {
  const { params } = step;
  return {
    _id: step.child,
    type: 'job',
    flow,
    ...(version === undefined ? {} : { flow_version: version }),
    owner: job.owner ?? job.flow_definition.owner,
    parent: parentLinkOf(job, step, depthOf(job) + 1),
    ...(params === undefined ? {} : { params }),
    ...sameOf(job, ['priority', 'queue', 'subject']),
  };
}

/** What a job has of these keys. */
function sameOf<K extends keyof LiveJob>(
  job: LiveJob,
  keys: readonly K[],
): Partial<Pick<LiveJob, K>> {
  const there = keys.flatMap((key) => (job[key] === undefined ? [] : [[key, job[key]] as const]));
  return Object.fromEntries(there) as Partial<Pick<LiveJob, K>>;
}

/** Fails the step whose child job the database refuses. */
export function failChild(job: LiveJob, child: string, why: Failure, now: number): LiveJob {
  const step = job.steps.find((one) => one['child'] === child && isOpen(one));
  if (step === undefined) return job;
  return failStep(job, step, { state: '$$error', failure: why, exit: exits.definition }, now);
}

/**
 * Advances a step that waits for a child: it ends when the child is final; a child that got lost is
 * created again.
 */
export function childMove(
  job: LiveJob,
  step: ParentStep,
  now: number,
  world: World,
): Move | undefined {
  if (entryOf(job, step.path)?.slices === true) return sliceMove(job, step, now, world);
  const child = world.child(step.child);
  switch (child.kind) {
    case 'unknown':
      return lookUp({ children: [step.child] });
    case 'live':
      return step['continues'] === true ? continued(job, step, now) : undefined;
    case 'absent':
      return {
        kind: 'spawn',
        job: withChildRemade(job, step, child, now),
        children: [childOf(job, step)],
      };
    case 'foreign':
      return underOwnId(job, step, now, (next, own) => ({
        kind: 'spawn',
        job: next,
        children: [childOf(next, own)],
      }));
    case 'final':
      if (step['continues'] === true) return continued(job, step, now);
      if (!isToGoOn(step, child.job)) {
        return { kind: 'change', job: settleChild(job, step, child, { now, world }) };
      }
      if (child.job['retry'] !== undefined) return undefined;
      return { kind: 'spawn', job, children: [goingOn(job, step, child.job)] };
  }
}

function childOf(job: LiveJob, step: ParentStep): ChildJob {
  if (step['continues'] === true) return nextJob(job, step);
  const task = definitionFor(job, step);
  return childJob(job, step, { flow: String(task?.flow), version: task?.flow_version });
}

/** Completes the job whose continuation is stored. */
function continued(job: LiveJob, step: ParentStep, now: number): Move {
  const own = ownStep(job, step);
  const ended = { ...step, state: '$$complete' as const, end: now, exit: exits.success };
  const last = { ...withStep(job, own, ended), continued_to: step.child };
  return { kind: 'change', job: finish(last, { exit: exits.success }, now) };
}

/**
 * Returns the wait of a step that has a child; `limit` (epoch ms) is when the job ends in any case.
 */
export function childWait(name: string, child: string, limit: number): Wait {
  return { kind: 'wait', because: `Step ${name} waits for job ${child}.`, ...untilOf(limit) };
}

type Ended = {
  readonly job: {
    readonly _id: string;
    readonly exit?: number;
    readonly result?: unknown;
    readonly failure?: Failure;
  };
  readonly big?: BigResult;
};

function settleChild(
  job: LiveJob,
  step: ParentStep,
  ended: Ended,
  { now, world }: { readonly now: number; readonly world: World },
): LiveJob {
  const { exit = exits.failed } = ended.job;
  if (exit !== exits.success) return childFailed(job, step, ended, now);
  const own = ownStep(job, step);
  const { job: child, big } = ended;
  const value = big === undefined ? child.result : big.value;
  const unfit = unfitForStep(job, own, value, world.schema);
  if (unfit !== undefined) return failStep(job, own, { state: '$$error', ...unfit }, now);
  const kept = big === undefined ? child.result : referenceTo(step, big);
  const result = kept === undefined ? {} : { result: kept };
  const holder = big === undefined ? job : withAttached(job, step, big);
  return withStep(holder, own, { ...step, state: '$$complete', end: now, exit, ...result });
}

function childFailed(job: LiveJob, step: ParentStep, { job: child }: Ended, now: number): LiveJob {
  const { exit = exits.failed } = child;
  const cause = causeOf(child);
  const of = cause === undefined || cause.job === child._id ? '' : `job ${cause.job}: `;
  const reason = cause === undefined ? `exit ${exit}` : `${of}${cause.message}`;
  // A flow has a retry of its own; only an entry that asks for it has the whole flow run again.
  const { flow, retry } = entryOf(job, step.path) ?? {};
  const again = flow === undefined || retry === undefined ? { retryable: false } : {};
  // A child that went on as other jobs has failed in the last of them.
  const origin = cause === undefined ? {} : { cause };
  const why = { ...failure('ChildFailed', { child: child._id, reason }), ...origin, ...again };
  return failStep(job, ownStep(job, step), { state: '$$error', failure: why, exit }, now);
}

/** The failure at the root of that of a child, however deep below it. */
type Cause = { readonly job: string; readonly name: string; readonly message: string };

function causeOf({ _id: job, failure: why }: Ended['job']): Cause | undefined {
  if (why === undefined) return undefined;
  const { name, message, cause } = why;
  // What a branch caught is of the same job.
  const isOfChild = isObject(cause) && typeof cause['job'] === 'string';
  return isOfChild ? (cause as Cause) : { job, name, message };
}
