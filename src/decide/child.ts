import { referenceTo, type BigResult } from '../model/big-result.js';
import { failure } from '../model/failures.js';
import { defaultQueue, type FinalJob, type LiveJob } from '../model/job.js';
import { exits, isFailed, type Failure, type Step, type WaitingStep } from '../model/step.js';
import { withAttached } from './attach.js';
import { canonical } from './canonical.js';
import { untilOf } from './clock.js';
import { failStep } from './fail.js';
import { newAttempt } from './begin.js';
import { finish } from './finish.js';
import { attemptsOf, entryOf, lastAttempt, leafAt, withBegun, withStep } from './history.js';
import { definitionFor, queueOf } from './serving.js';
import { sliceMove } from './slices.js';
import { continueParams } from './structure/decider.js';
import type { Beginning } from './structure/progress.js';
import {
  lookUp,
  type Begun,
  type Child,
  type ChildJob,
  type Move,
  type Wait,
  type World,
} from './intent.js';

/** A step that waits for its child. */
export type ParentStep = WaitingStep & { readonly child: string };

type Attempt = Pick<Step, 'index' | 'path' | 'name' | 'task' | 'attempt' | 'run' | 'phase'>;

/** What a step calls whose task is a flow. */
type Call = {
  readonly attempt: Attempt;
  readonly flow: string;
  readonly params: Readonly<Record<string, unknown>>;
};

/**
 * A step whose task is a flow: a child job is made for it, and the step waits without a slot. In a
 * further run the child that failed goes on; what it has done stays done.
 */
export function beginChild(job: LiveJob, call: Call, now: number, world: World): Begun {
  const { attempt, flow, params } = call;
  const begun = (child: string, more: object = {}): ParentStep => ({
    ...attempt,
    ...{ state: '$$waiting', params, child, ...more, accepted: now, start: now },
  });
  const before = failedBefore(job, attempt);
  const there: Child = before === undefined ? { kind: 'absent' } : world.child(before.child);
  const again = before !== undefined && there.kind !== 'absent' ? begun(before.child) : undefined;
  if (there.kind === 'unknown') return lookUp({ children: [String(before?.child)] });
  if (again !== undefined && isUnderWay(there, before?.state)) {
    return { kind: 'change', job: withBegun(job, again, now) };
  }
  if (again !== undefined && there.kind === 'final' && mayGoOn(there.job, flow)) {
    const step = { ...again, child_run: Number(there.job['run']) + 1 };
    return {
      kind: 'spawn',
      job: withBegun(job, step, now),
      children: [goingOn(job, step, there.job)],
    };
  }
  const step = begun(`${job._id}:${attempt.path}:${attempt.attempt}`);
  return { kind: 'spawn', job: withBegun(job, step, now), children: [childJob(job, step, flow)] };
}

/** The attempt of an earlier run that failed with its child. */
function failedBefore(job: LiveJob, { path, run }: Attempt) {
  const last = lastAttempt(job, path);
  if (last === undefined || !isFailed(last) || last.run === run) return undefined;
  const { state, child } = last as Step & { readonly child?: string };
  return child === undefined ? undefined : { state, child };
}

/** Somebody had it go on already, or it ended well; one that was given up may still be ending. */
function isUnderWay(child: Child, state: Step['state'] | undefined): boolean {
  if (child.kind === 'live') return state === '$$error';
  return child.kind === 'final' && child.job.exit === exits.success;
}

/** It had begun, is of the same flow, and nothing keeps it from going on. */
function mayGoOn(child: FinalJob, flow: string): boolean {
  const { run, retry_refused: refused, flow: own } = child as Readonly<Record<string, unknown>>;
  return run !== undefined && refused === undefined && own === flow;
}

/** A child with the wish to go on, with what is other than before: parameters, definitions. */
function goingOn(job: LiveJob, { path, attempt, params }: ParentStep, child: FinalJob): ChildJob {
  const before = attemptsOf(job, path).find((one) => one.attempt === attempt - 1);
  const isSame = before !== undefined && canonical(before['params']) === canonical(params);
  const wish = {
    ...(isSame ? {} : { params }),
    ...(job.refreshed === job.run ? { latest: true } : {}),
  };
  return { ...child, retry: wish };
}

/** The job goes on as a new one with a fresh history; this one ends when that one is there. */
export function continueAnew(job: LiveJob, beginning: Beginning, now: number): Begun {
  const [, base = job._id, number = '1'] = /^(.*)~(\d+)$/.exec(job._id) ?? [];
  const child = `${base}~${Number(number) + 1}`;
  const step: ParentStep = {
    ...newAttempt(job, beginning),
    state: '$$waiting',
    child,
    continues: true,
    accepted: now,
    start: now,
  };
  return { kind: 'spawn', job: withBegun(job, step, now), children: [nextJob(job, step)] };
}

