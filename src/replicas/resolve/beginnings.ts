import { asReady } from '../../decide/finish/release.js';
import type { LiveStep, Step } from '../../model/step.js';
import { holds, stepOf, stepsIn, type LeafRevision } from './leaf-revisions.js';

/** What a change begins: attempts, and steps that wait for jobs of their own. */
export type Beginnings = {
  /** What this engine claims; the steps are `$$active`, as they are when they run. */
  readonly claims: readonly LiveStep[];
  /** Ids of the jobs that are made once the change is confirmed; a step waits for each of them. */
  readonly spawns?: readonly string[] | undefined;
};

/** Whether a change has to be confirmed before anything outside its document may follow. */
export function beginsAnything({ claims, spawns = [] }: Beginnings): boolean {
  return claims.length > 0 || spawns.length > 0;
}

/**
 * The document in which a change has begun nothing yet: claims are `$$ready`, and a step whose job is
 * not made yet has no `start`. What had begun in `base`, the leaf that was decided upon, stays begun.
 */
export function asPending(
  leaf: LeafRevision,
  { claims, spawns = [] }: Beginnings,
  base: LeafRevision,
): LeafRevision {
  const ready = new Map<unknown, Step>(claims.map((step) => [step.claim, asReady(step)]));
  return withSteps(leaf, (step) => {
    const claimed = ready.get(step['claim']);
    if (claimed !== undefined) return claimed;
    const isNew = isOneOf(step, spawns) && !stepsIn(base).some((one) => isBegunAlike(one, step));
    return isNew ? withoutStart(step) : step;
  });
}

/** The document in which everything that a change begins has begun. */
export function asBegun(leaf: LeafRevision, { claims, spawns = [] }: Beginnings): LeafRevision {
  const active = new Map<unknown, Step>(claims.map((step) => [step.claim, step]));
  return withSteps(leaf, (step) => {
    const claimed = active.get(step['claim']);
    if (claimed !== undefined) return claimed;
    if (!isOneOf(step, spawns) || 'start' in step) return step;
    return { ...step, start: step['accepted'] ?? leaf['start'] } as Step;
  });
}

/** Whether everything that a change begins has begun in a document. */
export function haveBegun(leaf: LeafRevision, { claims, spawns = [] }: Beginnings): boolean {
  return (
    claims.every(({ claim }) => stepOf(leaf, claim)?.state === '$$active') &&
    spawns.every((child) => stepsIn(leaf).some((step) => awaits(step, child) && 'start' in step))
  );
}

/**
 * Returns whether each claim and each child of a change to `job` is still the newest attempt of its step
 * in a document. A child that another engine recorded under another `start` does not count: the job
 * that was decided upon here would not be its child.
 */
export function areLast(
  leaf: LeafRevision,
  job: LeafRevision,
  { claims, spawns = [] }: Beginnings,
): boolean {
  const steps = stepsIn(leaf);
  const lastAt = (path: string): Step | undefined => steps.findLast((step) => step.path === path);
  return (
    claims.every(({ claim, path }) => holds(leaf, claim) && lastAt(path)?.['claim'] === claim) &&
    spawns.every((child) => {
      const step = steps.findLast((one) => awaits(one, child));
      const wanted = stepsIn(job).findLast((one) => awaits(one, child));
      const isOurs = leaf['start'] === job['start'] && step?.['accepted'] === wanted?.['accepted'];
      return step !== undefined && isOurs && lastAt(step.path) === step;
    })
  );
}

/** A step that waits for a job which may have been made: its revision was confirmed. */
export function hasSpawned(step: Step): boolean {
  return isSpawn(step) && 'start' in step;
}

/** A step for which a job may have been made, whether it still waits for it or has ended. */
export function hasChild(step: Step): boolean {
  return typeof step['child'] === 'string' && 'start' in step;
}

/** A step that waits for a job which nobody has made yet. */
export function isUnspawned(step: Step): boolean {
  return isSpawn(step) && !('start' in step);
}

function isSpawn(step: Step): boolean {
  return step.state === '$$waiting' && typeof step.child === 'string';
}

function awaits(step: Step, child: string): boolean {
  return isSpawn(step) && step['child'] === child;
}

function isOneOf(step: Step, spawns: readonly string[]): boolean {
  return spawns.some((child) => awaits(step, child));
}

function isBegunAlike(before: Step, step: Step): boolean {
  return hasSpawned(before) && before.path === step.path && before.attempt === step.attempt;
}

function withoutStart(step: Step): Step {
  const { start: _start, ...rest } = step as Step & { readonly start?: unknown };
  return rest as Step;
}

function withSteps(leaf: LeafRevision, change: (step: Step) => Step): LeafRevision {
  // A job that nobody has begun has no list of steps, and gets none.
  return leaf['steps'] === undefined ? leaf : { ...leaf, steps: stepsIn(leaf).map(change) };
}
