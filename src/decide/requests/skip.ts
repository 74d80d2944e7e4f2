import { failure } from '../../model/failures.js';
import { isFinal, isLiveJob, isNew, type Job, type LiveJob } from '../../model/job.js';
import { exits, isOpen, type Step } from '../../model/step.js';
import { below, isStructure, isWithin } from '../../model/tree.js';
import { callbacks } from '../../structures/batch.js';
import { jobSteps } from '../../reading/attempts.js';
import { newAttempt, withNewStep } from '../steps.js';
import { kindOf } from '../../structures/kinds.js';
import { batchesAround, isOfEnd, repetitionsAround } from '../../structures/paths.js';
import { nodeOf } from '../../reading/entries.js';
import { leafNamed, reopened } from './reopen.js';
import { stepWords } from './retry-params.js';
import { cancelledSteps } from '../finish/stop.js';
import { progressAt } from '../../reading/progress.js';

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
  if (leaf === undefined || !isThere(job, leaf.path)) {
    return refused(`Job ${job._id} has no step "${word}"; its steps are ${stepWords(job)}.`);
  }
  if (leaf.path.includes('.*')) {
    const because = `Step "${word}" stands in a map or a loop; name one of them by its path.`;
    return refused(because);
  }
  if (job.steps.some((step) => step.run === job.run && isOfEnd(step.path))) {
    return refused(`Job ${job._id} ends already; skip the step when it has ended.`);
  }
  if (batchesAround(leaf.path).some((batch) => callsBack(job, batch))) {
    const batch = `the batch around step "${word}"`;
    return refused(
      `Job ${job._id} calls back already for ${batch}; skip the step when the job has ended.`,
    );
  }
  if (progressAt(job, leaf.entry, leaf.path).kind === 'done') {
    return refused(`Step "${word}" of job ${job._id} is done already.`);
  }
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

/** Which callbacks run was settled when the first of them began; there is no second verdict. */
function callsBack(job: LiveJob, batch: string): boolean {
  return job.steps.some(
    ({ path, run, state }) =>
      run === job.run &&
      state !== '$$skipped' &&
      callbacks.some((key) => isWithin(path, below(batch, key))),
  );
}

/** The items of the maps and the rounds of the loops around a path are known. */
function isThere(job: LiveJob, path: string): boolean {
  const steps = jobSteps(job);
  return repetitionsAround(path).every(({ path: at, number }) => {
    const node = nodeOf(job, at);
    const isKnown = node !== undefined && isStructure(node);
    return isKnown && kindOf(node).repeats?.isThere(at, number, steps) === true;
  });
}

function refused(because: string): Skipped {
  return { kind: 'refused', because };
}
