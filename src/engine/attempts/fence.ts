import type { StoredDocument } from '../../model/document.js';
import { isLiveJob, type Job } from '../../model/job.js';
import { isLive, type LiveStep } from '../../model/step.js';
import type { Log } from '../log.js';
import type { RunningAttempts } from './running-attempts.js';

type FenceParts = { readonly attempts: RunningAttempts; readonly log: Log };

/** Stops what runs here but is, by the document, no longer ours. */
export function fence({ attempts, log }: FenceParts, doc: StoredDocument): void {
  const claims = runningIn(doc as unknown as Job).map(({ claim }) => claim);
  for (const claim of attempts.ofJob.get(doc._id) ?? []) {
    if (claims.includes(claim)) continue;
    log.warn({ job: doc._id, claim }, 'An attempt was taken from this engine; it is stopped.');
    attempts.stop(claim, 'fenced');
  }
}

/** The attempts that run, here or elsewhere. */
export function runningIn(job: Job): readonly LiveStep[] {
  return isLiveJob(job) ? job.steps.filter(isLive) : [];
}
