import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { exits, type WaitingStep } from '../../model/step.js';
import { failStep } from '../finish/fail.js';
import { ownStep } from '../../reading/attempts.js';
import { withStep } from '../steps.js';
import type { Move } from '../intent.js';
import { childId } from '../../reading/parent.js';
import { without } from '../../model/record.js';

/** A step that waits for its child. */
export type ParentStep = WaitingStep & { readonly child: string };

/**
 * Gives the child of a step another id, because a child of a former job with the same id has taken
 * the first.
 */
export function underOwnId(
  job: LiveJob,
  step: ParentStep,
  now: number,
  make: (job: LiveJob, step: ParentStep) => Move,
): Move {
  const own = ownStep(job, step);
  const child = childId(job, step, true);
  if (child === step.child) {
    const why = failure('ChildTaken', { child });
    const failing = { state: '$$error', failure: why, exit: exits.definition } as const;
    return { kind: 'change', job: failStep(job, own, failing, now) };
  }
  const renamed = { ...without(step, 'child_run'), child } as ParentStep;
  return make(withStep(job, own, renamed), renamed);
}
