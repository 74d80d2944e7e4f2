import { problem, type TwsError } from '../../errors.js';
import type { LiveJob } from '../../model/job.js';
import { isFailed, type LiveStep } from '../../model/step.js';

/** Why this engine must stop, when the attempt that just ended failed in a way its flow calls fatal. */
export function fatalEnd(job: LiveJob, { claim }: LiveStep): TwsError | undefined {
  const step = job.steps.find((one) => 'claim' in one && one.claim === claim);
  if (step === undefined || !isFailed(step) || step.failure['severity'] !== 'fatal') {
    return undefined;
  }
  const { name, message } = step.failure;
  return problem('engine_fatal', { job: job._id, step: step.name, name, message });
}
