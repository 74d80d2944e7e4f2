import type { LiveJob } from '../../model/job.js';
import type { Step } from '../../model/step.js';
import type { ParentStep } from './child-step.js';
import { isSameAttempt } from '../../reading/attempts.js';
import { withStep } from '../steps.js';
import type { Child } from '../world.js';
import { withProblem } from '../start/noted.js';

/**
 * Records that a child whose document was deleted is created again: the step gets `remade` (epoch
 * ms), and `problems` one entry per child, however often it is deleted. A child that is absent
 * without having been deleted was never stored, so there is nothing to record.
 */
export function withChildRemade(
  job: LiveJob,
  waiting: ParentStep,
  there: Extract<Child, { kind: 'absent' }>,
  now: number,
): LiveJob {
  if (there.deleted !== true) return job;
  const { path, child } = waiting;
  const i = job.steps.findIndex((one) => isSameAttempt(one, waiting));
  const step = job.steps[i] as Step;
  const message = `The document of child job ${child}, for which step ${step.name} (${path}) waits, was deleted; the job was made again and runs from its beginning.`;
  const noted = withProblem(job, { path: `steps[${i}].child`, message });
  return noted === job ? job : withStep(noted, step, { ...step, remade: now });
}
