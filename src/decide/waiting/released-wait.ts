import type { LiveJob } from '../../model/job.js';
import { exits, type WaitingStep } from '../../model/step.js';
import { withStep } from '../steps.js';

/** Ends a waiting step well; what it waited for is its result. */
export function releasedWait(
  job: LiveJob,
  step: WaitingStep,
  result: unknown,
  now: number,
): LiveJob {
  return withStep(job, step, {
    ...step,
    state: '$$complete',
    end: now,
    exit: exits.success,
    ...(result === undefined ? {} : { result }),
  });
}
