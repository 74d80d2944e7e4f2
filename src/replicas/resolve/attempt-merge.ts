import { isSameAttempt } from '../../reading/attempts.js';
import { isFailed, isLive, isOpen, type LiveStep, type Step } from '../../model/step.js';
import { hasChild, hasSpawned, isUnspawned } from './beginnings.js';
import { isDone } from './leaf-revisions.js';

/** Where a running attempt of a document in conflict is, as far as this engine can know. */
export type Liveness =
  /** It runs in this process. */
  | 'runs'
  /** It is this engine's but does not run: it was never started, or by an earlier process. */
  | 'given_up'
  /** Its engine is dead. */
  | 'lost'
  /** Its engine lives: only that one knows whether it was started. */
  | 'elsewhere';
export type LivenessOf = (step: LiveStep) => Liveness;

/**
 * What is done with an attempt of a losing leaf. `beside`, `noted`: it ran beside what the winner has, and
 * is kept as an attempt or, where that would undo the step, as a problem of the job.
 */
export type MergeAction = 'left' | 'waits' | 'noted' | 'beside' | 'replaces' | 'follows';

/** Decides what is done with an attempt of a losing leaf; `steps`: those of the winner so far. */
export function actionFor(step: Step, steps: readonly Step[], livenessOf: LivenessOf): MergeAction {
  if (isUnspawned(step)) return 'left';
  const there = steps.findLast((candidate) => isSameClaim(candidate, step));
  if (isLive(step)) return actionForLive(step, there, steps, livenessOf);
  if (hasChild(step)) return actionForChild(step, there, steps);
  if (there === undefined) {
    if (!hasStarted(step)) return 'left';
    if (!isDone(steps, step.path)) return 'follows';
    if (step['claim'] === undefined) return 'left';
    return step.state === '$$complete' ? 'beside' : 'noted';
  }
  if (isOpen(there)) return isOutcome(step) ? 'replaces' : 'left';
  return isLate(step, there, steps) ? 'follows' : 'left';
}

/** An attempt that was believed lost has ended by itself, and nobody has completed it since. */
function isLate(step: Step, there: Step, steps: readonly Step[]): boolean {
  return isOutcome(step) && !isOutcome(there) && !isDone(steps, step.path);
}

/** A job that was made for a losing leaf is named in the winner, whatever becomes of it. */
function actionForChild(step: Step, there: Step | undefined, steps: readonly Step[]): MergeAction {
  const apart = isSpare(step) ? 'noted' : 'beside';
  if (there === undefined) {
    if (isSpare(step) && steps.some((one) => isLater(one, step))) return 'noted';
    return isDone(steps, step.path) ? apart : 'follows';
  }
  const otherwise = there['child'] === step['child'] && !isUnspawned(there) ? 'left' : apart;
  if (hasSpawned(step)) return isUnspawned(there) ? 'replaces' : otherwise;
  if (isOpen(there)) return isOutcome(step) ? 'replaces' : otherwise;
  return isLate(step, there, steps) ? 'follows' : otherwise;
}

function actionForLive(
  step: LiveStep,
  there: Step | undefined,
  steps: readonly Step[],
  livenessOf: LivenessOf,
): MergeAction {
  if (step.state === '$$ready') return 'left';
  const liveness = livenessOf(step);
  if (liveness === 'given_up') return 'left';
  if (there !== undefined) return there.state === '$$ready' ? 'replaces' : 'left';
  if (liveness === 'elsewhere') return 'waits';
  if (!isDone(steps, step.path)) return 'follows';
  return liveness === 'runs' ? 'waits' : 'noted';
}

/** The same attempt: of one claim or, where none was needed, the same number at the same path. */
export function isSameClaim(one: Step, other: Step): boolean {
  if (one['claim'] !== undefined || other['claim'] !== undefined) {
    return one['claim'] === other['claim'];
  }
  return isSameAttempt(one, other);
}

/** A step with a job of its own that did nothing for the winner: as an attempt it would undo the step. */
export function isSpare(step: Step): boolean {
  return step.state !== '$$complete';
}

/** The job was retried between the two. */
function isLater(there: Step, step: Step): boolean {
  return there.path === step.path && Number(there.run) > Number(step.run);
}

/** Something happened: the plugin may have been called, or no engine was needed. */
export function hasStarted(step: Step): boolean {
  return 'start' in step || step['claim'] === undefined;
}

/** It ended by itself, or its own engine has handed it back; nobody else took it away. */
export function isOutcome(step: Step): boolean {
  if (!isFailed(step)) return true;
  // Somebody may have written the step by hand.
  const { name } = (step as { readonly failure?: { readonly name: string } }).failure ?? {};
  return name === 'Released' ? 'start' in step : name !== 'EngineLost' && name !== 'CrashLimit';
}
