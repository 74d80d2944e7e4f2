import { failure } from '../../model/failures.js';
import type { LiveJob, NewJob } from '../../model/job.js';
import type { Failure } from '../../model/step.js';

export function isCancelRequested({ cancel }: Pick<NewJob | LiveJob, 'cancel'>): boolean {
  return cancel !== undefined && cancel !== false;
}

/** Returns the failure of a cancelled job: by whom and why, as far as the request says. */
export function cancelled({ cancel }: Pick<NewJob | LiveJob, 'cancel'>): Failure {
  const { by, reason } = typeof cancel === 'object' ? cancel : {};
  return failure('Cancelled', {
    by: by === undefined ? '' : ` by ${by}`,
    reason: reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`,
  });
}
