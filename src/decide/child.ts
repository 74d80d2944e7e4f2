import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { exits, type Failure, type Step, type WaitingStep } from '../model/step.js';
import { untilOf } from './clock.js';
import { failStep } from './fail.js';
import { entryOf, withBegun, withStep } from './history.js';
import { lookUp, type ChildJob, type Move, type Wait, type World } from './intent.js';

/** A step that waits for its child. */
export type ParentStep = WaitingStep & { readonly child: string };

type Attempt = Pick<Step, 'index' | 'path' | 'name' | 'task' | 'attempt' | 'run' | 'phase'>;

/** A step whose task is a flow: a child job is made for it, and the step waits without a slot. */
export function spawnChild(
  job: LiveJob,
  attempt: Attempt,
  flow: string,
  params: Readonly<Record<string, unknown>>,
  now: number,
): Move {
  const child = `${job._id}:${attempt.path}:${attempt.attempt}`;
  const step: ParentStep = {
    ...attempt,
    state: '$$waiting',
    params,
    child,
    accepted: now,
    start: now,
  };
  const waiting = withBegun(job, step, now);
  return { kind: 'spawn', job: waiting, children: [childJob(job, step, flow)] };
}

function childJob(job: LiveJob, step: ParentStep, flow: string): ChildJob {
  const { params } = step;
  return {
    _id: step.child,
    type: 'job',
    flow,
    owner: job.owner ?? job.flow_definition.owner,
    parent: { job: job._id, step: step.path },
    ...(params === undefined ? {} : { params }),
    ...(job.priority === undefined ? {} : { priority: job.priority }),
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
  switch (child.kind) {
    case 'unknown':
      return lookUp({ children: [step.child] });
    case 'live':
      return undefined;
    case 'absent': {
      const flow = entryOf(job, step.path)?.flow ?? job.definitions[step.task]?.flow;
      return { kind: 'spawn', job, children: [childJob(job, step, String(flow))] };
    }
    case 'final':
      return { kind: 'change', job: settleChild(job, step, child.job, now) };
  }
}

/** What a step that has a child waits for; `limit` (epoch ms) is when the job ends anyhow. */
export function childWait(name: string, child: string, limit: number): Wait {
  return { kind: 'wait', because: `Step ${name} waits for job ${child}.`, ...untilOf(limit) };
}

type Ended = { readonly exit?: number; readonly result?: unknown; readonly failure?: Failure };

function settleChild(job: LiveJob, step: ParentStep, child: Ended, now: number): LiveJob {
  // `job.steps` holds the step itself, not the copy with its child.
  const own = job.steps.find(
    (one) => one.path === step.path && one.attempt === step.attempt,
  ) as Step;
  const exit = child.exit ?? exits.failed;
  if (exit === exits.success) {
    const result = child.result === undefined ? {} : { result: child.result };
    return withStep(job, own, { ...step, state: '$$complete', end: now, exit, ...result });
  }
  const reason = child.failure?.message ?? `exit ${exit}`;
  const why = { ...failure('ChildFailed', { child: step.child, reason }), retryable: false };
  return failStep(job, own, { state: '$$error', failure: why, exit }, now);
}
