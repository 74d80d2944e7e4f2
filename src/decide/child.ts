import { failure } from '../model/failures.js';
import type { LiveJob } from '../model/job.js';
import { exits, type Failure, type Step, type StepIn } from '../model/step.js';
import { hardDeadline, untilOf } from './clock.js';
import { failStep } from './fail.js';
import { withBegun, withStep } from './history.js';
import { lookUp, type ChildJob, type Move, type World } from './intent.js';
import { signalMove } from './waiting.js';

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
  const step: WaitingStep = {
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

type WaitingStep = StepIn<'$$waiting'> & { readonly child: string };

function childJob(job: LiveJob, step: WaitingStep, flow: string): ChildJob {
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

/**
 * A job that waits for a child goes on when the child is final, and makes a child that got lost; one
 * that waits for a signal goes on waiting.
 */
export function childMove(job: LiveJob, now: number, world: World): Move | undefined {
  const step = job.steps.find((candidate) => candidate.state === '$$waiting');
  if (step === undefined) return undefined;
  return isOfChild(step) ? ofChild(job, step, now, world) : signalMove(job, step, now);
}

function isOfChild(step: StepIn<'$$waiting'>): step is WaitingStep {
  return step.child !== undefined;
}

function ofChild(job: LiveJob, step: WaitingStep, now: number, world: World): Move {
  const child = world.child(step.child);
  switch (child.kind) {
    case 'unknown':
      return lookUp({ children: [step.child] });
    case 'live':
      return {
        kind: 'wait',
        because: `Step ${step.name} waits for job ${step.child}.`,
        ...untilOf(hardDeadline(job)),
      };
    case 'absent': {
      const flow = String(job.definitions[step.task]?.flow);
      return { kind: 'spawn', job, children: [childJob(job, step, flow)] };
    }
    case 'final':
      return { kind: 'change', job: settleChild(job, step, child.job, now) };
  }
}

type Ended = { readonly exit?: number; readonly result?: unknown; readonly failure?: Failure };

function settleChild(job: LiveJob, step: WaitingStep, child: Ended, now: number): LiveJob {
  const heldMs = (job.held_ms ?? 0) + now - (step.accepted ?? now);
  const held = { ...job, held_ms: heldMs };
  const exit = child.exit ?? exits.failed;
  if (exit === exits.success) {
    const result = child.result === undefined ? {} : { result: child.result };
    return withStep(held, step, { ...step, state: '$$complete', end: now, exit, ...result });
  }
  const reason = child.failure?.message ?? `exit ${exit}`;
  const why = { ...failure('ChildFailed', { child: step.child, reason }), retryable: false };
  return failStep(held, step, { state: '$$error', failure: why, exit }, now);
}
