import { failure } from '../../model/failures.js';
import { isFinal, isLiveJob, isNew, type Job, type LiveJob } from '../../model/job.js';
import { exits, isOpen, type Step } from '../../model/step.js';
import { isWithin } from '../../model/tree.js';
import { skipRefusal, type SkipRefusal } from '../../reading/skip.js';
import { newAttempt, withNewStep } from '../steps.js';
import { reopened } from './reopen.js';
import { stepWords } from './retry-params.js';
import { leafNamed } from './retry-place.js';
import { cancelledSteps } from '../finish/stop.js';

type Skipped =
  | { readonly kind: 'applied'; readonly job: Job }
  | { readonly kind: 'refused'; readonly because: string };

/**
 * Skips a step: it counts as done. A running or waiting attempt of it ends; a failed job continues
 * after it.
 */
export function skipped(job: Job, word: string, now: number): Skipped {
  if (isNew(job)) return refused(`Job ${job._id} has not begun; its steps are not known yet.`);
  if (!isFinal(job)) return skipIn(job, word, now);
  if (job.exit === 0) return refused(`Job ${job._id} has succeeded: no step of it is left.`);
  const open = reopened(job, {}, now);
  if (open.kind === 'refused') return open;
  if (!isLiveJob(open.job)) return refused(`Job ${job._id} has not begun any step.`);
  return skipIn(open.job, word, now);
}

function skipIn(job: LiveJob, word: string, now: number): Skipped {
  const leaf = leafNamed(job, word);
  if (leaf === undefined) return refused(sentences.missing(job, word));
  const refusal = skipRefusal(job, leaf);
  if (refusal !== undefined) return refused(sentences[refusal](job, word));
  const why = failure('Skipped', {});
  const isChosen = (step: Step): boolean => isOpen(step) && isWithin(step.path, leaf.path);
  const stopped = cancelledSteps(job, isChosen, why, now);
  const step: Step = {
    ...newAttempt(stopped, { leaf, phase: 'main' }),
    state: '$$skipped',
    end: now,
    exit: exits.success,
  };
  return { kind: 'applied', job: withNewStep(stopped, step) };
}

const sentences: Readonly<Record<SkipRefusal, (job: LiveJob, word: string) => string>> = {
  missing: (job, word) => `Job ${job._id} has no step "${word}"; its steps are ${stepWords(job)}.`,
  repeated: (_job, word) =>
    `Step "${word}" stands in a map or a loop; name one of them by its path.`,
  ending: ({ _id: id }) => `Job ${id} ends already; skip the step when it has ended.`,
  called_back: ({ _id: id }, word) =>
    `Job ${id} calls back already for the batch around step "${word}"; skip the step when the job has ended.`,
  done: ({ _id: id }, word) => `Step "${word}" of job ${id} is done already.`,
};

function refused(because: string): Skipped {
  return { kind: 'refused', because };
}
