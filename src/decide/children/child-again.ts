import type { FinalJob, LiveJob } from '../../model/job.js';
import { exits, isFailed, type Step } from '../../model/step.js';
import { canonical } from '../../model/canonical.js';
import type { ParentStep } from './child-step.js';
import { attemptsOf, lastAttempt } from '../../reading/attempts.js';
import { type Attempt, withBegun } from '../steps.js';
import { lookUp } from '../queries.js';
import type { Begun, ChildJob } from '../intent.js';
import type { Child, World } from '../world.js';

/** The call of a flow by a step whose task is a flow. */
export type FlowCall = {
  readonly attempt: Attempt;
  readonly flow: string;
  /** The version that is asked for; undefined: the current one. */
  readonly version: string | undefined;
  readonly params: Readonly<Record<string, unknown>>;
};

/**
 * Continues the failed child of an earlier run in a further run of the flow; what it has done stays
 * done. Returns undefined when there is none that could continue.
 */
export function childAgain(
  job: LiveJob,
  { attempt, flow, params }: FlowCall,
  now: number,
  world: World,
): Begun | undefined {
  const before = failedBefore(job, attempt);
  if (before === undefined) return undefined;
  const { child, state } = before;
  const there = world.child(child);
  const times = { accepted: now, start: now };
  const step: ParentStep = { ...attempt, state: '$$waiting', params, child, ...times };
  if (there.kind === 'unknown') return lookUp({ children: [child] });
  if (isUnderWay(there, state)) return { kind: 'change', job: withBegun(job, step, now) };
  if (there.kind !== 'final' || !mayGoOn(there.job, flow)) return undefined;
  const again = { ...step, child_run: Number(there.job['run']) + 1 };
  const children = [goingOn(job, again, there.job)];
  return { kind: 'spawn', job: withBegun(job, again, now), children };
}

/** Returns the attempt of an earlier run that failed with its child. */
function failedBefore(job: LiveJob, { path, run }: Attempt) {
  const last = lastAttempt(job, path);
  if (last === undefined || !isFailed(last) || last.run === run) return undefined;
  const { state, child } = last as Step & { readonly child?: string };
  return child === undefined ? undefined : { state, child };
}

/**
 * Whether the child continues already or has succeeded; one that was given up may still be ending.
 */
function isUnderWay(child: Child, state: Step['state']): boolean {
  if (child.kind === 'live') return state === '$$error';
  return child.kind === 'final' && child.job.exit === exits.success;
}

/** Whether the child had begun, belongs to the same flow, and was not refused a retry. */
function mayGoOn(child: FinalJob, flow: string): boolean {
  const { run, retry_refused: refused, flow: own } = child as Readonly<Record<string, unknown>>;
  return run !== undefined && refused === undefined && own === flow;
}

/**
 * Returns a child with a request to continue, and with what has changed: parameters, definitions.
 */
export function goingOn(
  job: LiveJob,
  { path, attempt, params }: ParentStep,
  child: FinalJob,
): ChildJob {
  const before = attemptsOf(job, path).findLast((one) => one.attempt === attempt - 1);
  const isSame = before !== undefined && canonical(before['params']) === canonical(params);
  const retry = {
    ...(isSame ? {} : { params }),
    ...(job.refreshed === job.run ? { latest: true } : {}),
  };
  return { ...child, retry: retry };
}

/** Whether the child ended before the run that its step waits for, and may still continue. */
export function isToGoOn({ child_run: awaited = 1 }: ParentStep, child: FinalJob): boolean {
  const { run, retry_refused: refused } = child as Readonly<Record<string, unknown>>;
  return Number(run) < awaited && refused === undefined && child.exit !== exits.success;
}
