import { attachmentName, type BigResult } from '../model/big-result.js';
import type { LiveJob } from '../model/job.js';
import { without } from '../model/record.js';
import type { Step } from '../model/step.js';
import { hasBegun } from '../reading/attempts.js';

/** A copy of the job in which one step is replaced. */
export function withStep(job: LiveJob, old: Step, next: Step): LiveJob {
  return { ...job, steps: job.steps.map((step) => (step === old ? next : step)) };
}

/** A copy of the job with one more step. */
export function withNewStep(job: LiveJob, step: Step): LiveJob {
  return { ...job, steps: [...job.steps, step] };
}

/**
 * A copy of the job with a step that begins now. What came before the first one does not count as
 * time of the flow.
 */
export function withBegun(job: LiveJob, step: Step, now: number): LiveJob {
  const from = job.timed_from ?? job.start;
  const first = !hasBegun(job) && now > from ? { held_ms: now - from } : {};
  const state = `${step.task}-${step.index}`;
  return withNewStep(without({ ...job, ...first, state }, 'next_due'), step);
}

/** The job with the result of a step as an attachment, to be stored in the same revision. */
export function withAttached(job: LiveJob, step: Step, { data }: BigResult): LiveJob {
  const attached = { content_type: 'application/json', data };
  return { ...job, _attachments: { ...job._attachments, [attachmentName(step)]: attached } };
}
