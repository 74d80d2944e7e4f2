import type { LiveJob } from '../model/job.js';
import { interpret } from './progress.js';

/**
 * Returns the path in the job (`2.map.17.0`) of the step because of which its flow failed: the one that
 * the failure of the job tells of. Undefined: no step failed the flow, as when its time was over.
 */
export function failedPath(job: LiveJob): string | undefined {
  const progress = interpret(job, job.tasks, 'main');
  return progress.kind === 'failed' ? progress.step.path : undefined;
}
