import { attachmentName, contentOnItsWay, type BigResult } from '../model/big-result.js';
import type { LiveJob } from '../model/job.js';
import type { Step } from '../model/step.js';

/** What an attachment of the job holds, as far as it is known. */
export function contentOf(
  job: LiveJob,
  contents: ReadonlyMap<string, unknown>,
  name: string,
): { readonly value: unknown } | undefined {
  return contents.has(name)
    ? { value: contents.get(name) }
    : contentOnItsWay(job._attachments, name);
}

/** The job with the result of a step as an attachment, to be stored in the same revision. */
export function withAttached(job: LiveJob, step: Step, { data }: BigResult): LiveJob {
  const attached = { content_type: 'application/json', data };
  return { ...job, _attachments: { ...job._attachments, [attachmentName(step)]: attached } };
}
