import { isFinal, isNew, type Job, type LiveJob } from '../../model/job.js';
import { isLive, type LiveStep } from '../../model/step.js';

/** The attempt of a claim. `fenced`: the claim no longer belongs to the engine that made it. */
export type Own =
  | { readonly kind: 'ours'; readonly job: LiveJob; readonly step: LiveStep }
  | { readonly kind: 'fenced'; readonly because: string };

/** Finds the attempt of a claim, if that claim is still the one that runs. */
export function ownAttempt(job: Job, claim: string): Own {
  if (isNew(job) || isFinal(job)) return { kind: 'fenced', because: 'The job ended meanwhile.' };
  const step = job.steps.find((candidate) => isLive(candidate) && candidate.claim === claim);
  if (step === undefined) {
    return { kind: 'fenced', because: 'The attempt was taken from this engine meanwhile.' };
  }
  return { kind: 'ours', job, step: step as LiveStep };
}
