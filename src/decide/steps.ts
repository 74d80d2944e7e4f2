import { attachmentName, attachmentWith, type BigResult } from '../model/big-result.js';
import { isLiveJob, type Job, type LiveJob } from '../model/job.js';
import { isLive, type LiveStep, type Step } from '../model/step.js';
import { attemptsOf, hasBegun } from '../reading/attempts.js';
import type { Beginning } from '../structures/progress.js';

/** Returns a copy of the job in which one step is replaced. */
export function withStep(job: LiveJob, old: Step, next: Step): LiveJob {
  return { ...job, steps: job.steps.map((step) => (step === old ? next : step)) };
}

/** The fields of every attempt of a step that has a child. */
export type Attempt = Pick<Step, 'index' | 'path' | 'name' | 'task' | 'attempt' | 'run' | 'phase'>;

/** Returns the fields of a new attempt, with the next number. */
export function newAttempt(job: LiveJob, { leaf, phase }: Beginning) {
  return {
    index: leaf.index,
    path: leaf.path,
    name: leaf.name,
    task: leaf.entry.task,
    attempt: job.steps.length === 0 ? 1 : attemptsOf(job, leaf.path).length + 1,
    run: job.run,
    phase,
  };
}

/** Returns a copy of the job with one more step. */
export function withNewStep(job: LiveJob, step: Step): LiveJob {
  return { ...job, steps: [...job.steps, step] };
}

/**
 * Returns a copy of the job with a step that begins now. Time before the first step does not count
 * towards the flow's timeout.
 */
export function withBegun(job: LiveJob, step: Step, now: number): LiveJob {
  const { next_due: _due, ...kept } = job;
  const from = job.timed_from ?? job.start;
  const isFirst = job.steps.length === 0 || !hasBegun(job);
  return {
    ...kept,
    ...(isFirst && now > from ? { held_ms: now - from } : {}),
    state: `${step.task}-${step.index}`,
    steps: [...job.steps, step],
  };
}

/**
 * Returns the job with the result of a step as an attachment, to be stored in the same revision.
 */
export function withAttached(job: LiveJob, step: Step, big: BigResult): LiveJob {
  const attached = attachmentWith(big);
  return { ...job, _attachments: { ...job._attachments, [attachmentName(step)]: attached } };
}

/** The attempt of a claim. `fenced`: the claim no longer belongs to the engine that made it. */
export type Own =
  | { readonly kind: 'ours'; readonly job: LiveJob; readonly step: LiveStep }
  | { readonly kind: 'fenced'; readonly because: string };

/** Finds the attempt of a claim, if that claim is still the one that runs. */
export function ownAttempt(job: Job, claim: string): Own {
  if (!isLiveJob(job)) return { kind: 'fenced', because: 'The job ended meanwhile.' };
  const step = job.steps.find((candidate) => isLive(candidate) && candidate.claim === claim);
  if (step === undefined) {
    return { kind: 'fenced', because: 'The attempt was taken from this engine meanwhile.' };
  }
  return { kind: 'ours', job, step: step as LiveStep };
}
