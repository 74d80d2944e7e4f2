import { attachmentName, type BigResult } from '../model/big-result.js';
import type { LiveJob } from '../model/job.js';
import type { Step } from '../model/step.js';

/** The job with the result of a step as an attachment, to be stored in the same revision. */
export function withAttached(job: LiveJob, step: Step, { data }: BigResult): LiveJob {
  const attached = { content_type: 'application/json', data };
  return { ...job, _attachments: { ...job._attachments, [attachmentName(step)]: attached } };
}