/** The same order with other parameters. */
function nextJob(job: LiveJob, { path, child }: ParentStep): ChildJob {
  const decider = leafAt(job, path.replace(/\.continue$/, ''));
  const params = decider === undefined ? {} : continueParams(job, decider);
  const kept = [
    ...(['flow', 'owner', 'priority', 'queue', 'keys', 'tags', 'parent'] as const),
    ...(['target', 'locks', 'locked'] as const),
  ] as const;
  const same = Object.fromEntries(
    kept.flatMap((key) => (job[key] === undefined ? [] : [[key, job[key]] as const])),
  );
  const inline = job.flow === undefined ? { tasks: job.tasks } : {};
  return { _id: child, type: 'job', ...same, ...inline, params, continued_from: job._id };
}

/** Priority and queue go down to children; a queue that a child's own flow names comes before one that only the parent's flow named. */
function childJob(job: LiveJob, step: ParentStep, flow: string): ChildJob {
  const { params } = step;
  const queue = queueOf(job);
  return {
    _id: step.child,
    type: 'job',
    flow,
    owner: job.owner ?? job.flow_definition.owner,
    parent: {
      job: job._id,
      step: step.path,
      ...(queue === defaultQueue ? {} : { queue }),
    },
    ...(params === undefined ? {} : { params }),
    ...(job.priority === undefined ? {} : { priority: job.priority }),
    ...(job.queue === undefined ? {} : { queue: job.queue }),
  };
}

/** A step that waits for a child: it ends when the child is final; a child that got lost is made. */
export function childMove(
  job: LiveJob,
  step: ParentStep,
  now: number,
  world: World,
): Move | undefined {
  const child = world.child(step.child);
  if (child.kind === 'unknown') return lookUp({ children: [step.child] });
  if (entryOf(job, step.path)?.slices === true) return sliceMove(job, step, child, now, world);
  switch (child.kind) {
    case 'live':
      return step['continues'] === true ? continued(job, step, now) : undefined;
    case 'absent': {
      if (step['continues'] === true) {
        return { kind: 'spawn', job, children: [nextJob(job, step)] };
      }
      const flow = definitionFor(job, step)?.flow;
      return { kind: 'spawn', job, children: [childJob(job, step, String(flow))] };
    }
    case 'final':
      if (step['continues'] === true) return continued(job, step, now);
      if (!isToGoOn(step, child.job)) {
        return { kind: 'change', job: settleChild(job, step, child, now) };
      }
      if (child.job['retry'] !== undefined) return undefined;
      return { kind: 'spawn', job, children: [goingOn(job, step, child.job)] };
  }
}

/** It ended before the run that is waited for, and may still go on. */
function isToGoOn({ child_run: awaited = 1 }: ParentStep, child: FinalJob): boolean {
  const { run, retry_refused: refused } = child as Readonly<Record<string, unknown>>;
  return Number(run) < awaited && refused === undefined && child.exit !== exits.success;
}

/** The new job is there: this one is done. */
function continued(job: LiveJob, step: ParentStep, now: number): Move {
  const own = ownStep(job, step);
  const ended = { ...step, state: '$$complete' as const, end: now, exit: exits.success };
  const last = { ...withStep(job, own, ended), continued_to: step.child };
  return { kind: 'change', job: finish(last, { exit: exits.success }, now) };
}

/** What a step that has a child waits for; `limit` (epoch ms) is when the job ends anyhow. */
export function childWait(name: string, child: string, limit: number): Wait {
  return { kind: 'wait', because: `Step ${name} waits for job ${child}.`, ...untilOf(limit) };
}

type Ended = {
  readonly job: { readonly exit?: number; readonly result?: unknown; readonly failure?: Failure };
  readonly big?: BigResult;
};

function settleChild(
  job: LiveJob,
  step: ParentStep,
  { job: child, big }: Ended,
  now: number,
): LiveJob {
  const own = ownStep(job, step);
  const exit = child.exit ?? exits.failed;
  if (exit === exits.success) {
    const kept = big === undefined ? child.result : referenceTo(step, big);
    const result = kept === undefined ? {} : { result: kept };
    const holder = big === undefined ? job : withAttached(job, step, big);
    return withStep(holder, own, { ...step, state: '$$complete', end: now, exit, ...result });
  }
  const reason = child.failure?.message ?? `exit ${exit}`;
  // A flow has a retry of its own; only an entry that asks for it has the whole flow run again.
  const { flow, retry } = entryOf(job, step.path) ?? {};
  const again = flow === undefined || retry === undefined ? { retryable: false } : {};
  const why = { ...failure('ChildFailed', { child: step.child, reason }), ...again };
  return failStep(job, own, { state: '$$error', failure: why, exit }, now);
}

/** `job.steps` holds the step itself, not the copy that was made for its child. */
function ownStep(job: LiveJob, { path, attempt }: ParentStep): Step {
  return job.steps.find((one) => one.path === path && one.attempt === attempt) as Step;
}
